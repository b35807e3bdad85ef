"""What the shared queue does beside the queue's contract, for a machine that puts jobs in for others to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jobs.job import JobState
from jobs.queue.contract import JobQueue


@dataclass(frozen=True, slots=True)
class Standing:
    """How a job stands, for whoever put it in. `payload` is what was left by the last run of one that is done; of others
    it is empty, for it may be large, and who asks has it."""

    state: JobState
    reason: str
    payload: Mapping[str, Any]


class SharedQueue(JobQueue, Protocol):
    """Raises QueueUnavailable while it cannot be reached."""

    def standings(self, job_ids: Sequence[str]) -> Mapping[str, Standing]:
        """Return how jobs stand, by their ids, of those that are there: one question however many they are."""
