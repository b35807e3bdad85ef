"""A small file's content, read without ever waiting: in its place may lie a pipe, a device or another's link."""

import errno
import json
import math
import os
import stat
from pathlib import Path
from typing import Any

_MAX_DIGITS = 18
"""Of a whole number: what 64 bits hold, and any float."""


Stamp = tuple[int, int, int] | None
"""A file's change time in nanoseconds, size and inode; None for one that cannot be looked at."""


def stamp(path: str | Path) -> Stamp:
    """Return how the file at `path` looks now: another where it is another file, or was changed."""
    try:
        status = os.stat(path)  # for every handoff: a Path's own takes twice as long
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def content(path: str | Path, limit: int, *, follow: bool = True) -> bytes:
    """Return the first `limit` bytes of a regular file; a link is followed unless `follow` is false.

    Raises OSError: FileNotFoundError where nothing is there, ELOOP for a link that is not followed, EINVAL for what is
    no regular file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        parts: list[bytes] = []
        while limit > 0 and (part := file.read(min(limit, 1 << 20))):
            parts.append(part)
            limit -= len(part)
    return b"".join(parts)


def document(path: str | Path, limit: int, *, follow: bool = True) -> Any:
    """Return the JSON value in such a file, whose numbers are all within a float's bounds. Raises OSError as `content`
    does, and ValueError for what is no such JSON, or is nested too deeply."""
    try:
        return _DECODER.decode(content(path, limit, follow=follow).decode())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _whole(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError("a number beyond all bounds")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number beyond all bounds")
    return number


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_finite, parse_constant=_finite)
