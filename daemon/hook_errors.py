"""What hooks of this home could not do, by the newest line of theirs in a log that other homes may write too."""

import os
import stat
from pathlib import Path

from memsyncd.clock import from_rfc3339
from memsyncd.hooks import error_log

TAIL_BYTES = 2 * error_log.MAX_BYTES
"""More than a log ever has."""


def newest(log: Path, data: Path, owner: int) -> tuple[float, str] | None:
    """Return when a hook of the home that has this data directory wrote its newest line (Unix seconds), and the line;
    None where there is none, or the log is not this owner's.

    A line that names no home is everybody's; the last line is as old as the file. Raises OSError where the log is there
    and cannot be read.
    """
    try:
        found = os.lstat(log)
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # in a directory that others may have made
        return None
    if not found.st_size or found.st_uid != owner or not stat.S_ISREG(found.st_mode):
        return None
    home = error_log.home_word(os.fsencode(data)).decode("ascii")
    for number, line in enumerate(_lines_backwards(log)):
        words = line.split()
        if words[error_log.WORDS :] in ([], [home]):
            at = None if number == 0 else from_rfc3339(words[0])
            return (found.st_mtime if at is None else at), line
    return None


def _lines_backwards(log: Path) -> list[str]:
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - TAIL_BYTES))
        return [line for line in reversed(file.read().decode("ascii", "replace").splitlines()) if line.strip()]
