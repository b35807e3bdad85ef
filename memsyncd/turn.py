"""The turn to compute, which threads that work on jobs hand to one another.

Python gives its interpreter away at each statement of SQLite and wants it back a moment later. Four threads at that
woke each other some 130 times for each packet they delivered; taking turns, 45 times, for a fifth less processor time
(`perf stat` of the daemon under `python -m bench.handoffs`, 2026-12-01).

The turn is a courtesy and no lock. Who has waited for PATIENCE_SECONDS goes on without it, so that one who waits for a
disk or for another program's lock, or computes for long, holds up nobody.
"""

import contextlib
import threading
from collections.abc import Iterator

PATIENCE_SECONDS = 0.02
"""Ten times what a run computes between two waits for the network."""


class Turn:
    """One turn, safe from any thread. `patience` is in seconds."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._mine = threading.local()

    def has(self) -> bool:
        """Tell whether this thread has the turn now."""
        return bool(self._is_mine())

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Compute in turn while the block runs; in a thread that does so already, just run it."""
        if self._is_mine() is not None:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._give()
            self._mine.holds = None

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Leave the turn to others while the block waits; in a thread that takes none, just run it."""
        if self._is_mine() is None:
            yield
            return
        self._give()
        try:
            yield
        finally:
            self._take()

    @contextlib.contextmanager
    def locked(self, lock: "threading.Lock | threading.RLock") -> Iterator[None]:
        """Hold `lock` while the block runs, and leave the turn to others as long as that has to be waited for."""
        if not lock.acquire(blocking=False):
            with self.away():
                lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _is_mine(self) -> bool | None:
        """Tell whether this thread has the turn; None where it takes none."""
        holds: bool | None = getattr(self._mine, "holds", None)
        return holds

    def _take(self) -> None:
        if not self._is_mine():
            self._mine.holds = self._lock.acquire(timeout=self._patience)

    def _give(self) -> None:
        if self._is_mine():
            self._lock.release()
        self._mine.holds = False


_of_the_process = Turn()
has, taken, away = _of_the_process.has, _of_the_process.taken, _of_the_process.away
locked = _of_the_process.locked
"""The turn of the one interpreter that all threads of a process share."""
