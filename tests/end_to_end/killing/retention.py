"""A round of retention: delivered evidence, dead letters and old jobs go when they have had their days."""

import os
import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from daemon.compose import compose
from daemon.places import resolve
from daemon.retention import Retention
from daemon.settings import load
from daemon.upkeep import Upkeep
from memsyncd.clock import rfc3339
from memsyncd.evidence.event import PacketStatus
from tests.daemon.composed import composed
from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import Case, Scenario

LONG_AGO = time.time() - 100 * 86_400
UNDELIVERED = ["open"] * 4 + ["unsent"] * 2


def make_round(arguments: Sequence[str]) -> int:
    """Make one round, whole."""
    places = resolve(os.environ, Path(os.environ["HOME"]), os.getuid(), "linux")
    parts = compose(places, load(places, os.environ, {}).settings, os.environ)
    Upkeep(parts).refresh()
    retention = Retention(parts)
    retention.begin()
    while retention.is_under_way:
        retention.look()
    parts.close()
    return 0


class RetentionRound(Scenario):
    """A packet is there with all its events or gone with them; what was not delivered stays."""

    name = "a round of retention"
    arguments = ()
    program = recovery_program = f"{__name__}:make_round"
    recovery = ((),)

    def seed(self, home: Home) -> None:
        with composed(home.root / "made") as made:
            spool = made.spool()
            made.upkeep.refresh()
            store = made.parts.served.store("claude-code")
            for session, status in (("a", PacketStatus.SUCCEEDED), ("b", PacketStatus.SUCCEEDED), ("open", None)):
                made.record(session, "one", "two", at=LONG_AGO)
                packet = store.prepare(session, "session-end", list)
                assert packet is not None
                if status:
                    store.close_packet(packet.packet_id, status)
            made.record("unsent", "three", at=LONG_AGO)
            for name in ("x.json", "x.reason.json"):
                (spool / "dead" / name).write_text("{}")
                os.utime(spool / "dead" / name, (LONG_AGO, LONG_AGO))
            with closing(sqlite3.connect(store.path)) as connection:
                connection.execute("UPDATE flushes SET updated_at = ?", (rfc3339(LONG_AGO),))
                connection.commit()
            made.parts.close()
            shutil.copytree(made.places.data, home.places.data, ignore=shutil.ignore_patterns("nudge", "run"))

    def meanwhile(self, case: Case) -> None:
        sessions = self._sessions(case)
        assert sessions[-6:] == UNDELIVERED
        assert sessions[:-6] in (["a"] * 4 + ["b"] * 4, ["b"] * 4, ["a"] * 4, [])

    def assert_none_is_lost(self, case: Case) -> None:
        assert self._sessions(case) == UNDELIVERED
        assert not list((case.home.spool() / "dead").iterdir())

    def _sessions(self, case: Case) -> list[str]:
        evidence = case.home.spool() / "evidence.sqlite3"
        torn = "SELECT count(*) FROM events WHERE flush_id NOT IN (SELECT packet_id FROM flushes)"
        assert case.rows(evidence, torn) == [(0,)]
        return [name for (name,) in case.rows(evidence, "SELECT session_id FROM events ORDER BY id")]
