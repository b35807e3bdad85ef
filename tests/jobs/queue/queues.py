"""The queues that the conformance suite is run against, and what its tests say over and over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from jobs.job import Job, NewJob
from jobs.outcomes import Outcome
from jobs.queue.claims import Claim, ClaimQueue
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.counters import Counters
from tests.clocks import HandClock
from tests.jobs.queue.fleet import a_fleet

LEASE = 60.0


@dataclass
class World:
    """A queue with a clock moved by hand; `open` opens its store anew, as another process would."""

    open: Callable[[], ClaimQueue]
    hands: HandClock
    counters: Counters
    queues: list[ClaimQueue] = field(default_factory=list)

    @property
    def queue(self) -> ClaimQueue:
        """The queue opened last."""
        if not self.queues:
            self.reopen()
        return self.queues[-1]

    def reopen(self) -> ClaimQueue:
        """Open the store anew beside what was opened before, as after a crash."""
        self.queues.append(self.open())
        return self.queues[-1]

    def enqueue(self, *ids: str, kind: str = "flush", **fields: Any) -> int:
        """Enqueue jobs that differ in their id."""
        return self.queue.enqueue(*(NewJob(job_id, kind, **fields) for job_id in ids))

    def claim(self, expected: str) -> Claim:
        """Claim, and check which job it is."""
        claim = self.queue.claim()
        assert claim is not None, f"nothing to claim, {expected} was expected"
        assert claim.job.id == expected
        return claim

    def nothing(self) -> None:
        """Check that nothing can be claimed."""
        claim = self.queue.claim()
        assert claim is None, f"{claim.job.id} could be claimed" if claim else ""

    def run(self, expected: str, outcome: Outcome, *, answered: bool = False) -> Job:
        """Claim a job and finish it."""
        job = self.queue.finish(self.claim(expected), outcome, answered=answered)
        assert job is not None
        return job

    def job(self, job_id: str) -> Job:
        """Return a job that must be there."""
        job = self.queue.get(job_id)
        assert job is not None
        return job


class Middle(Random):
    """Chance that is always in the middle: retries are not spread, cooldowns by half of their spread."""

    def random(self) -> float:
        return 0.5


@contextmanager
def sqlite_world(directory: Path, policy: Policy | None = None, random: Random | None = None) -> Iterator[World]:
    """Give a world on one SQLite file."""
    hands, counters = HandClock(), Counters()

    def opened() -> ClaimQueue:
        return SqliteQueue(
            directory / "queue.sqlite3",
            clock=hands.clock(),
            policy=policy or Policy(),
            counters=counters,
            random=random or Middle(),
            lease=LEASE,
        )

    world = World(opened, hands, counters)
    try:
        yield world
    finally:
        for queue in world.queues:
            queue.close()


@contextmanager
def postgres_world(directory: Path, policy: Policy | None = None, random: Random | None = None) -> Iterator[World]:
    """Give a world on one schema of a PostgreSQL server."""
    with a_fleet() as fleet:

        def opened() -> ClaimQueue:
            return fleet.machine(policy=policy or Policy(), random=random or Middle())

        yield World(opened, fleet.hands, fleet.counters)


FACTORIES = {"sqlite": sqlite_world, "postgres": postgres_world}
"""Every store that is to keep the contract."""
