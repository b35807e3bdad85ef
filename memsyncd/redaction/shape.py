"""One shape of secret: what betrays that it may be there, and the pattern that finds it.

Looking for needles costs next to nothing; the pattern runs only when one is there. Every repetition in a pattern is
bounded, or uses the characters that its left boundary forbids, so that no text makes it try a run twice.
"""

import re
from dataclasses import dataclass

from memsyncd.redaction.names import announces
from memsyncd.redaction.replacement import REPLACEMENT

EDGE = r"(?:\b|(?<=\\[nrt]))"
"""A word's edge, also after an escaped line end."""

_MAX_NAME = 64
_LAST_NAME = re.compile(r"(?:--[A-Za-z][A-Za-z0-9_-]*|[A-Za-z0-9_-]+[:=]|(?P<alone>-[A-Za-z]+|pass[a-z]+))\Z")


@dataclass(frozen=True, slots=True)
class Shape:
    """Any of `needles` makes `pattern` worth running; its group `secret`, or all it matches, is replaced."""

    needles: tuple[str, ...]
    pattern: re.Pattern[str]

    def redact(self, text: str) -> str:
        """Return `text` with this shape's secrets replaced."""
        return self.pattern.sub(_replace, text)


def _replace(match: re.Match[str]) -> str:
    if "secret" not in match.re.groupindex:
        return REPLACEMENT
    offset = match.start()
    start, end = match.span("secret")
    whole = match.group()
    end = _before_next_name(match.string, start, end)
    return whole[: start - offset] + REPLACEMENT + whole[end - offset :] if end > start else whole


def _before_next_name(text: str, start: int, end: int) -> int:
    """Return where a secret ends that may have taken in the name of the next one, or be nothing else."""
    name = _LAST_NAME.search(text, max(start, end - _MAX_NAME), end)
    if name is None or not announces(name.group().strip("-:=")):
        return end
    return name.start() if name["alone"] is None or name.start() == start else end
