"""Notes whose time is over go, whether or not an agent writes any: on a timer, some at a time."""

from collections.abc import Callable
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.notes.errors import NoteError, StoreBusy
from memsyncd.notes.store import NoteStore  # loaded with the daemon: by the first look the program may be uninstalled

SWEEP_SECONDS = 300.0
"""How long an expired note, which nothing finds any more, lies in the file at most."""

MOST_AT_ONCE = 5_000
"""Notes of one look, in transactions of 500; what is left goes with the next looks, one after another."""


class NoteSweep:
    """Asked on every tick; the first look takes what expired while no daemon ran. `may_delete` tells whether the clock
    is believed."""

    def __init__(self, memory_file: Path, clock: Clock, counters: Counters, may_delete: Callable[[], bool]) -> None:
        self._memory_file = memory_file
        self._clock = clock
        self._counters = counters
        self._may_delete = may_delete
        self._due_at = clock.monotonic()

    def look(self) -> None:
        """Sweep if it is time. Raises OSError where the notes cannot be used: it is tried again at the next time."""
        now = self._clock.monotonic()
        if now < self._due_at or not self._may_delete() or not self._memory_file.exists():
            return
        self._due_at = now + SWEEP_SECONDS
        store = NoteStore(self._memory_file, self._clock)
        try:
            swept = store.sweep(self._clock.wall(), MOST_AT_ONCE)
        except StoreBusy:
            return
        except NoteError as error:
            raise OSError(str(error)) from error
        finally:
            store.close()
        if swept.notes:
            self._counters.add("notes_expired", swept.notes)
        if swept.more:
            self._due_at = now
