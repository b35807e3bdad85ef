"""The two clocks, told apart: wall time for what is stored and shown, monotonic time for waiting."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

_YEAR_10000 = 253_402_300_800.0
"""Unix seconds at which the years `datetime` knows are over."""


@dataclass(frozen=True, slots=True)
class Clock:
    """`wall` gives Unix seconds and may jump; `monotonic` gives seconds from an unknown start and never does."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic


def rfc3339(seconds: float) -> str:
    """Return Unix `seconds` as RFC 3339 in UTC with milliseconds and a `Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_rfc3339(text: str) -> float | None:
    """Return Unix seconds for an ISO 8601 / RFC 3339 `text` (no offset: UTC), or None where it is none or, in UTC, is
    outside the years 1 to 9999: what this returns, `rfc3339` takes."""
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds < _YEAR_10000 else None  # the last microseconds of 9999 are rounded up to it
