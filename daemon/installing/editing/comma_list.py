"""Items between brackets with commas, as JSON and TOML write them: one more at the end, or one less. Pure.

Adding and then removing gives the same text back, unless the brackets held nothing but white space before. Comments
belong to whoever wrote them: none is ever removed, and one behind an item stays behind that item.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trivia:
    """What may stand between the items. `step` matches one piece of it; `line` is how a comment to the end of the
    line begins; `same_line` matches what follows an item on its own line and belongs to it."""

    step: re.Pattern[str]
    same_line: re.Pattern[str]
    line: str

    def end(self, text: str, at: int) -> int:
        """Return where the next thing that is neither white space nor comment begins."""
        while found := self.step.match(text, at):
            at = found.end()
        return at

    def ends_in_line_comment(self, text: str, at: int, end: int) -> bool:
        """Tell whether the last comment between `at` and `end`, which hold nothing else, runs to its line's end."""
        last = ""
        while at < end and (found := self.step.match(text, at)):
            if not found[0].isspace():
                last = found[0]
            at = found.end()
        return last.startswith(self.line)


JSON_TRIVIA = Trivia(
    re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL),
    re.compile(r"(?:[ \t]*/\*(?:[^*]|\*(?!/))*\*/)*(?:[ \t]*//[^\r\n]*)?"),
    "//",
)
TOML_TRIVIA = Trivia(re.compile(r"[ \t\r\n]+|#[^\r\n]*"), re.compile(r"(?:[ \t]*#[^\r\n]*)?"), "#")


@dataclass(frozen=True, slots=True)
class CommaList:
    """`opened` is behind the opening bracket, `closed` at the closing one; `spans` are the items'."""

    opened: int
    closed: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """How a new item is set on a line of its own: the line end, its indentation, and the closing bracket's."""

    newline: str
    indent: str
    closing_indent: str


def added(text: str, items: CommaList, item: str, lines: Lines | None, trivia: Trivia) -> str:
    """Return the text with `item` last; None for `lines` puts it on the same line."""
    if not items.spans:
        return _first(text, items, item, lines)
    end = items.spans[-1][1]
    comma = trivia.end(text, end)
    has_comma = text.startswith(",", comma)
    if lines is None and not text[end : items.closed].strip(" \t,"):
        if has_comma:
            return f"{text[: comma + 1]} {item},{text[comma + 1 :]}"
        return f"{text[:end]}, {item}{text[end:]}"
    # without lines there is a comment behind the last item here, perhaps to the end of its line
    between = lines.newline + lines.indent if lines else "\n"
    if has_comma:
        behind = _same_line(text, comma + 1, trivia)
        return f"{text[:behind]}{between}{item},{text[behind:]}"
    behind = _same_line(text, end, trivia)
    return f"{text[:end]},{text[end:behind]}{between}{item}{text[behind:]}"


def _first(text: str, items: CommaList, item: str, lines: Lines | None) -> str:
    inside = text[items.opened : items.closed]
    if not inside.strip():
        around = (lines.newline + lines.indent, lines.newline + lines.closing_indent) if lines else ("", "")
        return f"{text[: items.opened]}{around[0]}{item}{around[1]}{text[items.closed :]}"
    behind = items.opened + len(inside.rstrip())
    newline, indent, closing = (lines.newline, lines.indent, lines.closing_indent) if lines else ("\n", "", "")
    rest = text[behind:]
    if "\n" not in text[behind : items.closed]:
        rest = newline + closing + rest.lstrip()
    return f"{text[:behind]}{newline}{indent}{item}{rest}"


def removed(text: str, items: CommaList, index: int, trivia: Trivia) -> str:
    """Return the text without the item at `index`, its comma, and the white space before it."""
    start, end = items.spans[index]
    before = items.opened
    if index:
        before = trivia.end(text, items.spans[index - 1][1]) + 1  # behind the comma, which must be there
    kept = len(text[:start].rstrip())
    comma = trivia.end(text, end)
    if text.startswith(",", comma):
        head, rest = text[:kept], text[end:comma] + text[comma + 1 :]
        if index == 0 and kept == items.opened and "\n" not in text[kept:start]:
            rest = rest.lstrip(" \t")
    else:
        head, rest = text[:kept], text[end:]
        if index:
            head = text[: before - 1] + text[before:kept]
    if trivia.ends_in_line_comment(text, before, start) and not re.match(r"[ \t]*\r?\n", rest):
        head += text[kept:start] or "\n"
    around = text[items.opened : start] + text[end : items.closed]
    if len(items.spans) == 1 and not around.strip(" \t\r\n,"):
        return text[: items.opened] + text[items.closed :]
    return head + rest


def _same_line(text: str, at: int, trivia: Trivia) -> int:
    found = trivia.same_line.match(text, at)
    assert found is not None  # it matches nothing at all, too
    return found.end()
