"""A bound for the log that launchd writes into a file: it neither rotates nor limits it (never-again 99)."""

import contextlib
import fcntl
import os
import stat
from pathlib import Path

MAX_BYTES = 5_000_000
"""Of the log, and of the one before it that is kept beside it as `.1`."""


def cap(descriptor: int, path: Path, *, max_bytes: int = MAX_BYTES) -> bool:
    """Begin the log anew where it has grown over its bound; True where that was so.

    `descriptor` is standard error and `path` where its file is thought to be: another file there is not touched. The
    file is emptied, not renamed, for launchd holds it open; what is in it by then is kept as `.1`.
    """
    with contextlib.suppress(OSError):
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode) or opened.st_size <= max_bytes:
            return False
        if not os.path.samestat(opened, path.lstat()):
            return False
        # appending, so that what is written next goes to the new end and not behind a hole
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
        _keep_tail(path, max_bytes)
        os.ftruncate(descriptor, 0)
        return True
    return False


def _keep_tail(path: Path, max_bytes: int) -> None:
    kept = path.with_name(f"{path.name}.1")
    new = path.with_name(f".{path.name}.new")
    with path.open("rb") as log:
        log.seek(-max_bytes, os.SEEK_END)
        tail = log.read(max_bytes)
    with open(new, "wb", opener=_private) as file:
        file.write(tail)
    new.replace(kept)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
