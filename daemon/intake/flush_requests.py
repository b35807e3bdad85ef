"""What flush handoffs ask for: a job for each, and the claimed file held until that job is over."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from daemon.intake.spool import WAITING, Spool
from jobs.delivery import checkpoint_job
from jobs.job import ACTIVE, Job, JobState, NewJob
from jobs.queue.contract import JobQueue
from jobs.queue.errors import QueueError
from memsyncd.counters import Counters
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.adapters import session_of
from memsyncd.hooks.handoff import Handoff
from memsyncd.hooks.record import Record

_MAX_STEM = 100

WITHDRAWN = "its handoff was withdrawn"
"""The reason of a job whose file its writer took away; should the file come back, so does the job."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A claimed and parsed handoff with the records in it."""

    stem: str
    handoff: Handoff
    records: Sequence[Record]
    age_seconds: float


@dataclass
class FlushRequests:
    """Used by the thread that owns the spools; `over` also by the workers' threads.

    `held` has the claimed handoffs by the id of the job each waits for.
    """

    queue: JobQueue
    counters: Counters
    on_event: Callable[..., None]
    held: dict[str, tuple[Spool, str]] = field(default_factory=dict)
    _unsettled: dict[str, tuple[JobState, str]] = field(default_factory=dict)

    def ask(self, spool: Spool, store: EvidenceStore, flushes: Sequence[Taken]) -> None:
        """Queue a job for each claimed handoff and hold it; of one session's idle ones only the newest.

        Raises EvidenceError, QueueError and OSError; the handoffs are to be given back then, and dropped here.
        """
        if not flushes:
            return
        requests = [(taken, _flush_request(spool, taken, store)) for taken in flushes]
        over = {job.id for _, job in requests if _is_idle(job) and self._is_over(job.id)}
        newest = _newest_idle([(taken, job) for taken, job in requests if job.id not in over])
        for job in newest.values():
            self._replace_idle(job)
        jobs = [job for _, job in requests if not _is_idle(job) or newest.get(job.lane) is job or job.id in over]
        self.queue.enqueue(*jobs)
        self.counters.add("handoffs_queued", len(jobs))
        asked = {job.id for job in jobs}
        for taken, job in requests:
            self.held[job.id] = (spool, taken.stem)
            spool.touch(taken.stem)
            if job.id not in asked:
                self.over(job.id, JobState.CANCELLED, "replaced")
        for job in jobs:
            known = self._taken_back(self.queue.get(job.id))
            if known is not None and known.state not in ACTIVE:
                self.over(job.id, known.state, known.reason)
            else:
                self.on_event("flush-asked", spool=spool.name, job=job.id, reason=str(job.payload["reason"]))

    def _is_over(self, job_id: str) -> bool:
        known = self.queue.get(job_id)
        return known is not None and known.state not in ACTIVE

    def _taken_back(self, known: Job | None) -> Job | None:
        """Take a withdrawal back: the file is there again (given back by a plugin, on a disk that was away)."""
        if known is None or known.state is not JobState.CANCELLED or known.reason != WITHDRAWN:
            return known
        self.queue.retry(known.id)
        return self.queue.get(known.id)

    def _replace_idle(self, newer: NewJob) -> None:
        """Withdraw an earlier idle handoff of the session: the newer one takes its place (facts 1.20)."""
        for job in self.queue.jobs(state=JobState.WAITING, lane=newer.lane):
            is_asleep = job.payload.get("reason") == "idle" and not job.payload.get("packets")
            if is_asleep and job.id != newer.id and self.queue.cancel(job.id, "a newer idle handoff took its place"):
                self.over(job.id, JobState.CANCELLED, "replaced")

    def drop(self, spool: Spool, stems: Collection[str]) -> None:
        """Hold handoffs no more that were given back: they will be claimed, and find their jobs, again."""
        for job_id, (other, stem) in list(self.held.items()):
            if other is spool and stem in stems:
                self.held.pop(job_id, None)

    def over(self, job_id: str, state: JobState, why: str) -> None:
        """Let go of the handoff a finished job was held for: unlinked when done or withdrawn, buried when dead. Where
        the disk refuses, it is held on, and `settle` tries again."""
        held = self.held.pop(job_id, None)
        if held is None:
            return
        spool, stem = held
        try:
            if state is JobState.DEAD:
                spool.bury(stem, why or "given up")
                self.counters.add("handoffs_dead")
            elif not spool.finish(stem):
                spool.discard(stem)  # it was revived by a person's retry of its job
        except OSError:
            self.held[job_id] = held
            self._unsettled[job_id] = (state, why)

    def settle(self) -> None:
        """Let go of what could not be let go of when its job was over."""
        for job_id, (state, why) in list(self._unsettled.items()):
            self._unsettled.pop(job_id, None)
            self.over(job_id, state, why)

    def beat(self) -> None:
        """Beat the hearts of the held claims; a withdrawn idle handoff ends its job (facts 1.19)."""
        for job_id, (spool, stem) in list(self.held.items()):
            with contextlib.suppress(OSError, QueueError):  # the scan tells of it, and the next beat may succeed
                if not spool.touch(stem) and _is_withdrawn(spool, stem) and self.queue.cancel(job_id, WITHDRAWN):
                    self.held.pop(job_id, None)

    def give_back(self) -> None:
        """Return every held claim to those that wait, for a clean stop."""
        while self.held:
            with contextlib.suppress(KeyError):  # a worker that ends late lets go of its own at the same time
                _, (spool, stem) = self.held.popitem()
                give_back(spool, stem)


def give_back(spool: Spool, stem: str) -> None:
    """Return a claim to those that wait; where the file system refuses, it goes back by itself once it is stale."""
    with contextlib.suppress(OSError):
        spool.give_back(stem)


def _is_withdrawn(spool: Spool, stem: str) -> bool:
    """Whether a handoff is gone for good: its directory is there (no disk is away), and it was not given back."""
    return spool.pending.is_dir() and not os.path.lexists(spool.pending / (stem + WAITING)) and not spool.is_held(stem)


def _is_idle(job: NewJob) -> bool:
    return str(job.payload["reason"]) == "idle"


def _newest_idle(requests: Sequence[tuple[Taken, NewJob]]) -> dict[str, NewJob]:
    """Return the youngest idle request of each lane: the names of plugins' handoffs do not tell their order."""
    newest: dict[str, NewJob] = {}
    for _, job in sorted(requests, key=lambda request: -request[0].age_seconds):
        if _is_idle(job):
            newest[job.lane] = job
    return newest


def _flush_request(spool: Spool, taken: Taken, store: EvidenceStore) -> NewJob:
    handoff = taken.handoff
    session = session_of(handoff)
    last = store.last_event(session) if spool.own else None  # a plugin's own rule stops at a resumption (facts 2.28)
    left = max(0.0, handoff.delay_seconds - max(0.0, taken.age_seconds))
    return checkpoint_job(
        spool.name,
        session,
        key=safe_name(taken.stem),
        reason=handoff.reason or "manual",
        delay=left,
        why="its delay is not over" if left else "",
        handoff=taken.stem,
        until=last.id if last is not None else 0,
        wait_for_inflight=handoff.wait_for_inflight,
    )


def safe_name(stem: str) -> str:
    """Return a name for a job id: the stem itself, or a hash where it is long or not plain text."""
    if len(stem) <= _MAX_STEM and stem.isascii() and stem.isprintable():
        return stem
    return hashlib.sha256(stem.encode("utf-8", "surrogateescape")).hexdigest()[:32]
