"""How a memory file that was mended is taken up."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.memory_watch import FAILED, MemoryWatch
from jobs.job import NewJob
from jobs.outcomes import Cool
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.places.memory_file.write_bytes(b"damaged")
        yield made


def watch(home: Composed) -> MemoryWatch:
    return MemoryWatch(home.places.memory_file, home.parts.platform.destination, home.parts.queue)


def fail(home: Composed, code: str = FAILED) -> None:
    """Let the embedded platform need a person."""
    destination = home.parts.platform.destination
    home.parts.queue.enqueue(NewJob("j", "flush", destination=destination))
    claim = home.parts.queue.claim()
    assert claim is not None
    home.parts.queue.finish(claim, Cool(destination, "the memory store is damaged", code, parked=True))
    assert is_parked(home)


def is_parked(home: Composed) -> bool:
    return any(destination.parked for destination in home.parts.queue.destinations())


def test_a_file_as_it_was_is_not_tried_before_its_time(home: Composed) -> None:
    """Damage does not go away by being looked at."""
    fail(home)
    watched = watch(home)
    for _ in range(3):
        watched.look()
    assert is_parked(home)


@pytest.mark.parametrize("mended", ["moved away", "replaced"])
def test_a_mended_file_is_tried_at_once(home: Composed, mended: str) -> None:
    """Moved aside, for a new one to be made, or restored from a backup; no restart is needed."""
    fail(home)
    watched = watch(home)
    watched.look()
    home.places.memory_file.unlink()
    if mended == "replaced":
        home.places.memory_file.write_bytes(b"another")
    watched.look()
    assert not is_parked(home)


def test_a_start_tries_once(home: Composed) -> None:
    """It may have been mended while no daemon ran."""
    fail(home)
    watch(home).release_failed()
    assert not is_parked(home)


def test_what_a_key_or_a_limit_holds_is_left_alone(home: Composed) -> None:
    """A changed file pays no bill."""
    fail(home, "quota")
    watched = watch(home)
    watched.look()
    home.places.memory_file.unlink()
    watched.look()
    watched.release_failed()
    assert is_parked(home)
