"""A hook that dies, as one does that its harness kills: its handoff is whole or it was never made."""

import json

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import Case, Scenario

SAID = "Where are the tax rates kept?"


class Hook(Scenario):
    """The first hook there ever was: it makes the directories too."""

    name = "a hook"
    program = "memsyncd.hooks.drop:main"
    arguments = ("user-prompt", "--harness", "claude-code")
    stdin = "said"

    def seed(self, home: Home) -> None:
        said = {"session_id": "s1", "cwd": str(home.project), "prompt_id": "p1", "prompt": SAID}
        (home.root / self.stdin).write_text(json.dumps(said))

    def meanwhile(self, case: Case) -> None:
        pending = case.home.spool() / "pending"
        case.notes["accepted"] = len(list(pending.glob("*.json"))) if pending.exists() else 0

    def assert_none_is_lost(self, case: Case) -> None:
        evidence = case.home.spool() / "evidence.sqlite3"
        found = case.rows(evidence, "SELECT payload_json FROM events") if evidence.exists() else []
        assert len(found) == case.notes["accepted"], found
        assert all(SAID in payload for (payload,) in found)
