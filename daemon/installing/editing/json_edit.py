"""Changes to a JSON text by path, each the smallest that does it. Pure; every function raises NotParsable and Unfit.

A path is made of members' names and elements' numbers. What is added is laid out as its neighbours are: on a line of
its own with their indentation, or on theirs, where the container stands on one.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from daemon.installing.editing import comma_list
from daemon.installing.editing.comma_list import JSON_TRIVIA, Lines
from daemon.installing.editing.json_text import BYTE_ORDER_MARK, Node, parse
from daemon.installing.errors import Unfit

Path = Sequence[str | int]

EMPTY = "{}\n"
"""What a file that is not there, or holds nothing, is taken for."""

USUAL_INDENT = "  "


def read(text: str) -> Any:
    """Return what a text says; one of nothing but white space is an empty object."""
    return parse(or_empty(text)).value


def or_empty(text: str) -> str:
    """Return the text, or an empty document where it holds none."""
    return text if text.removeprefix(BYTE_ORDER_MARK).strip() else EMPTY


def put(text: str, path: Path, value: Any) -> str:
    """Return the text with `value` at `path`, in place of what is there; missing objects on the way are made."""
    text = or_empty(text)
    node, rest = _walk(text, path)
    if not rest:
        return _replaced(text, node, value)
    if not isinstance(node.value, dict) or not isinstance(rest[0], str):
        raise Unfit(_no_object(text, node, path[: len(path) - len(rest)]))
    for name in reversed(rest[1:]):
        value = {name: value}
    key = json.dumps(rest[0], ensure_ascii=False)
    return _added(text, node, f"{key}: ", value)


def append(text: str, path: Path, value: Any) -> str:
    """Return the text with `value` last in the array at `path`, which is made where it is missing."""
    text = or_empty(text)
    node, rest = _walk(text, path)
    if rest:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise Unfit(f"{shown(path)} in line {_line(text, node.start)} is no list, so nothing can be added to it")
    return _added(text, node, "", value)


def remove(text: str, path: Path) -> str:
    """Return the text without what is at `path`, which must be there."""
    parent, rest = _walk(text, path[:-1])
    if rest:
        raise KeyError(path)
    index = path[-1]
    if isinstance(index, str):
        item = parent.member(index)
        if item is None:
            raise KeyError(path)
        index = parent.items.index(item)
    return comma_list.removed(text, parent.comma_list(), index, JSON_TRIVIA)


def is_bare(text: str, path: Path) -> bool:
    """Tell whether an object or array is there and holds nothing, not even a comment."""
    node, rest = _walk(text, path)
    return not rest and isinstance(node.value, dict | list) and not text[node.start + 1 : node.end - 1].strip()


def shown(path: Path) -> str:
    """Return a path as a person reads it."""
    return ".".join(str(step) for step in path) or "the document"


def _walk(text: str, path: Path) -> tuple[Node, Path]:
    """Return the deepest value on the way, and the steps that are missing below it."""
    node = parse(text)
    for depth, step in enumerate(path):
        if isinstance(step, str):
            item = node.member(step) if isinstance(node.value, dict) else None
        else:
            item = node.items[step] if isinstance(node.value, list) and step < len(node.items) else None
        if item is None:
            return node, path[depth:]
        node = item.node
    return node, ()


def _added(text: str, node: Node, lead: str, value: Any) -> str:
    lines = _lines(text, node)
    rendered = lead + _rendered(value, text, lines)
    return comma_list.added(text, node.comma_list(), rendered, lines, JSON_TRIVIA)


def _replaced(text: str, node: Node, value: Any) -> str:
    lines = None
    if "\n" in text[node.start : node.end]:
        lines = Lines(_newline(text), _line_indent(text, node.start), "")
    return text[: node.start] + _rendered(value, text, lines) + text[node.end :]


def _rendered(value: Any, text: str, lines: Lines | None) -> str:
    if lines is None:
        return json.dumps(value, ensure_ascii=False)
    rendered = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return rendered.replace("\n", lines.newline + lines.indent)


def _lines(text: str, node: Node) -> Lines | None:
    """Return how an item of `node` is laid out; None where the container, or the whole document, is on one line."""
    closing = _line_indent(text, node.start)
    if not node.items:
        has_lines = "\n" in text.strip() or node.start <= len(BYTE_ORDER_MARK)
        return Lines(_newline(text), closing + _unit(text), closing) if has_lines else None
    first, last = node.items[0], node.items[-1]
    if "\n" not in text[node.start : first.start]:
        return None
    indent = _own_indent(text, last.start)
    return Lines(_newline(text), closing + _unit(text) if indent is None else indent, closing)


def _unit(text: str) -> str:
    """Return one level of indentation: that of the first member on a line of its own."""
    found = re.search(r'^([ \t]+)["\[{]', text, re.MULTILINE)
    return found[1] if found else USUAL_INDENT


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _own_indent(text: str, at: int) -> str | None:
    """Return what stands before `at` on its line if that is white space, else None."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if not before.strip() else None


def _line_indent(text: str, at: int) -> str:
    found = re.compile(r"[ \t]*").match(text, text.rfind("\n", 0, at) + 1)
    assert found is not None
    return found[0]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _no_object(text: str, node: Node, path: Path) -> str:
    return f"{shown(path)} in line {_line(text, node.start)} is no object, so nothing can be put into it"
