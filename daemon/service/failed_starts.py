"""Starts that failed, counted on disk: launchd has no start limit and would try again for ever (never-again 99)."""

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memsyncd import regular_file

MAX_BYTES = 64 * 1024

MOST = 5
WITHIN_SECONDS = 300.0
"""Five starts of which none came to anything in five minutes: the next one stays down. launchd starts every 10 s."""

STEADY_SECONDS = 60.0
"""A daemon that has been ready for so long has not failed to start, whatever ends it later."""

WHY_CHARS = 500


@dataclass(frozen=True, slots=True)
class Failed:
    """The Unix seconds of the last starts that came to nothing, oldest first, and the last one's own words."""

    starts: Sequence[float] = ()
    why: str = ""

    @property
    def stays_down(self) -> bool:
        """Whether the limit is reached."""
        return len(self.starts) >= MOST


def begun(known: Failed, now: float) -> Failed:
    """Return the record with a start that begins now. Older ones, and those of a clock that was ahead, do not count."""
    recent = [start for start in known.starts if 0 <= now - start < WITHIN_SECONDS]
    return Failed([*recent, now][-MOST - 1 :], known.why)


@dataclass(frozen=True, slots=True)
class FailedStarts:
    """The record in a data directory. What cannot be read or written counts as none: it must not stop a start."""

    data: Path
    name: str = field(default="failed-starts.json")

    def read(self) -> Failed:
        """Return the record."""
        try:
            document = regular_file.document(self.data / self.name, MAX_BYTES)
            return Failed([float(start) for start in document["starts"]], str(document["why"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Failed()

    def begin(self, now: float) -> bool:
        """Note a start; False where it is one too many and the daemon is to stay down."""
        failed = begun(self.read(), now)
        if len(failed.starts) > MOST:
            return False
        self._write(failed)
        return True

    def tell(self, why: str) -> None:
        """Note why the start that was begun last came to nothing."""
        self._write(Failed(self.read().starts, " ".join(why.split())[:WHY_CHARS]))

    def forget(self) -> None:
        """Note that all is well, or that a person wants another try."""
        with contextlib.suppress(OSError):
            (self.data / self.name).unlink()

    def _write(self, failed: Failed) -> None:
        path, new = self.data / self.name, self.data / f".{self.name}.new"
        with contextlib.suppress(OSError), open(new, "wb", opener=_private) as file:
            file.write(json.dumps({"starts": list(failed.starts), "why": failed.why}).encode())
            file.flush()
            os.fsync(file.fileno())
            new.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
