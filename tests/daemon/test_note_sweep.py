"""Expired notes go by themselves."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from daemon.note_sweep import MOST_AT_ONCE, SWEEP_SECONDS, NoteSweep
from memsyncd.counters import Counters
from memsyncd.notes.store import NoteStore
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        yield made


def remember(file: Path, hands: HandClock, *keys: str, seconds: int = 60) -> None:
    with closing(NoteStore(file, hands.clock())) as store:
        for key in keys:
            store.remember("default", key, "v", seconds)


def stored(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM notes")}


def test_the_daemon_deletes_expired_notes_on_its_tick(home: Composed) -> None:
    """Though nobody writes or asks for any; what has time left stays."""
    file = home.places.memory_file
    remember(file, HandClock(time.time()), "not yet", seconds=3_600)
    remember(file, HandClock(time.time() - 100), "over")
    home.upkeep.tick()
    assert stored(file) == {"not yet"}
    assert home.parts.counters.snapshot()["notes_expired"] == 1


def test_a_sweep_comes_again_after_its_time_and_makes_no_file(tmp_path: Path) -> None:
    """Between two of them nothing is looked at; where no memory file is, none is made."""
    hands, counters, file = HandClock(), Counters(), tmp_path / "memory.sqlite3"
    sweep = NoteSweep(file, hands.clock(), counters, lambda: True)
    sweep.look()
    assert not file.exists()
    remember(file, hands, "a", "b")
    sweep.look()
    hands.move(60)
    sweep.look()
    assert stored(file) == {"a", "b"}
    hands.move(SWEEP_SECONDS - 60)
    sweep.look()
    assert stored(file) == set()
    assert counters.snapshot()["notes_expired"] == 2


def test_what_is_too_much_for_one_look_goes_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick is not held up by a million notes."""
    monkeypatch.setattr("daemon.note_sweep.MOST_AT_ONCE", 2)
    hands, file = HandClock(), tmp_path / "memory.sqlite3"
    remember(file, hands, *"abcde")
    hands.move(60)
    sweep = NoteSweep(file, hands.clock(), Counters(), lambda: True)
    left = []
    for _ in range(3):
        sweep.look()
        left.append(len(stored(file)))
    assert left == [3, 1, 0]
    assert MOST_AT_ONCE > 2


def test_a_store_that_cannot_be_read_is_told_of_and_stops_nobody(home: Composed) -> None:
    """It is an error of the kind the upkeep shows and outlives, with a sentence that says what to do; at its next time
    it is tried again."""
    sweep = NoteSweep(home.root / "bad.sqlite3", home.parts.clock, home.parts.counters, lambda: True)
    (home.root / "bad.sqlite3").write_bytes(b"no database at all" * 1_000)
    with pytest.raises(OSError, match="damaged"):
        sweep.look()
    sweep.look()  # not yet again


def test_a_clock_that_is_not_believed_deletes_no_note(tmp_path: Path) -> None:
    """Under a clock ten years ahead every note seems over; once it is right again they are all there."""
    hands, file, believed = HandClock(), tmp_path / "memory.sqlite3", [False]
    remember(file, hands, "a", "b")
    hands.move(60)
    sweep = NoteSweep(file, hands.clock(), Counters(), lambda: believed[0])
    sweep.look()
    assert stored(file) == {"a", "b"}
    believed[0] = True
    sweep.look()
    assert stored(file) == set()


def test_what_it_needs_is_loaded_with_the_daemon() -> None:
    """The program may be uninstalled under a running daemon, long before there is a first note to sweep."""
    looked = "import sys, daemon.app; print('memsyncd.notes.store' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", looked], capture_output=True, check=True).stdout == b"True\n"
