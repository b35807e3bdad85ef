"""Asterisks where an identity belongs: some platform would read them as everybody's (facts 5.17, 5.27). Pure."""

import unicodedata

_ASTERISKS = frozenset("*\u2217\u204e\u22c6\u2731\u066d")
"""Besides those that normalise to one (full-width, small); a store behind a platform may fold any of them."""


def holds_asterisk(text: str) -> bool:
    """Whether there is one anywhere in `text`, in whatever spelling."""
    return not _ASTERISKS.isdisjoint(unicodedata.normalize("NFKC", text))


def is_wildcard(text: str) -> bool:
    """Whether `text` is only asterisks, in whatever spelling, and blanks (facts 5.17)."""
    inner = "".join(unicodedata.normalize("NFKC", text).split())
    return bool(inner) and _ASTERISKS.issuperset(inner)
