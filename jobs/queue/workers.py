"""The life of the workers: huey's consumer with its threads, started, watched and stopped by the daemon."""

import contextlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.queue.claiming_huey import ClaimingHuey, InTurn, OnFinish, OnStart
from jobs.queue.claims import ClaimQueue, Handler
from jobs.queue.hueys import Consumer, Scheduler, Worker
from jobs.queue.running import Running
from memsyncd.clock import Clock
from memsyncd.counters import Counters

RENEWALS_PER_LEASE = 3
"""A claim is renewed at a third of its lease, so that two renewals may fail before it is lost."""


class ClaimingWorker(Worker):
    """A worker thread. What it claimed with its last finish and may not begin any more, it gives back."""

    def shutdown(self) -> None:
        """Leave nothing claimed behind."""
        self.huey.give_back_next()


class Renewal(Scheduler):
    """Renews the claims of running jobs, on the thread that huey has for scheduling; due jobs need none here."""

    def loop(self, now: object = None) -> None:  # noqa: ARG002  (huey's signature)
        """Renew, then wait for a third of the lease."""
        self.huey.renew_claims()
        self.stop_flag.wait(self.huey.lease / RENEWALS_PER_LEASE)


class ClaimingConsumer(Consumer):
    """huey's consumer without its signal handlers, which belong to the daemon, and with names for its threads."""

    worker_class = ClaimingWorker
    scheduler_class = Renewal

    def _set_signal_handlers(self) -> None:
        """Set none."""

    def _create_process(self, process: Any, name: str) -> Any:
        return super()._create_process(process, f"jobs-{name.lower()}" if name != "Scheduler" else "jobs-renewal")


class Workers:
    """`count` worker threads and one that renews their claims; started once, stopped once.

    `on_start` and `on_finish` are called on the thread that runs or finds the job; what they raise is counted and
    harms nothing. `in_turn` lets runs take turns with those of others.
    Counters: `jobs_unknown_kind`, `observer_failures`, `queue_unavailable`.
    """

    def __init__(
        self,
        queue: ClaimQueue,
        handlers: Mapping[str, Handler],
        count: int,
        *,
        clock: Clock,
        counters: Counters,
        on_start: OnStart | None = None,
        on_finish: OnFinish | None = None,
        in_turn: InTurn = contextlib.nullcontext,
    ) -> None:
        self._queue = queue
        self._running = Running(clock.monotonic)
        self._begun = False
        self._is_up = False
        self._huey = ClaimingHuey(
            queue,
            handlers,
            running=self._running,
            counters=counters,
            on_start=on_start,
            on_finish=on_finish,
            in_turn=in_turn,
        )
        self._consumer = ClaimingConsumer(self._huey, workers=count, periodic=False, check_worker_health=False)

    def start(self) -> None:
        """Start the threads."""
        self._begun = True
        self._consumer.start()
        self._is_up = True  # a thread that only starts looks like one that died

    def stop(self, deadline_seconds: float) -> bool:
        """Take no more jobs, wait for those that run, at most `deadline_seconds`; return whether all came to an end.

        The claims of those that did not are given back: their attempt does not count, and what they finish later is
        counted as `claims_lost` and changes nothing.
        """
        self._huey.stopping.set()
        if not self._begun:
            return True
        self._queue.bell.wake_all()
        self._consumer.shutdown_timeout = max(deadline_seconds, 0.0)
        self._consumer.stop(graceful=True)
        left = self._running.claims()
        if left:
            self._huey.give_back(*left)
        return not any(thread.is_alive() for thread in self._threads())

    def dead_threads(self) -> Sequence[str]:
        """Return the names of threads that ended though nobody stopped them; the daemon then ends, naming them."""
        if not self._is_up or self._huey.stopping.is_set():
            return ()
        return tuple(thread.name for thread in self._threads() if thread.ident and not thread.is_alive())

    def oldest_claim_age(self) -> float:
        """Return for how many seconds the longest run of the present has been going on; 0 where nothing runs."""
        return self._running.oldest_age()

    def running(self) -> int:
        """Return how many jobs run now."""
        return len(self._running.claims())

    def fault(self) -> str:
        """Return why the store cannot be used at the moment; empty while it can."""
        return self._huey.fault

    def _threads(self) -> Sequence[threading.Thread]:
        return (*(thread for _, thread in self._consumer.worker_threads), self._consumer.scheduler)
