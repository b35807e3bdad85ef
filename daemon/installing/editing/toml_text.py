"""TOML as text: what it says by `tomllib`, and where its tables and pairs stand. Pure.

tomlkit was weighed and left out: it hangs a comment that stands above a table on the table before it, so that taking
ours out would take somebody's words along; and where it does not give a document back as it was, there is no telling.
"""

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from daemon.installing.editing.comma_list import TOML_TRIVIA, CommaList
from daemon.installing.editing.json_text import BYTE_ORDER_MARK
from daemon.installing.errors import NotParsable

_KEY = re.compile(r"""[ \t]*(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*(?:\.|(?=[\]=]))""")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}|\'\'\'(?:[^\']|\'{1,2}(?!\'))*+\'{3,5}|"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'',
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\r\n]*[^,\]}#\s]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A header or a pair. `start` is its first character, `end` where its value or bracket ends; a comment behind it
    is not part of it. `value` is where a pair's value begins, -1 for a header. `is_many` marks `[[...]]`."""

    key: tuple[str, ...]
    start: int
    end: int
    value: int = -1
    is_many: bool = False

    @property
    def is_header(self) -> bool:
        """Whether a table begins here."""
        return self.value < 0


def read(text: str) -> dict[str, Any]:
    """Return what a document says. Raises NotParsable."""
    try:
        return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except tomllib.TOMLDecodeError as error:
        why, _, place = str(error).partition(" (at ")
        found = re.search(r"line (\d+), column (\d+)", place)
        lines = text.count("\n") + 1
        line, column = (int(found[1]), int(found[2])) if found else (lines, 1)
        raise NotParsable(why, line, column) from error
    except RecursionError as error:
        raise NotParsable("nested too deeply", 1, 1) from error


def statements(text: str) -> list[Statement]:
    """Return the headers and pairs of a document that `read` takes, in their order."""
    found = []
    at = TOML_TRIVIA.end(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    while at < len(text):
        statement = _header(text, at) if text[at] == "[" else _pair(text, at)
        found.append(statement)
        at = TOML_TRIVIA.end(text, statement.end)
    return found


def elements(text: str, opening: int) -> CommaList:
    """Return the inside of the array that opens at `opening`."""
    spans = []
    at = TOML_TRIVIA.end(text, opening + 1)
    while text[at] != "]":
        if text[at] == ",":
            at = TOML_TRIVIA.end(text, at + 1)
            continue
        end = _value_end(text, at)
        spans.append((at, end))
        at = TOML_TRIVIA.end(text, end)
    return CommaList(opening + 1, at, tuple(spans))


def _header(text: str, start: int) -> Statement:
    is_many = text.startswith("[[", start)
    key, at = _key(text, start + 1 + is_many)
    return Statement(key, start, at + 1 + is_many, is_many=is_many)


def _pair(text: str, start: int) -> Statement:
    key, at = _key(text, start)
    value = at + 1
    while text[value] in " \t":
        value += 1
    return Statement(key, start, _value_end(text, value), value)


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the parts of a key, and where its bracket or equals sign is."""
    parts = []
    while found := _KEY.match(text, at):
        part = found[0].strip().removesuffix(".").strip()
        parts.append(next(iter(tomllib.loads(f"{part} = 1"))))
        at = found.end()
        if not found[0].endswith("."):
            break
    return tuple(parts), at


def _value_end(text: str, at: int) -> int:
    """Return where the value that begins at `at` ends."""
    if text[at] == "[":
        return elements(text, at).closed + 1
    if text[at] == "{":
        return _inline_table_end(text, at)
    found = (_STRING if text[at] in "\"'" else _PLAIN).match(text, at)
    assert found is not None  # tomllib took the document
    return found.end()


def _inline_table_end(text: str, at: int) -> int:
    at = TOML_TRIVIA.end(text, at + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = TOML_TRIVIA.end(text, at + 1)
            continue
        at = TOML_TRIVIA.end(text, _pair(text, at).end)
    return at + 1
