"""Which large handoff is being taken in, told on disk, so that one which ends the process does not end every next one.

A limit on memory kills without a word in the midst of it, and the service manager starts the daemon again, which would
take up the same handoff again, until the manager gives the service up.
"""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from memsyncd import regular_file

NAME = "in-hand.json"
"""In the data directory, for as long as one is in hand."""

HEAVY_BYTES = 4 * 1024 * 1024
"""A smaller handoff needs no memory worth a note: it costs a file written and deleted."""

MOST_DEATHS = 3
"""So many processes that died with it in hand are no chance (a job's crashes are counted so too)."""

_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Note:
    """`deaths` are of processes that had this handoff in hand before the present one."""

    spool: str
    handoff: str
    deaths: int


class InHand:
    """Used by the one thread that owns the spools. A note that cannot be written costs the handoff nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._left = None if path is None else _read(path)

    def is_deadly(self, spool: str, handoff: str) -> bool:
        """Whether as many processes as may died with it in hand."""
        return self._deaths(spool, handoff) >= MOST_DEATHS

    def take(self, spool: str, handoff: str) -> None:
        """Note that it is about to be read."""
        if self._path is not None:
            self._left = Note(spool, handoff, self._deaths(spool, handoff))
            _write(self._path, self._left)

    def put_down(self) -> None:
        """Note that this process has outlived it."""
        if self._path is not None and self._left is not None:
            self._left = None
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _deaths(self, spool: str, handoff: str) -> int:
        left = self._left
        return left.deaths if left is not None and (left.spool, left.handoff) == (spool, handoff) else 0


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
