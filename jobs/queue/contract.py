"""The queue's contract: what the embedded and the shared queue both do, and what callers may rely on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jobs.job import Job, JobState, NewJob


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination that has failed lately. Times are Unix seconds.

    While `until` is ahead (None: not cooling) its jobs are held; after it one of them goes as the probe and the rest
    follow its success. `parked` means a person must act; it is still probed at `until`. `failures` counts failures
    in a row and sets the next wait; `since` is when the trouble began. On a shared queue each `account` has its own.
    """

    name: str
    until: float | None
    why: str
    code: str
    failures: int
    parked: bool
    since: float | None
    last_success_at: float | None
    account: str = ""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many jobs are in each state, and for how many seconds the oldest ready one has been ready."""

    ready: int
    waiting: int
    claimed: int
    done: int
    dead: int
    cancelled: int
    oldest_ready_seconds: float


class JobQueue(Protocol):
    """Every call is one transaction and is safe from any thread."""

    def enqueue(self, *jobs: NewJob) -> int:
        """Store the jobs that are new by id; return how many were."""

    def wake(self, *job_ids: str) -> int:
        """Make waiting jobs ready now; those held by a cooling destination stay held. Return how many woke."""

    def hasten(self, job_id: str, delay: float) -> bool:
        """Let a waiting job wait for at most `delay` seconds from now; False where it does not wait for longer."""

    def wake_lane(self, lane: str) -> int:
        """Wake the waiting jobs of a lane."""

    def wake_kind(self, kind: str) -> int:
        """Wake the waiting jobs of a kind."""

    def get(self, job_id: str) -> Job | None:
        """Return one job."""

    def jobs(self, *, state: JobState | None = None, kind: str = "", lane: str = "", limit: int = 100) -> Sequence[Job]:
        """Return jobs, newest change first."""

    def counts(self) -> QueueCounts:
        """Return the counts; cheap enough for every status request."""

    def retry(self, job_id: str) -> bool:
        """Make a dead, cancelled or waiting job ready with its attempts at zero; False where it is neither."""

    def reopen(self, job_id: str) -> bool:
        """Make a done job ready with a clean slate, because what it brought about is undone; else False."""

    def cancel(self, job_id: str, why: str) -> bool:
        """Cancel a ready or waiting job; False where it is neither."""

    def discard(self, job_id: str) -> bool:
        """Turn a dead letter into a cancelled job; False where it is no dead letter."""

    def erase(self, *names: str) -> int:
        """Delete every job of the lanes that is not claimed, whatever became of it: what they were for is forgotten."""

    def destinations(self) -> Sequence[Destination]:
        """Return every destination that is cooling, parked, or has succeeded since the start."""

    def release(self, destination: str) -> int:
        """End a destination's cooldown now (its key changed, or it answered); return how many jobs were held."""

    def void_claims(self) -> int:
        """Give back every claim of an earlier run (at start: only one daemon runs); each counts as a crash."""

    def shift_clock(self, seconds: float) -> None:
        """Move every stored future time by `seconds` after the wall clock jumped by as much."""

    def prune(self, *, finished_before: float, dead_before: float = 0.0) -> int:
        """Delete done and cancelled jobs last changed before one Unix time, and dead ones before another; return how
        many."""

    def close(self) -> None:
        """Release the store."""
