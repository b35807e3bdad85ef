"""What is tidied now and then."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.tidying import LARGE_BYTES, TIDY_SECONDS, TRIM_SECONDS, Tidying
from jobs.job import NewJob
from jobs.outcomes import Done
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        yield made


def finished(home: Composed) -> None:
    home.parts.queue.enqueue(NewJob("old", "flush"))
    claim = home.parts.queue.claim()
    assert claim is not None
    home.parts.queue.finish(claim, Done("delivered"))


def with_hands(home: Composed, hands: HandClock) -> None:
    object.__setattr__(home.parts, "clock", hands.clock())


def test_finished_jobs_go_after_their_days(home: Composed) -> None:
    """A job that is over is kept for the documented fortnight and then deleted; one younger is not touched."""
    finished(home)
    hands = HandClock(home.parts.clock.wall())
    with_hands(home, hands)
    tidying = Tidying(home.parts)
    hands.move(TIDY_SECONDS)
    tidying.look()
    assert home.parts.queue.get("old") is not None
    hands.move(15 * 86_400.0)
    tidying.look()
    assert home.parts.queue.get("old") is None


def test_memory_is_asked_back_only_when_it_is_much_and_not_all_the_time(home: Composed) -> None:
    """A large handoff's memory goes back within a minute; an ordinary daemon never asks."""
    hands = HandClock(home.parts.clock.wall())
    with_hands(home, hands)
    trims: list[int] = []
    resident = [LARGE_BYTES]
    tidying = Tidying(home.parts, resident=lambda: resident[0], trim=lambda: trims.append(1))
    hands.move(TRIM_SECONDS)
    tidying.look()
    assert trims == []
    resident[0] = LARGE_BYTES + 1
    tidying.look()
    tidying.look()
    assert len(trims) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and glibc")
def test_freed_memory_really_goes_back() -> None:
    """After large blocks among small ones were freed, the call makes the process smaller."""
    code = (
        "from daemon import heap\nfrom daemon.tidying import resident_bytes\n"
        "kept = []\n"
        "blocks = []\n"
        "for n in range(4000):\n"
        "    blocks.append(bytes(30_000)); kept.append(bytes(600))\n"
        "del blocks\n"
        "before = resident_bytes(); heap.trim(); after = resident_bytes()\n"
        "assert after <= before, (before, after)\n"
        "assert after < 90_000_000, after\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
