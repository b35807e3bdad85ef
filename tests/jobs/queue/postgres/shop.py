"""A machine at work in this process: its queue, its workers, and all that they told."""

import queue
import random
import threading
from collections.abc import Callable
from typing import Any

from jobs.job import Job
from jobs.outcomes import Done, Outcome
from jobs.queue.claims import Handler, JobContext
from jobs.queue.policy import Policy
from jobs.queue.postgres.queue import PostgresQueue
from jobs.queue.shared import open_shared
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from memsyncd.counters import Counters

PATIENCE = 60.0
"""Seconds after which a test fails that waits for something which does not come."""


def opened(url: str, name: str, counters: Counters | None = None, **options: Any) -> PostgresQueue:
    """Open the queue by the machine's real clock."""
    return open_shared(
        url,
        host=name,
        worker=name,
        clock=Clock(),
        policy=Policy(),
        counters=counters or Counters(),
        random=random.Random(),
        **options,
    )


class Shop:
    """Works at jobs of kind `work` from its making on."""

    def __init__(
        self, url: str, name: str = "shop", workers: int = 2, handler: Handler = lambda _: Done(), **options: Any
    ) -> None:
        self.counters = Counters()
        self.ran: queue.Queue[str] = queue.Queue()
        self.told: queue.Queue[tuple[Job, Outcome, float]] = queue.Queue()
        self.queue = opened(url, name, self.counters, **options)
        self.queue.listen()
        self._handler = handler
        self.workers = Workers(
            self.queue,
            {"work": self._run},
            workers,
            clock=Clock(),
            counters=self.counters,
            on_finish=lambda *values: self.told.put(values),
        )
        self.workers.start()

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds that nobody tells of."""
        for _ in range(int(PATIENCE / 0.01)):
            if condition():
                return
            threading.Event().wait(0.01)
        raise AssertionError("it did not come to hold")

    def wait_until_idle(self) -> None:
        """Wait until it listens and its workers wait."""
        assert self.queue._listener.listening.wait(PATIENCE)
        self.wait(lambda: self.queue.bell.waiting == len(self.workers._consumer.worker_threads))

    def close(self) -> None:
        """Stop all."""
        self.workers.stop(PATIENCE)
        self.queue.close()

    def _run(self, context: JobContext) -> Outcome:
        self.ran.put(context.job.id)
        return self._handler(context)
