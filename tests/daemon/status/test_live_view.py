"""The running daemon as its status socket sees it."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.status.parts import Phase
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def test_status_answers_whatever_became_of_a_spool(home: Composed) -> None:
    """A spool that is a file now has no counts; the status with the rest of them comes all the same."""
    home.spool("codex")
    home.upkeep.maintain()
    shutil.rmtree(home.places.spools / "claude-code")
    (home.places.spools / "claude-code").write_text("in the way")
    status = home.view.status()
    assert [spool["harness"] for spool in status["spools"]] == ["claude-code", "codex"]


def test_status_counts_what_lies_in_each_spool(home: Composed) -> None:
    """Waiting, claimed, given up and corrupt files, and a pause, as they are on disk."""
    spool = home.parts.served.spool("claude-code")
    for name in ("a.json", "b.json", "c.running", "d.running", "e.running"):
        (spool.pending / name).write_text("{}")
    spool.bury("d", "refused")
    spool.quarantine("e", "torn")
    (shown,) = home.view.status()["spools"]
    assert [shown[key] for key in ("pending", "running", "dead", "corrupt")] == [2, 1, 1, 1]


def test_recorded_evidence_is_not_passed_over(home: Composed) -> None:
    """What is recorded and goes out only when its session ends is counted and named in the sentence (never-again 143)."""
    home.record("s1", "one", "two")
    home.record("s2", "three")
    status = home.view.status()
    assert status["evidence"] == {"unsent_events": 6, "unsent_sessions": 2}
    assert "6 recorded events of 2 sessions" in status["summary"]


def test_a_clock_set_back_does_not_hide_a_hang(home: Composed) -> None:
    """What stands still is found by the time that passed, not by the wall clock (never-again 151)."""
    hands = HandClock()
    object.__setattr__(home.parts, "clock", hands.clock())
    home.view.progressed()
    hands.wall_now -= 7_200.0
    hands.move(60.0)
    assert home.view.status_parts().last_progress_at == hands.wall_now - 60.0


def put_odd_things(pending: Path) -> None:
    """Leave a directory, a file whose name is too long to claim it, and bytes that are no handoff."""
    (pending / "odd.json").mkdir()
    for name in ("n" * 250, "torn"):
        (pending / f"{name}.json").write_text("{")


def standing_still(home: Composed, hands: HandClock) -> bool:
    """Scan after a minute without any progress, and tell whether that is what status says."""
    hands.move(60.0)
    home.parts.ingest.scan()
    home.view.phase = Phase.RUNNING
    return "no-progress" in {problem["code"] for problem in home.view.status()["problems"]}


def test_what_cannot_be_taken_in_is_no_work_that_stands_still(home: Composed) -> None:
    """No new start would help against it (the watchdog makes one); a handoff beside it that is not taken is told."""
    hands = HandClock(time.time())
    object.__setattr__(home.parts, "clock", hands.clock())
    pending = home.parts.served.spool("claude-code").pending
    put_odd_things(pending)
    hands.move(100.0)
    home.parts.ingest.scan()
    assert not standing_still(home, hands)
    assert len(list(pending.iterdir())) == 3
    home.parts.served.spool("claude-code").paused.touch()
    (pending / "sound.json").write_text("{}")
    os.utime(pending / "sound.json", (hands.wall_now, hands.wall_now))
    object.__setattr__(home.parts.ingest, "_take", lambda *_: 0)
    home.parts.served.spool("claude-code").paused.unlink()
    assert standing_still(home, hands)


def test_a_spool_that_waits_for_its_plugin_is_no_work_that_stands_still(home: Composed) -> None:
    """What lies in it is taken in once the plugin has made its evidence store, which no new start does."""
    pending = home.root / ".mem0" / "codex-plugin" / "pending"
    pending.mkdir(parents=True)
    (pending / "x.json").write_text("{}")
    home.upkeep.refresh()
    assert len(home.parts.served.spools()) == 2
    hands = HandClock(os.stat(pending / "x.json").st_mtime + 60.0)
    object.__setattr__(home.parts, "clock", hands.clock())
    assert not standing_still(home, hands)


def test_a_queue_that_cannot_be_used_hides_nothing_else(home: Composed) -> None:
    """Status is red for it and answers with all the rest, and `/healthz` says why in a sentence (never-again 134)."""
    (home.parts.served.spool("claude-code").pending / "a.json").write_text("{}")
    home.parts.queue.close()
    status = home.view.status()
    assert status["state"] == "degraded"
    assert status["problems"][0]["code"] == "queue-unavailable"
    assert status["spools"][0]["pending"] == 1
    is_healthy, reasons = home.view.health()
    assert not is_healthy
    assert "queue" in reasons[0]
