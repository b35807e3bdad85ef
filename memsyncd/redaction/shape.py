"""One shape of secret: what betrays that it may be there, and the pattern that finds it.

Looking for needles costs next to nothing; the pattern runs only when one is there. Every repetition in a pattern is
bounded, or uses the characters that its left boundary forbids, so that no text makes it try a run twice.
"""

import re
from dataclasses import dataclass

from memsyncd.redaction.names import kind_of
from memsyncd.redaction.replacement import REPLACEMENT

EDGE = r"(?:\b|(?<=\\[nrt]))"
"""A word's edge, also after an escaped line end."""

_MAX_NAME = 64
_LAST_NAME = re.compile(r"--?(?P<flag>[A-Za-z][A-Za-z0-9_-]*)\Z|(?P<name>[A-Za-z0-9_-]+)[:=]\Z")


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
    name = _LAST_NAME.search(match.string, max(start, end - _MAX_NAME), end)
    if name is not None and kind_of(name["flag"] or name["name"]) is not None:
        end = name.start()  # what was taken for the secret ends in the name of the next one
    whole = match.group()
    if end == start:
        return whole
    return whole[: start - offset] + REPLACEMENT + whole[end - offset :]
