"""Where a quoted value ends, at any depth of escaping.

One level of JSON in a JSON string doubles the backslashes before a quote and adds one: a string opened by 1, 3, 7 …
backslashes and a quote is closed by a quote with as many, and a quote inside it has more.
"""

import re
from dataclasses import dataclass

_OPEN = re.compile(
    r"(?:[rbfuRBFU]{1,2}(?=[\"']))?(?P<run>\\{0,64})(?P<quote>\"\"\"|'''|[\"'`])|(?P<coded>\\{1,64})(?P<code>u002[27])|%22"
)
_CLOSE = {
    quote: re.compile(r"(?<!\\)(?P<run>\\*)(?P<end>" + quote + r"|\n)")
    for quote in ('"', "'", "`", "u0022", "u0027", "%22")
}
_NEXT = re.compile(r"\s{0,80},\s{0,80}|\s{0,80}")


@dataclass(frozen=True, slots=True)
class Span:
    """The inside of a quoted value, text[start:end]; `after` is past its closing quote. Not `closed`: cut off."""

    start: int
    end: int
    after: int
    closed: bool


def quoted(text: str, position: int) -> Span | None:
    """Return the quoted value that opens at `position`, or None. A cut-off one reaches to the end of its line."""
    opening = _OPEN.match(text, position)
    if opening is None:
        return None
    start = opening.end()
    quote = opening["quote"] or opening["code"] or "%22"
    if quote in {'"""', "'''"}:
        end = text.find(quote, start)
        return Span(start, end, end + 3, closed=True) if end >= 0 else Span(start, len(text), len(text), closed=False)
    depth = len(opening["run"] or opening["coded"] or "")
    at = start
    while True:
        close = _CLOSE[quote].search(text, at)
        if close is None:
            return Span(start, len(text), len(text), closed=False)
        run = len(close["run"])
        if close["end"] == "\n":
            return Span(start, close.start("end"), close.start("end"), closed=False)
        if quote == "%22" or _closes(run, depth):
            end = close.end("run") - min(depth, run) if quote != "%22" else close.start("end")
            return Span(start, end, close.end(), closed=True)
        at = close.end()


def _closes(run: int, depth: int) -> bool:
    """Whether a quote after `run` backslashes ends a string whose opening quote had `depth`."""
    while depth:
        if run % 2 == 0:
            return True  # it ends a string further out
        run //= 2
        depth //= 2
    return run % 2 == 0


def listed(text: str, position: int) -> list[tuple[int, int]]:
    """Return the insides of the quoted values of a list that opens at `position`, up to the first other thing."""
    spans: list[tuple[int, int]] = []
    at = position + 1
    while True:
        gap = _NEXT.match(text, at)
        assert gap is not None  # it matches nothing too
        span = quoted(text, gap.end())
        if span is None or (spans and "," not in gap.group()):
            return spans
        spans.append((span.start, span.end))
        at = span.after
        if not span.closed:
            return spans
