"""Ours: claims on huey, one SQLite file, full sync."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.rivals.rival import Act
from jobs.job import NewJob
from jobs.outcomes import Done, Outcome
from jobs.queue.claims import JobContext
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from memsyncd.counters import Counters


class MemsyncdQueue:
    """As the daemon uses it; what an earlier run had claimed is given back at the start, as there."""

    def __init__(self, place: Path) -> None:
        self._queue = SqliteQueue(
            place / "queue.sqlite3", clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random(1)
        )

    def put(self, number: int) -> None:
        """See Rival."""
        self._queue.enqueue(_job(number))

    def fill(self, numbers: range) -> None:
        """See Rival."""
        self._queue.enqueue(*(_job(number) for number in numbers))

    @contextmanager
    def work(self, workers: int, act: Act) -> Iterator[None]:
        """See Rival."""

        def handler(context: JobContext) -> Outcome:
            act(int(context.job.payload["number"]))
            return Done()

        self._queue.void_claims()
        at_work = Workers(self._queue, {"work": handler}, workers, clock=Clock(), counters=Counters())
        at_work.start()
        try:
            yield
        finally:
            at_work.stop(10)

    def close(self) -> None:
        """See Rival."""
        self._queue.close()


def _job(number: int) -> NewJob:
    return NewJob(f"j{number}", "work", payload={"number": number}, lane=f"s{number % 500}")
