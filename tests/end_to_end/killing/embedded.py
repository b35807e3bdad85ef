"""Sessions delivered to the embedded platform, with handoffs that go another way: expired, misled, of a second harness."""

import json
import os
import time
from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import Case, Scenario
from tests.end_to_end.test_recorded_session import play, spoken
from tests.fakes.model_server import MODEL, FakeModel

EXPIRED = "an expired handoff"
MISLED = "We decided that the invoices are printed on Tuesdays."
"""Said in Cursor, and told by the hook of Claude Code."""

KEY = "sk" + "-" + "m0del" + "0" * 12


def delivered(case: Case) -> list[Any]:
    """Return the messages of the batches that the embedded platform accepted, in order; it keeps each batch once."""
    statement = "SELECT packet_id, batch, state FROM extraction_events ORDER BY number"
    return case.rows(case.home.places.memory_file, statement)


class Embedded(Scenario):
    """The recorded session, another harness's words by its hook, and a handoff that is too old to be delivered."""

    name = "sessions to the embedded platform"

    def seed(self, home: Home) -> None:
        play(home)
        said = {
            "conversation_id": "c1",
            "generation_id": "g1",
            "workspace_roots": [str(home.project)],
            "cursor_version": "1",
        }
        home.hook("user-prompt", {**said, "hook_event_name": "beforeSubmitPrompt", "prompt": MISLED})
        expired = home.spool() / "pending" / "0000-expired.json"
        expired.write_text(
            json.dumps({"hook_input": {"session_id": "old", "prompt": EXPIRED}, "action": "user-prompt"})
        )
        os.utime(expired, (time.time() - 8 * 86_400,) * 2)

    def assert_none_is_lost(self, case: Case) -> None:
        assert not list(case.home.places.spools.glob("*/pending/*"))
        dead = case.home.spool() / "dead"
        assert EXPIRED in (dead / "0000-expired.json").read_text()
        assert json.loads((dead / "0000-expired.reason.json").read_text())["reason"] == "expired"
        assert recorded(case, "claude-code") == len(spoken(case.home))
        assert recorded(case, "cursor") == 1
        statuses = case.rows(case.home.spool() / "evidence.sqlite3", "SELECT status FROM flushes")
        assert statuses == [("semantic-succeeded",)]
        assert [state for _, _, state in delivered(case)] == ["SUCCEEDED"]


def recorded(case: Case, harness: str) -> int:
    """Return how many prompts and answers a harness's evidence holds."""
    statement = "SELECT count(*) FROM events WHERE kind IN ('user_prompt', 'assistant_stop')"
    return int(case.rows(case.home.spool(harness) / "evidence.sqlite3", statement)[0][0])


class ByModel(Embedded):
    """The same, with memories made by a model of the user's."""

    name = "a session to the embedded platform with a model"

    def serving(self) -> AbstractContextManager[FakeModel]:
        return FakeModel(keys={KEY})

    def connect(self, case: Case) -> None:
        case.services[int(case.service.url.rpartition(":")[2].partition("/")[0])] = "model"
        case.home.environ |= {
            "MEMSYNCD_EXTRACTOR_URL": case.service.url,
            "MEMSYNCD_EXTRACTOR_MODEL": MODEL,
            "MEMSYNCD_EXTRACTOR_API_KEY": KEY,
        }

    def requests(self, case: Case) -> Counter[Any]:
        return Counter(str(asked["messages"]) for asked in case.service.requests())
