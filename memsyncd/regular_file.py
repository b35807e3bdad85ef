"""A small file's content, read without ever waiting: in its place may lie a pipe, a device or another's link."""

import errno
import os
import stat
from pathlib import Path


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
