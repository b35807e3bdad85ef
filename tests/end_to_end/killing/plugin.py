"""An existing plugin's directory, served in place: packets left half done, handoffs that wait, telemetry beside them."""

import os
import time
from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.hosted import served
from tests.end_to_end.killing.scenario import Case, Scenario
from tests.end_to_end.plugins import PluginSpool
from tests.fakes.mem0_api import FakeMem0

LEFT = {"prepared": 0, "error": 3, "spent": 5}
"""Sessions whose packets were left so, and after how many attempts."""

ENDED = ("s1", "s2")
"""Sessions that end while no daemon runs."""

LONG_SECONDS = 600.0
"""After so long no claim and no packet is another program's any more (facts 1.12)."""


class Plugin(Scenario):
    """Its claims and packets are ours to take up once they are old enough."""

    name = "an existing plugin's sessions"
    repeats = 0
    codes = (0, 1)  # one packet is given up, which `run --once` tells

    def serving(self) -> AbstractContextManager[Any]:
        return FakeMem0()

    def connect(self, case: Case) -> None:
        served(case)

    def seed(self, home: Home) -> None:
        plugin = PluginSpool(home.root)
        for status, attempts in LEFT.items():
            known = "prepared" if status == "prepared" else "error"
            plugin.packet(status, known, attempts=attempts, age=LONG_SECONDS)
        for session in ENDED:
            plugin.exchange(session)
            plugin.handoff(session)
        home.places.data.mkdir(mode=0o700)

    def meanwhile(self, case: Case) -> None:
        """Let ten minutes pass."""
        path = case.home.root / ".mem0" / "claude-code-plugin"
        then = time.time() - LONG_SECONDS
        for claim in (path / "pending").glob("*.running"):
            os.utime(claim, (then, then))
        moment = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(then))
        plugin(case).run("UPDATE flushes SET updated_at = ?", values=(moment,))

    def requests(self, case: Case) -> Counter[Any]:
        return Counter(str(request.json["messages"]) for request in case.service.requests("add"))

    def live_jobs(self, case: Case) -> list[Any]:
        return [row for row in super().live_jobs(case) if row[2] != "dead"]

    def assert_none_is_lost(self, case: Case) -> None:
        sent = Counter(session for _, _, session in case.service.accepted_batches())
        assert sent == Counter(["prepared", "error", *ENDED]), sent
        known = plugin(case)
        assert dict(known.run("SELECT session_id, status FROM flushes")) == {
            "spent": "gave-up",
            **dict.fromkeys(("prepared", "error", *ENDED), "semantic-succeeded"),
        }
        assert not list(known.pending.iterdir())


def plugin(case: Case) -> PluginSpool:
    """Return a case's plugin, as its own program would open it."""
    opened = PluginSpool.__new__(PluginSpool)
    opened.path = case.home.root / ".mem0" / "claude-code-plugin"
    opened.pending = opened.path / "pending"
    opened.evidence = opened.path / "evidence.sqlite3"
    return opened
