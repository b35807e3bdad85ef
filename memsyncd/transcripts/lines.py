"""From bytes in any pieces to whole lines of JSON. What is no JSON object is passed over and costs no neighbour."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

MAX_LINE = 16 * 1024 * 1024
"""A longer line is passed over: lines can exceed 1 MB (hooks-and-apis 2A), and images in them a few more."""

_decoder = msgspec.json.Decoder()


@dataclass(slots=True)
class Lines:
    """Splits what it is fed. `offset` is the place in the file up to which whole lines were given out; what came after
    it is the beginning of a line whose end is still to come."""

    offset: int = 0
    unreadable: int = 0
    oversized: int = 0
    _torn: bytearray = field(default_factory=bytearray)
    _passed: int = 0

    @property
    def is_torn(self) -> bool:
        """Whether the last line has no end yet."""
        return bool(self._torn) or self._passed > 0

    def feed(self, content: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield each whole line that is a JSON object with its place in bytes."""
        begin = 0
        while (end := content.find(b"\n", begin)) >= 0:
            piece = content[begin:end]
            begin = end + 1
            start = self.offset
            line = bytes(self._torn) + piece if self._torn else piece
            self.offset += self._passed + len(line) + 1
            is_oversized = self._passed > 0 or len(line) > MAX_LINE
            self._torn.clear()
            self._passed = 0
            if is_oversized:
                self.oversized += 1
            elif line.strip():
                record = decoded(line)
                if record is None:
                    self.unreadable += 1
                else:
                    yield start, record
        self._torn += content[begin:]
        if len(self._torn) > MAX_LINE:
            self._passed += len(self._torn)
            self._torn.clear()


def decoded(line: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in a line, None where there is none. Bytes that are no UTF-8 are replaced (facts 10.1)."""
    value: Any
    try:
        value = _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
