"""Inputs made from inputs: bytes changed anywhere, and JSON changed where it stays JSON."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz.planted import MARK
from tests.fuzz.target import BREAK

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 255, 2**31, 2**53, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400, 0.5, -0.0, 1e308, -1e308, math.nan,
    math.inf, "", " ", "\0", "\ud800", "\udfff\ud800", "\ufeff", "\u2028", "é", "İ", "ß" * 300, "😀", "a" * 5_000, "/", "/" + "x" * 300, "../" * 60, "~", "~/", "*", "%s", "{}", "0",
    "-1", "1e400", "9" * 5_000, "nan", "true", "null", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+23:59", "2027-01-15T07:00:00Z", "\n", "a\r\nb: c", "<private>", "</private>",
    "<system-reminder>", MARK.decode(), "password: " + MARK.decode(), [], {}, [[]], [{}], {"": ""}, [None], ["a", 1, {"b": []}], {"text": MARK.decode()}, [MARK.decode()],
)  # fmt: skip
ODD_BYTES: tuple[bytes, ...] = (
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n", b"\n", b"\r", b"\t", b" ", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b":", b",", b"=", b"#", b"//",
    b"/*", b"*/", b"-", b"0", b"9", b"1e999", b"NaN", b"Infinity", b"null", b"true", b"<", b">", b"%", b"%00", b"%zz", b"&", b"?", b";", BREAK, MARK, b"password=" + MARK,
)  # fmt: skip
MOST_NODES = 400
DEPTHS = (3, 30, 70, 300, 900, 970)
LONG_PART = 0.05
"""Of the edits that make an input long, those that make it very long: they cost the most time."""


@dataclass(frozen=True, slots=True)
class Mutator:
    """Changes inputs by `random` alone. `others` are inputs of the same target to take parts of."""

    random: Random
    others: Sequence[bytes]
    words: Sequence[bytes]
    longest: int

    def __call__(self, content: bytes) -> bytes:
        """Return `content` changed in a few places, at most `longest` bytes of it."""
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 4, 8))):
            changed = self._json(content) if self.random.random() < 0.5 else None
            content = self._bytes(content) if changed is None else changed
        return content[: self.longest]

    def _json(self, content: bytes) -> bytes | None:
        """Return `content` with a value changed in one of its JSON documents; None where it has none."""
        begin, end = self._place_of_json(content)
        try:
            document = json.loads(content[begin:end])
            changed = self._changed(document)
            return content[:begin] + self._text(changed) + content[end:]
        except (ValueError, RecursionError):
            return None

    def _place_of_json(self, content: bytes) -> tuple[int, int]:
        begin, end = 0, len(content)
        for separator in (BREAK, b"\n"):
            cuts = [begin]
            at = content.find(separator, begin, end)
            while at >= 0 and len(cuts) < MOST_NODES:
                cuts.append(at + len(separator))
                at = content.find(separator, at + len(separator), end)
            if len(cuts) > 1:
                if separator == b"\n" and content[begin : begin + 1] in (b"{", b"[") and self.random.random() < 0.3:
                    break  # one document over several lines
                chosen = self.random.randrange(len(cuts))
                end = cuts[chosen + 1] - len(separator) if chosen + 1 < len(cuts) else end
                begin = cuts[chosen]
        return begin, end

    def _text(self, document: Any) -> bytes:
        try:
            return json.dumps(document, ensure_ascii=self.random.random() < 0.5).encode()
        except UnicodeEncodeError:
            return json.dumps(document).encode()

    def _changed(self, document: Any) -> Any:
        nodes = _containers(document)
        if not nodes:
            return self._value(document)
        node = self.random.choice(nodes)
        if isinstance(node, dict):
            self._change_object(node)
        else:
            self._change_list(node)
        return document

    def _change_object(self, node: dict[str, Any]) -> None:
        key = self.random.choice(list(node)) if node else ""
        match self.random.randrange(6):
            case 0:
                node[self._key()] = self._value(None)
            case 1:
                node.pop(key, None)
            case 2 if node:
                node[self._key()] = node.pop(key)
            case 3 if len(node) > 1:
                other = self.random.choice(list(node))
                node[key], node[other] = node[other], node[key]
            case _:
                node[key] = self._value(node.get(key))

    def _change_list(self, node: list[Any]) -> None:
        at = self.random.randrange(len(node)) if node else 0
        match self.random.randrange(5):
            case 0:
                node.insert(at, self._value(None))
            case 1 if node:
                del node[at]
            case 2 if node:
                node[at:at] = [node[at]] * self.random.choice((1, 2, 20))
            case _ if node:
                node[at] = self._value(node[at])

    def _key(self) -> str:
        odd = self.random.choice(("", "\0", "\ud800", "a" * 300, "password", "token", MARK.decode(), "é", "type"))
        word = self.random.choice(self.words).decode("utf-8", "replace") if self.words else odd
        return self.random.choice((odd, word, word, word))

    def _value(self, old: Any) -> Any:
        match self.random.randrange(8):
            case 0 | 1:
                return self.random.choice(ODD_VALUES)
            case 2:
                return [old] if self.random.random() < 0.5 else {self._key(): old}
            case 3:
                return self._deep()
            case 4 if self.words:
                return self.random.choice(self.words).decode("utf-8", "replace")
            case 5 if isinstance(old, int | float) and not isinstance(old, bool):
                return self.random.choice((-old, old + 1, old * 1000, str(old)))
            case _:
                return self._string(old) if isinstance(old, str) else self.random.choice(ODD_VALUES)

    def _deep(self) -> Any:
        value: Any = self.random.choice(ODD_VALUES)
        for _ in range(self.random.choice(DEPTHS)):
            value = [value] if self.random.random() < 0.5 else {"a": value}
        return value

    def _string(self, old: str) -> str:
        changed = self._bytes(old.encode("utf-8", "surrogatepass")[:8_192])
        return changed.decode("utf-8", self.random.choice(("replace", "surrogateescape", "ignore")))

    def _bytes(self, content: bytes) -> bytes:
        at = self.random.randrange(len(content) + 1)
        span = min(len(content) - at, self.random.choice((1, 1, 2, 4, 8, 32, 128)))
        edit = self.random.choice(_EDITS)
        return edit(self, content[:at], content[at : at + span], content[at + span :])

    def _changed_byte(self, before: bytes, span: bytes, after: bytes) -> bytes:
        return before + bytes([self.random.randrange(256)]) + span[1:] + after

    def _noise(self, before: bytes, span: bytes, after: bytes) -> bytes:
        return before + self.random.randbytes(len(span)) + after

    def _less(self, before: bytes, _span: bytes, after: bytes) -> bytes:
        return before + after

    def _torn(self, before: bytes, _span: bytes, _after: bytes) -> bytes:
        return before

    def _odd(self, before: bytes, span: bytes, after: bytes) -> bytes:
        return before + self.random.choice(ODD_BYTES) + span + after

    def _word(self, before: bytes, span: bytes, after: bytes) -> bytes:
        word = self.random.choice(self.words or ODD_BYTES)
        return before + word + (span if self.random.random() < 0.5 else b"") + after

    def _again(self, before: bytes, span: bytes, after: bytes) -> bytes:
        return before + span * self.random.choice((2, 2, 3, 10)) + after

    def _moved(self, before: bytes, span: bytes, after: bytes) -> bytes:
        rest = before + after
        to = self.random.randrange(len(rest) + 1)
        return rest[:to] + span + rest[to:]

    def _spliced(self, before: bytes, span: bytes, after: bytes) -> bytes:
        other = self.random.choice(self.others or (span,))
        start = self.random.randrange(len(other) + 1)
        return before + other[start : start + self.random.choice((8, 64, 512, 4_096))] + span + after

    def _long(self, before: bytes, span: bytes, after: bytes) -> bytes:
        """Repeat a few bytes until the input is as long as it may be: what costs squares is seen by it."""
        unit = span or b"a"
        most = self.random.choice((2_048, 16_384, self.longest)) if self.random.random() < LONG_PART else 64
        return before + unit * max(1, (most - len(before) - len(after)) // len(unit)) + after


_EDITS: tuple[Callable[[Mutator, bytes, bytes, bytes], bytes], ...] = (
    Mutator._changed_byte,
    Mutator._noise,
    Mutator._less,
    Mutator._torn,
    Mutator._odd,
    Mutator._odd,
    Mutator._word,
    Mutator._again,
    Mutator._moved,
    Mutator._spliced,
    Mutator._long,
)
"""What becomes of the bytes at a place: each takes those before, a few there, and those after."""


def _containers(document: Any) -> list[Any]:
    found: list[Any] = []
    work = [document]
    while work and len(found) < MOST_NODES:
        node = work.pop()
        if isinstance(node, dict):
            found.append(node)
            work += node.values()
        elif isinstance(node, list):
            found.append(node)
            work += node
    return found
