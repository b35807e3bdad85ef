"""What the shared queue does beside the queue's contract, for a machine that puts jobs in for others to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jobs.job import JobState
from jobs.queue.contract import JobQueue

UNUSABLE = "the shared queue cannot be used: "
"""How the message of its QueueUnavailable begins."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a job stands, for whoever put it in. `payload` is what the last run of a done one left. Of others it is
    empty: it may be large, and who asks has it."""

    state: JobState
    reason: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Serves:
    """What a worker can deliver: the batches of `accounts`, whose keys it has, for `destination`."""

    accounts: frozenset[str]
    destination: str


@dataclass(frozen=True, slots=True)
class Unserved:
    """An account's jobs for a destination that no worker takes that runs. The first of them is ready for `seconds`."""

    account: str
    destination: str
    seconds: float


class SharedQueue(JobQueue, Protocol):
    """Raises QueueUnavailable while it cannot be reached. `identity` tells it from every other one."""

    identity: str

    def standings(self, job_ids: Sequence[str]) -> Mapping[str, Standing]:
        """Return how jobs stand, by their ids, of those that are there: one question however many they are."""
