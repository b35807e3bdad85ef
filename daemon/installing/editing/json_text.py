"""JSON with comments as text: what it says, and where each part of it stands.

Beyond RFC 8259 it takes what the harnesses' own readers take: `//` and `/* */` comments, a comma behind the last
item, and a byte-order mark. Offsets count characters of the text as given.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from daemon.installing.editing.comma_list import JSON_TRIVIA, CommaList
from daemon.installing.errors import NotParsable

MAX_DEPTH = 200
"""Deeper nesting is nobody's configuration, and two Python frames a level must fit the interpreter's limit."""

BYTE_ORDER_MARK = "\ufeff"

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])|true\b|false\b|null\b")
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Node:
    """A value between `start` and `end`. `items` are an object's members or an array's elements."""

    start: int
    end: int
    value: Any
    items: tuple["Item", ...] = ()

    def member(self, key: str) -> "Item | None":
        """Return the member that counts: of two with one name readers take the last."""
        return next((item for item in reversed(self.items) if item.key == key), None)

    def comma_list(self) -> CommaList:
        """Return an object's or array's inside, for edits."""
        return CommaList(self.start + 1, self.end - 1, tuple((item.start, item.node.end) for item in self.items))


@dataclass(frozen=True, slots=True)
class Item:
    """A member, which starts at its key, or an element, which has none."""

    start: int
    key: str | None
    node: Node


@lru_cache(maxsize=4)  # an edit asks several times what one text says, and some such files have megabytes
def parse(text: str) -> Node:
    """Return the root of a document, which is nobody's to change. Raises NotParsable."""
    reader = _Reader(text)
    at = reader.skip(1 if text.startswith(BYTE_ORDER_MARK) else 0)
    root = reader.value(at, 0)
    end = reader.skip(root.end)
    if end != len(text):
        reader.fail("something follows the document", end)
    return root


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def fail(self, why: str, at: int) -> NoReturn:
        before = self.text[:at]
        raise NotParsable(why, before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1)

    def skip(self, at: int) -> int:
        end = JSON_TRIVIA.end(self.text, at)
        if self.text.startswith("/*", end):
            self.fail("a comment that never ends", end)
        return end

    def value(self, at: int, depth: int) -> Node:
        opening = self.text[at : at + 1]
        if opening in _CLOSING:
            if depth >= MAX_DEPTH:
                self.fail(f"nested more than {MAX_DEPTH} deep", at)
            return self._container(at, opening, depth)
        found = (_STRING if opening == '"' else _WORD).match(self.text, at)
        if found is None:
            self.fail("no value as JSON has them" if opening else "the document ends too early", at)
        try:
            value = json.loads(found[0])
        except ValueError:  # an integer longer than Python takes; it is only carried along
            value = found[0]
        return Node(at, found.end(), value)

    def _container(self, start: int, opening: str, depth: int) -> Node:
        closing = _CLOSING[opening]
        items: list[Item] = []
        at = self.skip(start + 1)
        while not self.text.startswith(closing, at):
            if items:
                if not self.text.startswith(",", at):
                    self.fail(f"a comma or {closing} is missing", at)
                at = self.skip(at + 1)
                if self.text.startswith(closing, at):
                    break
            item = self._item(at, opening, depth)
            items.append(item)
            at = self.skip(item.node.end)
        value: Any = [item.node.value for item in items]
        if opening == "{":
            value = {item.key: item.node.value for item in items}
        return Node(start, at + 1, value, tuple(items))

    def _item(self, at: int, opening: str, depth: int) -> Item:
        if opening == "[":
            return Item(at, None, self.value(at, depth + 1))
        key = _STRING.match(self.text, at)
        if key is None:
            self.fail("a name in double quotes is missing", at)
        colon = self.skip(key.end())
        if not self.text.startswith(":", colon):
            self.fail("a colon is missing", colon)
        return Item(at, json.loads(key[0]), self.value(self.skip(colon + 1), depth + 1))
