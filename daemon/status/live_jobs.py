"""What people see and do of the running daemon's jobs."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from daemon.compose import Parts
from daemon.intake.spool import Spool
from daemon.status.job_document import job_document
from jobs.fleet.shared_batch import DELIVER
from jobs.job import Job, JobState
from jobs.queue.contract import JobQueue
from jobs.queue.postgres.names import SHOWN_KEY
from jobs.recovery import retry_by_person


class LiveJobs:
    """The queue, and the handoffs kept beside its dead letters. `on_revived` is called when one waits again."""

    def __init__(self, parts: Parts, on_revived: Callable[[], None]) -> None:
        self._parts = parts
        self._on_revived = on_revived

    def listed(self, state: str | None, kind: str | None, limit: int) -> list[Mapping[str, Any]]:
        """Return jobs, newest change first."""
        found = self._parts.queue.jobs(state=JobState(state) if state else None, kind=kind or "", limit=limit)
        return [job_document(job) for job in found]

    def shared(self, state: str | None, kind: str | None, limit: int) -> list[Mapping[str, Any]] | None:
        """Return the jobs of every host that shares the queue, newest change first; None where none does."""
        if self._parts.fleet is None:
            return None
        queue = self._parts.fleet.connection.queue()
        found = queue.jobs(state=JobState(state) if state else None, kind=kind or "", limit=limit)
        return [job_document(job) for job in found]

    def one(self, job_id: str) -> Mapping[str, Any] | None:
        """Return one job."""
        found = self._queue_of(job_id).get(job_id)
        return None if found is None else job_document(found)

    def retry(self, job_id: str) -> str:
        """Make a dead or waiting job ready; the handoff that was kept for it waits again."""
        queue = self._queue_of(job_id)
        job = queue.get(job_id)
        is_done = retry_by_person(queue, job_id)
        if is_done and (kept := self._kept(job)) is not None:
            with contextlib.suppress(OSError):  # it stays a dead letter by itself then, and is listed as one
                kept[0].revive(kept[1])
            self._on_revived()
        return self._answer(job_id, is_done, JobState.READY, JobState.CLAIMED)

    def discard(self, job_id: str) -> str:
        """Drop a dead letter, and the handoff kept for it."""
        queue = self._queue_of(job_id)
        job = queue.get(job_id)
        is_done = queue.discard(job_id)
        if is_done and (kept := self._kept(job)) is not None:
            with contextlib.suppress(OSError):
                kept[0].discard(kept[1])
        return self._answer(job_id, is_done, JobState.CANCELLED)

    def _queue_of(self, job_id: str) -> JobQueue:
        """Return the queue that a job is in, told by its id."""
        fleet = self._parts.fleet
        if fleet is not None and job_id.startswith((f"{DELIVER}:", SHOWN_KEY)):
            return fleet.connection.queue()
        return self._parts.queue

    def _kept(self, job: Job | None) -> tuple[Spool, str] | None:
        """Return the spool and name of the handoff kept for a job; None where there is none or its spool is gone."""
        if job is None or not job.payload.get("handoff"):
            return None
        try:
            return self._parts.served.spool(str(job.payload["spool"])), str(job.payload["handoff"])
        except KeyError:
            return None

    def _answer(self, job_id: str, is_done: bool, *already: JobState) -> str:
        job = self._queue_of(job_id).get(job_id)
        if is_done or job is None:
            return "done" if is_done else "unknown"
        return "already so" if job.state in already else f"it is {job.state}"
