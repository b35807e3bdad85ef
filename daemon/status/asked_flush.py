"""A flush that somebody asks for: queued for every session it is about, and answered as it goes."""

import asyncio
import contextlib
import os
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from daemon.compose import Parts
from daemon.status.not_taken_in import why_not_all
from jobs.checkpoint import BEING_DELIVERED
from jobs.delivery import FLUSH, lane
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import ACTIVE, Job, JobState
from jobs.recovery import asked_by_person
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import Scope
from memsyncd.evidence.store import EvidenceStore

SCAN_FIRST_SECONDS = 5.0
"""How long a flush waits for what hooks have just dropped to be taken in."""

PASSING = (EXTRACTION_OPEN, ABOUT_TO_LOOK)
"""How the reasons of a flush begin that waits for what is sure to come soon."""

ASKED_AGAIN_SECONDS = 0.5
"""While a flush is waited for, how long the next event is awaited before the state is looked at anyway."""


class AskedFlush:
    """Answers one asking after another. `scan` takes in what waits, for so many seconds at most."""

    def __init__(self, parts: Parts, scan: Callable[[float], object]) -> None:
        self._parts = parts
        self._scan = scan

    async def ask(self, session: str | None, cwd: str | None, wait_seconds: float) -> dict[str, Any]:
        """Queue a checkpoint for every session with something to send, and wait for their ends if asked to."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._scan, SCAN_FIRST_SECONDS)
        asked = await loop.run_in_executor(None, self.queued, session, cwd)
        deadline = loop.time() + wait_seconds
        last_seen = 0
        while True:
            answer = await loop.run_in_executor(None, self._answer, asked, session or cwd)
            left = deadline - loop.time()
            if answer["outcome"] != "waiting" or left <= 0:
                return answer
            seen = await self._parts.journal.following(last_seen, min(left, ASKED_AGAIN_SECONDS))
            last_seen = max((event["id"] for event in seen["events"]), default=last_seen)

    def _answer(self, asked: Sequence[str], chosen: str | None) -> dict[str, Any]:
        """Return the outcome of what was asked; put off, where that is over, by a spool of which nothing is taken in,
        unless something `chosen` was delivered."""
        answer = self.outcome(asked)
        is_over = answer["outcome"] == "nothing" or (answer["outcome"] == "delivered" and not chosen)
        why = why_not_all(self._parts.findings) if is_over else ""
        return answer | {"outcome": "put-off", "reason": why} if why else answer

    def queued(self, session: str | None, cwd: str | None) -> list[str]:
        """Queue a checkpoint for each session that has something to send; return their ids."""
        key = uuid.uuid4().hex[:12]
        asked: list[str] = []
        for spool, store in self._parts.served.stores():
            with contextlib.suppress(EvidenceError):  # one store that cannot be read hides no other; `status` tells
                asked += asked_by_person(spool.name, self._chosen(store, session, cwd), key, self._parts.delivery)
        return asked

    def _chosen(self, store: EvidenceStore, session: str | None, cwd: str | None) -> list[str]:
        """Return the sessions of a store that have something to send."""
        if store.read_only:
            return []
        waiting = {activity.session_id for activity in store.sessions_with_unflushed()}
        waiting |= {packet.session_id for packet in store.open_packets()}
        return [
            name
            for name in sorted(waiting)
            if (session is None or name == session) and (cwd is None or _is_in(store.scope(name), cwd))
        ]

    def outcome(self, asked: Sequence[str]) -> dict[str, Any]:
        """Return the answer of a flush as it stands; `waiting` while nothing is decided."""
        jobs = [job for name in asked if (job := self._parts.queue.get(name)) is not None]
        packets = sum(len(job.payload.get("packets", ())) for job in jobs)
        refused = [job for job in jobs if job.state in (JobState.DEAD, JobState.CANCELLED)]
        if any(job.state in ACTIVE for job in jobs):
            reason = next((why for job in jobs if (why := self._put_off(job))), "")
            return {"outcome": "put-off" if reason else "waiting", "packets": packets, "reason": reason}
        if refused:
            return {"outcome": "refused", "packets": packets, "reason": refused[0].reason}
        return {"outcome": "delivered" if packets else "nothing", "packets": packets, "reason": ""}

    def _put_off(self, job: Job) -> str:
        """Return why a checkpoint's packet waits for something that time alone does not bring, or an empty text."""
        if job.state is not JobState.WAITING:
            return ""
        if job.reason != BEING_DELIVERED:
            return job.reason
        spool, session = str(job.payload["spool"]), str(job.payload["session"])
        under_way = self._parts.queue.jobs(kind=FLUSH, lane=lane(spool, session), limit=10)
        waiting = [flush for flush in under_way if flush.state is JobState.WAITING]
        return next((flush.reason for flush in waiting if not flush.reason.startswith(PASSING)), "")


def _is_in(scope: Scope | None, cwd: str) -> bool:
    try:
        root = os.path.realpath(cwd)
        return scope is not None and os.path.commonpath((root, scope.root)) in (root, scope.root)
    except ValueError:  # a NUL, or a root that is no path of this system: nothing is in it
        return False
