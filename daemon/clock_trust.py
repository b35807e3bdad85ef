"""Whether the wall clock is believed, before anything is deleted because of its age.

Under a clock that is far ahead (a typing error, a restored machine, a broken battery) everything has had its days, and
what is deleted does not come back with the right time. So one that says something quite other than when the daemon
last looked, as after a long time without a daemon too, is believed only once it has gone on for some days.
"""

import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from memsyncd import regular_file
from memsyncd.clock import Clock, rfc3339

NAME = "clock.json"
"""In the data directory."""

MAX_BYTES = 64 * 1024

DAY_SECONDS = 86_400.0

STEP_SECONDS = 7 * DAY_SECONDS
"""A clock that is further than this from what the last look leads to expect is doubted."""

PROOF_SECONDS = 3 * DAY_SECONDS
"""For so long a doubted clock has to go on without another such step."""

KEPT_SECONDS = 3600.0
"""How often the time of the last look is written down."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the looks have seen; Unix seconds. `believed` is the last time that was believed. `doubted` is when the
    doubt began, by the doubted clock, and None without one; `last` is its last look."""

    believed: float
    doubted: float | None = None
    last: float = 0.0

    @property
    def is_believed(self) -> bool:
        """Whether there is no doubt."""
        return self.doubted is None

    def told(self) -> str:
        """Say what a doubt is about."""
        days = round((self.last - self.believed) / DAY_SECONDS)
        where = "after" if days >= 0 else "before"
        until = rfc3339((self.doubted or 0.0) + PROOF_SECONDS)
        return f"{abs(days):,} days {where} {rfc3339(self.believed)}, believed from {until} on"


def after_look(seen: Seen | None, now: float, passed: float = 0.0) -> Seen:
    """Return what is known after a look at a clock that says `now`. Of the time since the look before `passed` seconds
    are sure to have gone by. Without an earlier look it is believed."""
    if seen is None or _is_near(now, seen.believed + passed):
        return Seen(now)
    if seen.doubted is None or not _is_near(now, seen.last + passed):
        return Seen(seen.believed, doubted=now, last=now)
    if now - seen.doubted >= PROOF_SECONDS:
        return Seen(now)
    return replace(seen, last=now)


def _is_near(now: float, expected: float) -> bool:
    return abs(now - expected) <= STEP_SECONDS


class ClockTrust:
    """Asked on every tick, on one thread. `seen` is what the last look left."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._kept = read(path)
        self._looked_at = clock.up()
        self.seen = after_look(self._kept, clock.wall())

    @property
    def is_believed(self) -> bool:
        """Whether what has had its days by this clock may be deleted."""
        return self.seen.is_believed

    def look(self) -> None:
        """Look at the clock, and write it down where there is news. Raises OSError; the look counts all the same."""
        before, self._looked_at = self._looked_at, self._clock.up()
        self.seen = after_look(self.seen, self._clock.wall(), self._looked_at - before)
        if self._is_news():
            _write(self._path, self.seen)
            self._kept = self.seen

    def _is_news(self) -> bool:
        kept, seen = self._kept, self.seen
        if kept is None or kept.doubted != seen.doubted:
            return True
        return abs(seen.believed - kept.believed) >= KEPT_SECONDS or abs(seen.last - kept.last) >= KEPT_SECONDS


def read(path: Path) -> Seen | None:
    """Return what an earlier run wrote; None where there is nothing that makes sense."""
    try:
        found = regular_file.document(path, MAX_BYTES)
        doubted = found["doubted"]
        seen = Seen(float(found["believed"]), None if doubted is None else float(doubted), float(found["last"]))
        seen.told()
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return None
    return seen


def _write(path: Path, seen: Seen) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="utf-8") as file:
            json.dump({"believed": seen.believed, "doubted": seen.doubted, "last": seen.last}, file)
        os.rename(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
