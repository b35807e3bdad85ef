"""What a job does with its run: one of five values, returned, or raised from the depth inside `Ended`.

Anything else a job raises is a fault of ours and counts as Retry with the error's type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.job import NewJob

WAKES_AT_ONCE = 100
"""Jobs that one outcome may wake: more would hold up the claims behind its transaction."""


class Outcome:
    """Base of the five."""


@dataclass(frozen=True, slots=True)
class Done(Outcome):
    """Finished. `summary` is one word or sentence for people; `wake_lane` lets waiting jobs of the lane look again.

    `ends` is the id of a job of the lane whose work was this one's: if it waits, it is done in the same transaction.
    `payload`, if given, replaces the job's: what came of it, in place of what it was made of.
    """

    summary: str = ""
    wake_lane: bool = False
    ends: str = ""
    payload: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Snooze(Outcome):
    """Not yet: again after `delay` seconds, or when woken; no error, no attempt used. `payload`, if given, replaces
    the job's payload, the jobs of `enqueue` that are new are stored, and the waiting jobs named in `wake` (at most
    WAKES_AT_ONCE) are made ready, in the same transaction."""

    delay: float
    why: str
    payload: Mapping[str, Any] | None = None
    enqueue: Sequence[NewJob] = ()
    wake: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Retry(Outcome):
    """This item's attempt failed: attempts + 1, again after `delay` seconds (None: the policy's own delay)."""

    why: str
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class Cool(Outcome):
    """The destination failed: hold all its jobs. `delay` seconds (Retry-After) or None for the policy's next step.

    `parked` holds until a person acts or a rare probe succeeds (refused key, quota); `code` is the problem's code in
    `status`: `offline`, `busy`, `not-understood`, `login-page`, `key-refused`, `quota`.
    """

    destination: str
    why: str
    code: str
    delay: float | None = None
    parked: bool = False


@dataclass(frozen=True, slots=True)
class GiveUp(Outcome):
    """Dead letter, kept whole with its reason."""

    why: str
    wake_lane: bool = False


class Ended(Exception):
    """Carries an outcome up from the depth of a job."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome
