"""What is seen in the data directory."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.disk_watch import RECENT_SECONDS
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        yield made


@pytest.mark.parametrize("suffix", ["", ".1"])
def test_hooks_that_lost_something_are_told_of_for_a_day(home: Composed, suffix: str) -> None:
    """By the log they left, also where it was renamed since; a log that is old or gone tells nothing."""
    log = Path(f"{home.places.hook_error_log}{suffix}")
    log.write_text("a line\n")
    home.upkeep.tick()
    assert home.codes() == {"hook-errors": str(log)}
    old = home.parts.clock.wall() - RECENT_SECONDS - 1
    os.utime(log, (old, old))
    home.upkeep.tick()
    assert home.codes() == {}
    log.touch()
    home.upkeep.tick()
    log.unlink()
    home.upkeep.tick()
    assert home.codes() == {}
