"""Bytes into lines, none longer than a bound: a client cannot fill the memory with one message. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE_BYTES = 8 * 1024 * 1024
"""A note's longest value as given is 1,000,000 characters, six bytes each where a client escapes them all."""

KEPT_BYTES = 256
"""Of both ends of a line that is too long: its request's id stands in one of them."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was passed over, and its ends."""

    head: bytes
    tail: bytes


class LineSplitter:
    """Feed it what comes; it gives whole lines without their line feed, blank ones left out."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """Take the next bytes; yield the lines that end in them."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._add(part)
            yield from self.end()
        self._add(rest)

    def end(self) -> Iterator[bytes | TooLong]:
        """Yield the line so far; at the end of all input that is one without a line feed."""
        line = b"".join(self._parts)
        if self._head:
            yield TooLong(self._head, line[-KEPT_BYTES:])
        elif line.strip():
            yield line
        self._parts, self._size, self._head = [], 0, b""

    def _add(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._limit:
            line = b"".join(self._parts)
            self._head = self._head or line[:KEPT_BYTES]
            self._parts = [line[-KEPT_BYTES:]]
