"""The recorded session of a Claude Code user, delivered to the hosted platform, which confirms each batch later."""

from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import ONCE, Case, Scenario
from tests.end_to_end.killing.step import AFTER, Point
from tests.end_to_end.test_recorded_session import assert_delivered_once, play
from tests.fakes.mem0_api import KEY, FakeMem0

SENT = Point("platform: send the body of POST /v3/memories/add/", AFTER)
CLAIMED = Point("spool: rename .json to .running (intake.spool.claim)", AFTER, 15)


def served(case: Case) -> None:
    """Tell a home of its fake of the hosted platform."""
    case.home.api = case.service
    case.services[case.service.port] = "platform"
    case.home.environ |= {
        "MEM0_API_URL": case.service.url,
        "MEM0_API_KEY": KEY,
        "MEM0_CODE_EVENT_POLL_SECONDS": "0.1",
    }


class Hosted(Scenario):
    """Handoffs of a whole session wait; `run --once` takes them in and delivers them."""

    name = "a session to hosted Mem0"
    repeats = 0  # it can be asked for what it has

    def serving(self) -> AbstractContextManager[FakeMem0]:
        return FakeMem0()

    def connect(self, case: Case) -> None:
        served(case)

    def seed(self, home: Home) -> None:
        play(home)

    def requests(self, case: Case) -> Counter[Any]:
        return Counter(str(request.json["messages"]) for request in case.service.requests("add"))

    def assert_none_is_lost(self, case: Case) -> None:
        assert_delivered_once(case.home)
        statement = "SELECT DISTINCT attempts FROM flushes"
        assert case.rows(case.home.spool() / "evidence.sqlite3", statement) == [(0,)], "a kill used up an attempt"


class AfterClaims(Hosted):
    """The run after a kill is killed as well: it takes back the claims of the one before."""

    name = "the same, after a kill among the claims"

    def prepare(self, case: Case) -> None:
        assert case.run(ONCE, CLAIMED).was_killed, f"{CLAIMED} never came"


class AfterSending(Hosted):
    """The run after a kill is killed as well: it looks for the request that was in the air."""

    name = "the same, after a kill with a request in the air"

    def prepare(self, case: Case) -> None:
        pending = case.home.spool() / "pending"
        flushes = [path for path in pending.iterdir() if '"action":"flush"' in path.read_text().replace(" ", "")]
        for path in flushes:
            path.rename(case.home.root / path.name)
        assert case.run(ONCE).code == 0
        for path in flushes:
            (case.home.root / path.name).rename(path)
        assert case.run(ONCE, SENT).was_killed, f"{SENT} never came"
