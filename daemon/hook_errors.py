"""What hooks of this home could not do, by the lines of theirs in a log that other homes may write too."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memsyncd.clock import from_rfc3339
from memsyncd.hooks import error_log

TAIL_BYTES = 2 * error_log.MAX_BYTES
"""More than a log ever has."""

RECENT_SECONDS = 24 * 3600.0
"""For so long after its last line the log is shown as a problem."""


@dataclass(frozen=True, slots=True, order=True)
class Lost:
    """The newest line, when it was written, and when the first was of those in the RECENT_SECONDS before it. Times are
    Unix seconds."""

    last: float
    first: float
    line: str
    log: str

    def age(self, now: float) -> float:
        """Return how many seconds ago it was."""
        return max(0.0, now - self.last)


def lost(log: Path, data: Path, owner: int, *, by_nobody: bool = False) -> Lost | None:
    """Return what hooks of the home that has this data directory wrote, or with `by_nobody` those that named no home in
    a log of all homes; None where there is none, or the log is not this owner's.

    In the data directory every line is this home's; elsewhere those that name it. Older versions named no home, and
    hooks with one that no daemon can serve do not. Raises OSError where the log is there and cannot be read.
    """
    try:
        found = os.lstat(log)
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # in a directory that others may have made
        return None
    if not found.st_size or found.st_uid != owner or not stat.S_ISREG(found.st_mode):
        return None
    is_shared = log.parent != data
    if by_nobody and not is_shared:
        return None
    home = [] if by_nobody else [error_log.home_word(os.fsencode(data)).decode("ascii")]
    newest: Lost | None = None
    for line in _lines_backwards(log):
        words = line.split()
        if is_shared and words[error_log.WORDS :] != home:
            continue
        told = from_rfc3339(words[0])
        at = found.st_mtime if told is None else told
        if newest is None:
            newest = Lost(at, at, line, str(log))
        elif newest.last - at < RECENT_SECONDS:
            newest = replace(newest, first=min(newest.first, at))
    return newest


def _lines_backwards(log: Path) -> Iterator[str]:
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - TAIL_BYTES))
        lines = file.read().decode("ascii", "replace").splitlines()
    yield from (line for line in reversed(lines) if line.strip())
