"""Claims of telemetry files: their names, how long one lasts, and what becomes of it then. Pure.

A claim is the spool renamed to `telemetry-<pid>-<8 hex>-a<attempt>.sending`; its mtime is the heartbeat (facts 12.10).
Plugins' own senders keep the same rules in the same directory, so nothing of this is ours alone to change.
"""

import re
from dataclasses import dataclass, replace
from enum import Enum

SENDING, PARTIAL = ".sending", ".partial"
CORRUPT, REJECTED, EXPIRED = ".corrupt", ".rejected", ".expired"
SET_ASIDE = (CORRUPT, REJECTED, EXPIRED)
"""Suffixes of what is kept and never sent: not readable, refused by the endpoint, or tried in vain for too long."""

LEASE_SECONDS = 120.0
"""A claim touched more recently is its owner's (facts 12.10)."""

COOLDOWN_SECONDS, LONGEST_COOLDOWN_SECONDS = 60.0, 120.0
"""Between the tries of one claim: the first for each attempt, the second at most (facts 12.15)."""

MAX_ATTEMPT = 3
"""The highest attempt in a name: four sends in all (facts 12.16)."""

DAY_SECONDS = 86400.0

KEPT_SECONDS = 7 * DAY_SECONDS
"""What nobody touched for so long is not sent any more (facts 12.16), and what was set aside goes (facts 12.20), where
the settings say nothing else. Infinity is for ever."""

_PREFIX = "telemetry-"
_ATTEMPT = re.compile(r"a[0-9]{1,9}", re.ASCII)


class Verdict(Enum):
    """How a claim stands. LIVE is its owner's; FUTURE has a heartbeat that is still to come, so a clock was moved;
    STALE is for whoever comes first; EXPIRED has had its tries or its time."""

    LIVE = "live"
    FUTURE = "future"
    STALE = "stale"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class ClaimName:
    """A claim's name in its parts. `owner` is the pid and the 8 hex digits as they stand in it."""

    owner: str
    attempt: int = 0

    def file(self, suffix: str = SENDING) -> str:
        """Return the file's name, or that of what comes from it."""
        return f"{_PREFIX}{self.owner}-a{self.attempt}{suffix}"

    def at(self, attempt: int) -> "ClaimName":
        """Return the same owner's claim at another attempt."""
        return replace(self, attempt=attempt)


def parse(name: str) -> ClaimName | None:
    """Return the parts of a claim's file name; None for another file's.

    The attempt is known by its place, the third, for a hex id may begin with an `a` as well (facts 12.11).
    """
    if not name.startswith(_PREFIX) or not name.endswith(SENDING):
        return None
    fields = name[len(_PREFIX) : -len(SENDING)].split("-")
    attempt = int(fields[2][1:]) if len(fields) > 2 and _ATTEMPT.fullmatch(fields[2]) else 0  # noqa: PLR2004
    return ClaimName("-".join(fields[:2]), attempt)


def is_derived(name: str, *suffixes: str) -> bool:
    """Whether a file comes from a claim or a live spool, whoever's, and has one of the suffixes."""
    return name.startswith((_PREFIX, "telemetry.")) and name.endswith(suffixes)


def judge(attempt: int, touched_at: float, now: float, kept_seconds: float = KEPT_SECONDS) -> Verdict:
    """Return how a claim stands that was touched at `touched_at`; times are Unix seconds.

    Whether it lives comes before whether its tries are used up: its owner may be at the last of them (facts 12.17).
    """
    age = now - touched_at
    if age < 0:
        return Verdict.FUTURE
    if age < LEASE_SECONDS:
        return Verdict.LIVE
    return Verdict.EXPIRED if attempt >= MAX_ATTEMPT or age >= kept_seconds else Verdict.STALE


def backdated(attempt: int, now: float) -> float:
    """Return the mtime that makes a released claim free after its cooldown, and that is never in the future."""
    return now - LEASE_SECONDS + min(COOLDOWN_SECONDS * attempt, LONGEST_COOLDOWN_SECONDS)
