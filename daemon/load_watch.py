"""Samples, once a minute, how much waits and what was done, for the charts of the last day."""

import contextlib
from collections.abc import Mapping

from daemon.compose import Parts
from daemon.observer import STANDING
from daemon.status.history import MINUTE_SECONDS, Sample
from jobs.job import JobState

COUNTERS: Mapping[str, str] = {
    "taken": "handoffs_recorded",
    "delivered": "packets_delivered",
    "refused": "packets_refused",
    "recalls": "recalls",
    "recall_milliseconds": "recall_milliseconds",
}
"""Which counter's rise within the minute a sample tells under which name."""


class LoadWatch:
    """Asked on every tick, on one thread; does something once the minute is over."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._minute = self._present()
        self._counted: Mapping[str, int] = parts.counters.snapshot()

    def look(self) -> None:
        """Keep a sample of the minute that is over. Raises OSError and QueueError."""
        present = self._present()
        if present == self._minute:
            return
        over, self._minute = self._minute, present
        before, self._counted = self._counted, self._parts.counters.snapshot()
        rises = {name: self._counted.get(each, 0) - before.get(each, 0) for name, each in COUNTERS.items()}
        self._parts.history.keep(self._sample(over, rises))

    def _sample(self, minute: int, rises: Mapping[str, int]) -> Sample:
        parts = self._parts
        pending = 0
        for spool in parts.served.spools():
            with contextlib.suppress(OSError):  # `status` tells of a spool that cannot be read
                pending += spool.counts(parts.clock.age).pending
        jobs = parts.queue.counts()
        timers = sum(len(parts.queue.jobs(state=JobState.WAITING, kind=kind)) for kind in STANDING)
        return Sample(
            minute,
            pending=pending,
            queued=jobs.ready + max(0, jobs.waiting - timers),
            running=jobs.claimed,
            dead=jobs.dead,
            open=parts.extractions.counts()[0],
            waited_seconds=jobs.oldest_ready_seconds,
            **rises,
        )

    def _present(self) -> int:
        return int(self._parts.clock.wall() // MINUTE_SECONDS)
