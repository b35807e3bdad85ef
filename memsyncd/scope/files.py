"""Bounded reading of files that remembers how each looked, so that a later look tells whether anything changed."""

import itertools
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress

from memsyncd.regular_file import Stamp, stamp

MAX_READ = 1 << 20
"""Bytes read of any one file."""

_MAX_LINE = 128


def unchanged(seen: Mapping[str, Stamp]) -> bool:
    """Whether every file in `seen` looks as it did."""
    return all(stamp(path) == was for path, was in seen.items())


class Files:
    """Reads files; `seen` has each one's stamp from just before its first reading."""

    def __init__(self) -> None:
        self.seen: dict[str, Stamp] = {}

    def note(self, path: str) -> Stamp:
        """Remember how `path` looks now, as something an answer depends on."""
        if path not in self.seen:
            self.seen[path] = stamp(path)
        return self.seen[path]

    def read(self, path: str) -> str:
        """Return the first MAX_READ bytes of a regular file, "" for anything else; never waits on a pipe."""
        if self.note(path) is None:
            return ""
        return b"".join(_chunks(path, MAX_READ)).decode("utf-8", "surrogateescape")

    def line_ending_in(self, path: str, ending: str, limit: int) -> str:
        """Return the first line of a regular file that ends so, up to 128 bytes long beside that, "" where there is
        none among its first `limit` bytes."""
        if self.note(path) is None:
            return ""
        wanted = ending.encode("utf-8", "surrogateescape")
        content = b""
        for chunk in itertools.chain(_chunks(path, limit), (b"\n",)):
            content = content[-len(wanted) - _MAX_LINE :] + chunk
            at = content.find(wanted)
            while at >= 0:
                end = at + len(wanted)
                if content.startswith((b"\n", b"\r\n"), end):
                    start = content.rfind(b"\n", max(0, at - _MAX_LINE), at) + 1
                    return content[start:end].decode("utf-8", "surrogateescape")
                at = content.find(wanted, at + 1)
        return ""


def _chunks(path: str, limit: int) -> Iterator[bytes]:
    with suppress(OSError, ValueError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return
            while limit > 0 and (chunk := file.read(min(limit, MAX_READ))):
                limit -= len(chunk)
                yield chunk
