"""Which large handoff is being taken in, told on disk, so that one which ends the process does not end every next one.

A limit on memory kills without a word in the midst of it, and the service manager starts the daemon again, which would
take up the same handoff again, until the manager gives the service up.
"""

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memsyncd import regular_file

NAME = "in-hand.json"
"""In the data directory, for as long as one is in hand."""

HEAVY_BYTES = 4 * 1024 * 1024
"""A smaller handoff needs no memory worth a note: it costs a file written and deleted."""

TRIALS = (0.0, 0.0, 0.0, 10.0)
"""For how many seconds the daemon has lived when it takes in a handoff that so many processes died with: something else
may kill them, and what is first in a spool is in hand first after each start (a job's trials are alike)."""

MOST_DEATHS = len(TRIALS)
"""So many in a row, the last one after a life without it, are no chance."""

_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Note:
    """`deaths` are of processes that had this handoff in hand before the present one."""

    spool: str
    handoff: str
    deaths: int


class InHand:
    """Used by the one thread that owns the spools. A note that cannot be written costs the handoff nothing."""

    def __init__(self, path: Path | None, monotonic: Callable[[], float] = lambda: 0.0) -> None:
        self._path = path
        self._monotonic = monotonic
        self._began_at = monotonic()
        self._left = None if path is None else _read(path)
        self._is_met = self._is_taken = False

    def is_deadly(self, spool: str, handoff: str) -> bool:
        """Whether as many processes as may died with it in hand."""
        return self._deaths(spool, handoff) >= MOST_DEATHS

    def waits(self, spool: str, handoff: str) -> bool:
        """Whether the daemon has to live for a while yet before it takes it in."""
        deaths = self._deaths(spool, handoff)
        return deaths < MOST_DEATHS and self._monotonic() - self._began_at < TRIALS[deaths]

    def take(self, spool: str, handoff: str) -> None:
        """Note that it is about to be read."""
        if self._path is not None:
            self._left = Note(spool, handoff, self._deaths(spool, handoff))
            self._is_taken = True
            _write(self._path, self._left)

    def put_down(self) -> None:
        """Note that this process has outlived what it took."""
        if self._is_taken:
            self.forget()

    def scanned(self) -> None:
        """After all spools: forget what an earlier process died with where that does not wait any more."""
        if self._left is not None and not self._is_met:
            self.forget()
        self._is_met = False

    def forget(self) -> None:
        """Have nothing in hand."""
        self._left, self._is_taken = None, False
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _deaths(self, spool: str, handoff: str) -> int:
        left = self._left
        if left is None or (left.spool, left.handoff) != (spool, handoff):
            return 0
        self._is_met = True
        return left.deaths


def _read(path: Path) -> Note | None:
    """Return what an earlier process had in hand when it died, its death counted."""
    try:
        found = regular_file.document(path, _MAX_BYTES, follow=False)
        return Note(str(found["spool"]), str(found["handoff"]), int(found["deaths"]) + 1)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(path: Path, note: Note) -> None:
    told = json.dumps({"spool": note.spool, "handoff": note.handoff, "deaths": note.deaths}).encode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError), os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0) as file:
        file.write(told)
