"""Texts without half of anything: cut to a length between characters, and mended where one came broken. Pure."""

import unicodedata

from memsyncd.redaction import REPLACEMENT

ELLIPSIS = "…"
"""Stands for what was cut away, and counts towards the length."""

_JOINER = "\u200d"
_FARTHEST = 32
"""Characters stepped back at most: nothing people write is longer, and a text of marks alone is cut all the same."""


def cut(text: str, limit: int) -> str:
    """Return `text`, or its beginning and ELLIPSIS, in at most `limit` characters; "" where nothing of it fits."""
    if len(text) <= limit:
        return text
    kept = text[: whole(text, limit - len(ELLIPSIS))].rstrip()
    return kept + ELLIPSIS if kept else ""


def whole(text: str, end: int) -> int:
    """Return the last place at or before `end` where a cut halves no character, nor a mark of redaction.

    A character is what people take for one: with its combining marks, joined with others (U+200D), or written as a
    pair of surrogates, as some programs leave them in a text.
    """
    end = min(max(end, 0), len(text))
    start = text.rfind(REPLACEMENT, max(0, end - len(REPLACEMENT) + 1), end + len(REPLACEMENT) - 1)
    if 0 <= start < end < start + len(REPLACEMENT):
        end = start
    for back in range(min(_FARTHEST, end) + 1):
        if not _joins(text, end - back):
            return end - back
    return end - 1 if _halves_a_pair(text, end) else end


def repaired(text: str) -> str:
    """Return `text` so that UTF-8 can hold it: pairs of surrogates joined, a half alone replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _joins(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it."""
    if not 0 < at < len(text):
        return False
    after = text[at]
    if after < "\u0300":
        return False
    return (
        _halves_a_pair(text, at)
        or _JOINER in (after, text[at - 1])
        or unicodedata.category(after) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # the tones of a skin
    )


def _halves_a_pair(text: str, at: int) -> bool:
    return 0 < at < len(text) and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"
