"""A claim, what a job's code gets of it, and what the workers need of a queue beyond `jobs.queue.contract.JobQueue`."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jobs.job import Job
from jobs.outcomes import Outcome
from jobs.queue.contract import JobQueue
from jobs.queue.doorbell import Doorbell

LEASE_SECONDS = 60.0
"""How long a claim lasts unless renewed: some times the longest request, and renewed thrice in its time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A job taken for work. `owner` is unique to this claim: a later claim of the same job has another."""

    job: Job
    owner: str


Keep = Callable[[Mapping[str, Any]], bool]


def _keeps_nothing(payload: Mapping[str, Any]) -> bool:
    raise NotImplementedError("this run has no claim to write to")


class JobContext:
    """Given to a handler for one run of one job."""

    def __init__(self, job: Job, stopping: threading.Event, keep: Keep = _keeps_nothing) -> None:
        self.job = job
        """The job as it was claimed."""
        self.stopping = stopping
        """Set when the workers stop: a handler that takes long looks at it and returns soon, say with a Snooze."""
        self.keep = keep
        """Write a new payload down in the midst of the run, on the disk before this returns, as that a request is
        about to leave. False where the claim was lost. May raise QueueUnavailable."""
        self._answered = False

    def answered(self) -> None:
        """Say that the job's destination gave a valid answer in this run.

        At its end, in the same transaction, the destination's cooldown is over and its failures are forgotten.
        """
        self._answered = True

    @property
    def has_answered(self) -> bool:
        """Whether `answered` was called."""
        return self._answered


Handler = Callable[[JobContext], Outcome]
"""Runs on a worker thread. Returns an outcome or raises `outcomes.Ended`; any other exception counts as a Retry."""


class ClaimQueue(JobQueue, Protocol):
    """The workers' side of a queue.

    Every call is one transaction, safe from any thread, and may raise `jobs.queue.errors.QueueUnavailable`, in which
    case nothing happened.
    """

    on_settled: Callable[[Job, Outcome], None] | None
    """Told, after the commit, of a job that ended otherwise than by a run of its own: dead of crashes, undecodable, of
    no known kind; or done because another's `Done` ended it."""

    @property
    def storage(self) -> Any:
        """What huey holds as its storage: the connection, and `blocking` true, since claiming waits by itself."""

    @property
    def bell(self) -> Doorbell:
        """Rung after each commit that made work claimable."""

    @property
    def lease(self) -> float:
        """Seconds a claim lasts."""

    def claim(self) -> Claim | None:
        """Take the next job: highest priority, then first come.

        Never a second of a lane; of a cooling destination only its probe. Expired claims are given back and due jobs
        made ready on the way, a bounded number in each call.
        """

    def seconds_to_next(self) -> float | None:
        """Return in how many seconds the next wait ends that could make a job claimable; None where none does."""

    def finish(self, claim: Claim, outcome: Outcome, *, answered: bool = False) -> Job | None:
        """Apply a run's outcome, once; return the job as it then stands, None where the claim was lost."""

    def finish_and_claim(
        self, claim: Claim, outcome: Outcome, *, answered: bool = False
    ) -> tuple[Job | None, Claim | None]:
        """Finish, and take the next job in the same commit."""

    def keep(self, claim: Claim, payload: Mapping[str, Any]) -> bool:
        """Replace a claimed job's payload, on the disk before this returns; False where the claim was lost. TypeError,
        ValueError: it is not JSON."""

    def unclaim(self, *claims: Claim) -> int:
        """Give claims back as if never taken: no attempt, no crash. Return how many were still held."""

    def renew(self) -> int:
        """Extend the claims of this process's living workers to a lease from now; return how many."""

    def abandon(self, claim: Claim) -> None:
        """Stop renewing a claim whose worker is gone: it expires and counts as a crash."""

    def set_aside(self, claim: Claim, why: str) -> Job | None:
        """Turn a claimed job into a dead letter without a run (nobody handles its kind)."""
