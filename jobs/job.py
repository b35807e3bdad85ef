"""A job as the queue gives it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

MAX_CRASHES = 3
"""Claims that may expire under a job before it is dead, "crashed the worker" (DESIGN: the queue)."""

KEPT_ERRORS = 5
"""How many of a job's last errors are kept."""


class JobState(StrEnum):
    """`ready → claimed → done`; `waiting` for a time or a cooling destination, with a reason; `dead`; `cancelled`."""

    READY = "ready"
    CLAIMED = "claimed"
    WAITING = "waiting"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


ACTIVE = frozenset({JobState.READY, JobState.CLAIMED, JobState.WAITING})
"""States from which work still follows."""


@dataclass(frozen=True, slots=True)
class JobError:
    """One failed try: when (RFC 3339, UTC) and what."""

    at: str
    why: str


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to enqueue. `id` is unique for ever: enqueueing it again is a no-op, whatever became of the first.

    At most one job of a `lane` is claimed at a time. `destination` names what cools as a whole. `delay` is seconds
    before it may run, with `reason` saying why; `priority` is higher first. `payload` holds JSON values only.
    `account` names whose the work is, on a shared queue: accounts get equal shares and cool by themselves. Empty: the
    account of the queue it is given to, or of the job whose outcome brings it.
    """

    id: str
    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    lane: str = ""
    destination: str = ""
    priority: int = 0
    delay: float = 0.0
    reason: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A row of the queue. Times are Unix seconds; `not_before` is None unless the job waits for a time.

    `account` and `host` (where it was enqueued) are empty on the embedded queue.
    """

    id: str
    kind: str
    lane: str
    destination: str
    state: JobState
    payload: Mapping[str, Any]
    priority: int
    not_before: float | None
    attempts: int
    crashes: int
    reason: str
    errors: Sequence[JobError]
    created_at: float
    updated_at: float
    account: str = ""
    host: str = ""
