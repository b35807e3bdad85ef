"""A drain that somebody asks for before a machine goes: everything that it holds leaves it, or is told."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from daemon.compose import Parts
from daemon.status.asked_flush import PASSING, SCAN_FIRST_SECONDS, AskedFlush
from daemon.status.not_taken_in import why_not_all
from jobs.checkpoint import BEING_DELIVERED
from jobs.job import JobState
from jobs.recovery import MANUAL
from memsyncd.evidence.errors import EvidenceError

ASKED_AGAIN_SECONDS = 0.1
"""How long the next event is awaited before the state is looked at anyway: a handoff goes after the last of them."""

LOOKED_AT = 200
"""Waiting jobs that are asked for the reason why something stays."""

_OF_THEMSELVES = (*PASSING, BEING_DELIVERED, MANUAL)
"""How the reasons of jobs begin that go on by themselves, soon."""


class AskedDrain:
    """Answers one asking after another. `scan` takes in what waits, for so many seconds at most; `flush` queues what
    every session has."""

    def __init__(self, parts: Parts, scan: Callable[[float], object], flush: AskedFlush) -> None:
        self._parts = parts
        self._scan = scan
        self._flush = flush

    async def ask(self, wait_seconds: float) -> dict[str, Any]:
        """Queue everything, and wait until nothing is left here, or until only waiting is left that no wait of ours
        ends; `left` counts what there is."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_seconds
        await loop.run_in_executor(None, self._scan, SCAN_FIRST_SECONDS)
        await loop.run_in_executor(None, self._flush.queued, None, None)
        last_seen = 0
        while True:
            left = await loop.run_in_executor(None, self._left)
            remaining = deadline - loop.time()
            if not any(left.values()) or remaining <= 0:
                return await loop.run_in_executor(None, self._answer, left)
            seen = await self._parts.journal.following(last_seen, min(remaining, ASKED_AGAIN_SECONDS))
            last_seen = max((event["id"] for event in seen["events"]), default=last_seen)

    def _left(self) -> dict[str, int]:
        """Count the handoffs, events and packets that are on this machine alone."""
        handoffs = events = packets = 0
        for spool in self._parts.served.spools():
            counted = spool.counts(self._parts.clock.age)
            handoffs += counted.pending + counted.running
        for _, store in self._parts.served.stores():
            with contextlib.suppress(EvidenceError):  # `status` tells of a store that cannot be read
                counts = store.counts()
                events += counts["unflushed"] if store.own else 0
                packets += counts["packets_open"]
        return {"handoffs": handoffs, "events": events, "packets": packets}

    def _answer(self, left: dict[str, int]) -> dict[str, Any]:
        untaken = why_not_all(self._parts.findings)
        is_over = not any(left.values()) and not untaken
        return {
            "outcome": "drained" if is_over else "waiting",
            "shared": self._parts.fleet is not None,
            "left": left,
            "reason": "" if is_over else untaken or self._why(),
        }

    def _why(self) -> str:
        """Return why something stays, where a job says so."""
        waiting = self._parts.queue.jobs(state=JobState.WAITING, limit=LOOKED_AT)
        return next((job.reason for job in waiting if job.lane and not job.reason.startswith(_OF_THEMSELVES)), "")
