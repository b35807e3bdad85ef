"""Numbers and times as people say them, and text made safe for a terminal. Pure."""

import textwrap
from typing import Any

from memsyncd.clock import from_rfc3339

MINUTE, HOUR, DAY = 60, 3600, 86400


def span(seconds: float) -> str:
    """Return a length of time in its largest fitting unit: `3 s`, `5 min`, `2 h`, `4 days`."""
    whole = int(max(seconds, 0.0))
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR:
        return f"{whole // MINUTE} min"
    if whole < 2 * DAY:
        return f"{whole // HOUR} h"
    return f"{whole // DAY} days"


def moment(value: Any, now: float) -> str:
    """Return an RFC 3339 time or Unix seconds as seen from `now`: `3 min ago`, `in 20 s`, `just now`, `never`."""
    seconds = from_rfc3339(value) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return "never"
    distance = now - seconds
    if abs(distance) < 1:
        return "just now"
    return f"{span(distance)} ago" if distance > 0 else f"in {span(-distance)}"


def clean(text: Any) -> str:
    """Return text on one line without control characters: a platform's error must not steer anyone's terminal."""
    return "".join(character if character.isprintable() else " " for character in str(text))


def shorten(text: str, width: int) -> str:
    """Cut a text to `width` characters, with `…` for what is gone."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Break a text into lines of at most `width`, led in by `first` and then `rest`; a long word is broken too."""
    wrapper = textwrap.TextWrapper(
        width=width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )  # `--dead` and paths stay whole
    return wrapper.wrap(clean(text)) or [first.rstrip()]


def size(number: Any) -> str:
    """Return a number of bytes in its largest fitting unit of 1,024: `412 bytes`, `30 KB`, `1.5 GB`."""
    value = float(number)
    for unit in ("bytes", "KB", "MB", "GB"):
        if value < 1024 or unit == "GB":  # noqa: PLR2004  (the unit itself)
            break
        value /= 1024
    return f"{value:.1f} {unit}" if 0 < value < 10 and unit != "bytes" else f"{value:,.0f} {unit}"  # noqa: PLR2004


def counted(number: int, one: str, more: str) -> str:
    """Return `1 job`, `2,000 jobs`."""
    return f"{number:,} {one if number == 1 else more}"
