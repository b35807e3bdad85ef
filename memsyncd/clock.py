"""The clocks, told apart: wall time for what is stored and shown, monotonic time for waiting, and the time since the
system was started, which tells a sleep from a wall clock that was set."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memsyncd.ages import Ages

_YEAR_10000 = 253_402_300_800.0
"""Unix seconds at which the years `datetime` knows are over."""


def seconds_up() -> float:
    """Return the seconds since the system was started, those it slept included."""
    return time.clock_gettime(_UP)


_UP = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # macOS: its own CLOCK_MONOTONIC counts sleep


@dataclass(frozen=True, slots=True)
class Clock:
    """`wall` gives Unix seconds and may jump. `monotonic` and `up` give seconds from an unknown start and never do;
    while the system sleeps `up` goes on and `monotonic` stands still."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    up: Callable[[], float] = seconds_up
    _ages: Ages = field(default_factory=Ages, repr=False, compare=False)

    def age(self, moment: float) -> float:
        """Return for how many seconds something has been there that came at the Unix time `moment`: neither a sleep nor
        a wall clock that is set makes it older, as far as `look` or this has seen the clocks before."""
        return self._ages.of(moment, self.wall(), self.monotonic())

    def look(self) -> None:
        """See how the clocks stand to each other; on a timer, for the sake of `age`."""
        self._ages.look(self.wall(), self.monotonic())


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
