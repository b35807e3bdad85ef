"""Times in an evidence store: text in ours, text or numbers in those of plugins."""

import re

from memsyncd.clock import rfc3339

_MILLISECONDS_FROM = 100_000_000_000.0
"""A number from here on counts milliseconds: as seconds it would be the year 5138."""

_NUMBER = re.compile(r"\d{9,13}(\.\d+)?")


def moment_text(value: object) -> str:
    """Return a stored time as RFC 3339 text; text of another form as it is; empty where there is none."""
    if isinstance(value, str):
        return _numbered(float(value)) if _NUMBER.fullmatch(value) else value
    if isinstance(value, int | float):
        return _numbered(float(value))
    return ""


def stored_moment(seconds: float, *, numeric: bool) -> str | float:
    """Return Unix `seconds` in the form the store holds its times in."""
    return seconds if numeric else rfc3339(seconds)


def _numbered(value: float) -> str:
    seconds = value / 1000.0 if value >= _MILLISECONDS_FROM else value
    try:
        return rfc3339(seconds)
    except (ValueError, OverflowError, OSError):
        return ""
