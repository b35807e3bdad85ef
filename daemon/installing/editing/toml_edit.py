"""Changes to a TOML text: a table added at the end or taken out, without a word of anybody else's. Pure.

Adding and then removing gives the same text back. A comment above a header belongs to whoever wrote it and stays.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from daemon.installing.editing import comma_list
from daemon.installing.editing.comma_list import TOML_TRIVIA
from daemon.installing.editing.json_text import BYTE_ORDER_MARK
from daemon.installing.editing.toml_text import Statement, elements, statements

_BEHIND = re.compile(r"[ \t]*(\r?\n)?")
_BLANK = re.compile(r"\A\r?\n")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def add_table(text: str, header: str, pairs: Mapping[str, Any]) -> str:
    """Return the text with a table behind everything else; `header` comes with its brackets.

    A file without a line end in its last line keeps being one.
    """
    newline = _newline(text)
    block = newline.join([header, *(f"{key} = {rendered(value)}" for key, value in pairs.items())])
    if not text.removeprefix(BYTE_ORDER_MARK):
        return text + block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline * 2 + block


def remove_block(text: str, first: Statement, last: Statement) -> str:
    """Return the text without what stands from `first` to `last`, and without the blank line that set it off."""
    before = text[: first.start].rstrip(" \t")
    behind = _BEHIND.match(text, last.end)
    assert behind is not None  # it matches nothing at all, too
    if behind.end() < len(text) and not behind[1]:
        return text[: first.start] + text[behind.end() :]  # a comment stands behind it: somebody's, kept
    if not before.removeprefix(BYTE_ORDER_MARK):
        return before + _BLANK.sub("", text[behind.end() :], count=1)
    if behind[1]:
        shorter = _without_line_end(before)
        is_blank = shorter.endswith("\n") or not shorter.removeprefix(BYTE_ORDER_MARK)
        return (shorter if is_blank else before) + text[behind.end() :]
    return _without_line_end(_without_line_end(before))


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def set_value(text: str, pair: Statement, value: Any) -> str:
    """Return the text with another value for a pair."""
    return text[: pair.value] + rendered(value) + text[pair.end :]


def add_element(text: str, opening: int, value: Any) -> str:
    """Return the text with `value` last in the array that opens at `opening`."""
    items = elements(text, opening)
    lines = None
    if items.spans and "\n" in text[opening : items.spans[0][0]]:
        line = text.rfind("\n", 0, items.spans[-1][0]) + 1
        before = text[line : items.spans[-1][0]]
        lines = comma_list.Lines(_newline(text), before if not before.strip() else "  ", "")
    return comma_list.added(text, items, rendered(value), lines, TOML_TRIVIA)


def remove_element(text: str, opening: int, index: int) -> str:
    """Return the text without one element of the array that opens at `opening`."""
    return comma_list.removed(text, elements(text, opening), index, TOML_TRIVIA)


def rendered(value: Any) -> str:
    """Return a value on one line: text, whole numbers, truth, lists and tables of them."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_rendered_key(key)} = {rendered(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(rendered(item) for item in value)}]"
    # TOML's basic strings are JSON's, but that a DEL is escaped and a half character is none
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def blocks(text: str, path: Sequence[str], *, is_many: bool) -> list[tuple[Statement, Statement]]:
    """Return the first and last statement of each table `path`; a table below it belongs to it."""
    found: list[tuple[Statement, Statement]] = []
    inside = False
    for statement in statements(text):
        if statement.is_header:
            begins = statement.key == tuple(path) and statement.is_many == is_many
            inside = begins or (inside and statement.key[: len(path)] == tuple(path))
            if begins:
                found.append((statement, statement))
        if inside and found:
            found[-1] = (found[-1][0], statement)
    return found


def _rendered_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else rendered(key)


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
