"""The daemon killed in the middle of retention, at any of its steps."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daemon.retention import Retention
from memsyncd.clock import rfc3339
from memsyncd.evidence.event import PacketStatus
from tests.daemon.composed import composed

RUNNER = Path(__file__).with_name("retiring_killed_at.py")
LONG_AGO = time.time() - 100 * 86_400


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with delivered, open and unsent sessions, and a dead letter, all of them old."""
    root = tmp_path_factory.mktemp("seed")
    with composed(root) as home:
        spool = home.spool()
        home.upkeep.refresh()
        store = home.parts.served.store("claude-code")
        for session, status in (("a", PacketStatus.SUCCEEDED), ("b", PacketStatus.SUCCEEDED), ("open", None)):
            home.record(session, "one", "two", at=LONG_AGO)
            packet = store.prepare(session, "session-end", list)
            assert packet is not None
            if status:
                store.close_packet(packet.packet_id, status)
        home.record("unsent", "three", at=LONG_AGO)
        for name in ("x.json", "x.reason.json"):
            (spool / "dead" / name).write_text("{}")
            os.utime(spool / "dead" / name, (LONG_AGO, LONG_AGO))
        with sqlite3.connect(store.path) as connection:
            connection.execute("UPDATE flushes SET updated_at = ?", (rfc3339(LONG_AGO),))
        connection.close()
        home.parts.close()
        shutil.copytree(home.places.data, root / "kept", ignore=shutil.ignore_patterns("nudge", "run"))
    return root / "kept"


def finish(retention: Retention) -> None:
    retention.begin()
    while retention.is_under_way:
        retention.look()


def evidence(root: Path) -> tuple[list[str], int]:
    """Return the sessions with events, and how many events are of a packet that is gone."""
    with sqlite3.connect(root / "m" / "spools" / "claude-code" / "evidence.sqlite3") as connection:
        sessions = [name for (name,) in connection.execute("SELECT session_id FROM events ORDER BY id")]
        torn = connection.execute(
            "SELECT count(*) FROM events WHERE flush_id NOT IN (SELECT packet_id FROM flushes)"
        ).fetchone()[0]
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    connection.close()
    return sessions, torn


def test_killed_at_any_step_nothing_undelivered_is_lost_and_no_packet_is_half_gone(
    seeded: Path, tmp_path: Path
) -> None:
    """A packet is there with all its events or gone with them; what was not delivered stays; the next round ends it."""
    undelivered = ["open"] * 4 + ["unsent"] * 2
    subprocess.run(
        [sys.executable, str(RUNNER), str(seeded), str(tmp_path)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd()},
        check=True,
        timeout=60,
    )
    rounds = sorted(tmp_path.iterdir(), key=lambda root: int(root.name))
    assert len(rounds) >= 5
    for root in rounds:
        sessions, torn = evidence(root)
        assert torn == 0
        assert sessions[-6:] == undelivered
        assert sessions[:-6] in (["a"] * 4 + ["b"] * 4, ["b"] * 4, ["a"] * 4, [])
        with composed(root) as home:
            home.upkeep.refresh()
            finish(Retention(home.parts))
            assert evidence(root) == (undelivered, 0)
            assert list((home.spool() / "dead").iterdir()) == []
    assert sessions == undelivered  # the last one was not killed
