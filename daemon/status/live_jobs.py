"""What people see and do of the running daemon's jobs."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from daemon.compose import Parts
from daemon.intake.spool import Spool
from daemon.status.job_document import job_document
from jobs.job import Job, JobState
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

    def one(self, job_id: str) -> Mapping[str, Any] | None:
        """Return one job."""
        found = self._parts.queue.get(job_id)
        return None if found is None else job_document(found)

    def retry(self, job_id: str) -> str:
        """Make a dead or waiting job ready; the handoff that was kept for it waits again."""
        job = self._parts.queue.get(job_id)
        is_done = retry_by_person(self._parts.queue, job_id)
        if is_done and (kept := self._kept(job)) is not None:
            with contextlib.suppress(OSError):  # it stays a dead letter by itself then, and is listed as one
                kept[0].revive(kept[1])
            self._on_revived()
        return self._answer(job_id, is_done, JobState.READY, JobState.CLAIMED)

    def discard(self, job_id: str) -> str:
        """Drop a dead letter, and the handoff kept for it."""
        job = self._parts.queue.get(job_id)
        is_done = self._parts.queue.discard(job_id)
        if is_done and (kept := self._kept(job)) is not None:
            with contextlib.suppress(OSError):
                kept[0].discard(kept[1])
        return self._answer(job_id, is_done, JobState.CANCELLED)

    def _kept(self, job: Job | None) -> tuple[Spool, str] | None:
        """Return the spool and name of the handoff kept for a job; None where there is none or its spool is gone."""
        if job is None or not job.payload.get("handoff"):
            return None
        try:
            return self._parts.served.spool(str(job.payload["spool"])), str(job.payload["handoff"])
        except KeyError:
            return None

    def _answer(self, job_id: str, is_done: bool, *already: JobState) -> str:
        job = self._parts.queue.get(job_id)
        if is_done or job is None:
            return "done" if is_done else "unknown"
        return "already so" if job.state in already else f"it is {job.state}"
