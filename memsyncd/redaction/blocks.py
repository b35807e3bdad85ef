"""Lines that belong to a name above them because they are indented deeper, as in YAML; also where it stands in JSON."""

import re

MAX_LINES = 16
"""Lines of a block that are taken; a longer one is a document, not a secret."""

_MAX_INDENT = 200
"""How far back a line's start is looked for, and the widest indentation."""

_INDENT = re.compile(r"[ \t]{0,200}")
ESCAPED_LINE_END = r"\\{1,8}(?:r\\{1,8})?n"
_LINE = re.compile(
    r"(?:\r?\n(?P<indent>[ \t]{0,200})(?P<content>[^\r\n]*)"
    r"|" + ESCAPED_LINE_END + r"(?P<inner_indent>[ \t]{0,200})(?P<inner>[^\r\n\\\"]*))"
)
_END = re.compile(r"[ \t]{0,40}(?:#[^\r\n\\\"]*)?(?=\r|\n|\Z|\\{1,8}[rn]|\\{0,8}\")")


def block_lines(text: str, name_start: int, position: int) -> list[tuple[int, int]]:
    """Return the contents of the lines after `position`, a line's end, that are indented deeper than the name's."""
    outer = _indent_of_line(text, name_start)
    spans: list[tuple[int, int]] = []
    for _ in range(MAX_LINES):
        line = _LINE.match(text, position)
        if line is None:
            break
        group = "content" if line["content"] is not None else "inner"
        indent, content = line[1] or line[3] or "", line[group]
        if content and len(indent) <= outer:
            break
        position = line.end()
        if content.strip():
            start = line.start(group)
            spans.append((start, start + len(content.rstrip())))
    return spans


def is_deeper(text: str, name_start: int, position: int) -> bool:
    """Whether the line of `position` is indented deeper than the line of the name."""
    return _indent_of_line(text, position) > _indent_of_line(text, name_start)


def line_alone(text: str, position: int) -> bool:
    """Whether nothing but a comment follows `position` on its line."""
    return _END.match(text, position) is not None


def _indent_of_line(text: str, position: int) -> int:
    """Return the indentation of the line of `position`; of a line that begins too far back, the widest."""
    least = max(0, position - _MAX_INDENT)
    escaped = text.rfind("\\n", least, position)
    start = max(text.rfind("\n", least, position) + 1, escaped + 2 if escaped >= 0 else 0)
    if start == 0 and least > 0:
        return _MAX_INDENT
    indent = _INDENT.match(text, start)
    return len(indent.group()) if indent else 0
