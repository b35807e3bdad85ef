"""Recovery: re-creates whatever job the evidence calls for and the queue does not have. A scan is the truth."""

from collections.abc import Sequence

from jobs.delivery import CHECKPOINT, FLUSH, Delivery, checkpoint_job, flush_job, flush_job_id, lane
from jobs.flush import EXTRACTION_OPEN
from jobs.job import ACTIVE, JobState, NewJob
from jobs.queue.contract import JobQueue
from memsyncd.clock import from_rfc3339
from memsyncd.evidence.event import Event, Packet
from memsyncd.evidence.store import EvidenceStore

FOREIGN_GRACE_SECONDS = 300.0
"""An open packet of a plugin's store that moved more recently may be in its own worker's hands (facts 1.12)."""

MANUAL = "manual"
"""The reason of what a person asked for."""

WOKEN_AT_ONCE = 10_000
"""Flushes woken at start to register their open extractions anew; more of them wake by their own deadlines."""


def reconcile(spool: str, store: EvidenceStore, delivery: Delivery) -> int:
    """Queue a flush for every open packet of a spool that has none; return how many were missing."""
    if store.read_only:
        return 0
    return sum(
        _see_to(flush_job(spool, packet, delivery.platform.destination), delivery.queue)
        for packet in store.open_packets()
        if store.own or is_abandoned(packet, delivery)
    )


def _see_to(flush: NewJob, queue: JobQueue) -> bool:
    """Make sure that an open packet's job is still to come; one that is done met its evidence while it was away."""
    known = queue.get(flush.id)
    if known is None:
        return bool(queue.enqueue(flush))
    return known.state is JobState.DONE and queue.reopen(flush.id)


def resume_extractions(delivery: Delivery) -> int:
    """After a start, wake the flushes that wait for an extraction: the old process forgot what it was asking."""
    waiting = delivery.queue.jobs(state=JobState.WAITING, kind=FLUSH, limit=WOKEN_AT_ONCE)
    return delivery.queue.wake(*(job.id for job in waiting if job.reason == EXTRACTION_OPEN))


def session_over(spool: str, session_id: str, why: str, delivery: Delivery) -> bool:
    """Queue the checkpoint that the end of a session calls for; False where that end was queued before, or there is
    nothing it could be the end of."""
    last = _last_event(spool, session_id, delivery)
    if last is None:
        return False
    reason = "idle" if why == "idle" else "session-end"
    job = checkpoint_job(spool, session_id, key=_over_key(last), reason=reason, why=why, until=last.id)
    return bool(delivery.queue.enqueue(job))


def is_seen_to(spool: str, session_id: str, delivery: Delivery) -> bool:
    """Whether a job of the session is still to come, or that of its present end was queued already."""
    name = lane(spool, session_id)
    if any(delivery.queue.jobs(state=state, lane=name, limit=1) for state in ACTIVE):
        return True
    last = _last_event(spool, session_id, delivery)
    return last is None or delivery.queue.get(f"{CHECKPOINT}:{spool}:{_over_key(last)}") is not None


def retry_by_person(queue: JobQueue, job_id: str) -> bool:
    """Make a dead, cancelled or waiting job ready again; a checkpoint takes the flushes it gave up over with it."""
    job = queue.get(job_id)
    if job is not None and job.kind == CHECKPOINT:
        for packet in job.payload.get("packets", ()):
            flush = queue.get(flush_job_id(str(job.payload["spool"]), packet))
            if flush is not None and flush.state is JobState.DEAD:
                queue.retry(flush.id)
    return queue.retry(job_id)


def asked_by_person(spool: str, sessions: Sequence[str], key: str, delivery: Delivery) -> list[str]:
    """Queue a checkpoint for each session, as `flush` asks; return their ids. One that was asked for before and is
    still to come serves again, so that asking in an outage piles nothing up."""
    asked = []
    for number, session in enumerate(sessions):
        known = _asked_before(lane(spool, session), delivery.queue)
        if known is None:
            last = _last_event(spool, session, delivery)
            until = 0 if last is None else last.id
            job = checkpoint_job(spool, session, key=f"manual:{key}:{number}", reason=MANUAL, until=until)
            delivery.queue.enqueue(job)
            known = job.id
        asked.append(known)
    return asked


def _asked_before(name: str, queue: JobQueue) -> str | None:
    for state in ACTIVE:
        for job in queue.jobs(state=state, lane=name, limit=20):
            if job.kind == CHECKPOINT and job.payload.get("reason") == MANUAL:
                return job.id
    return None


def _last_event(spool: str, session_id: str, delivery: Delivery) -> Event | None:
    """Return up to where a checkpoint asked for now reaches, past a compaction too; None for a spool not served."""
    try:
        return delivery.store(spool).last_event(session_id)
    except KeyError:
        return None


def _over_key(last: Event) -> str:
    """Name an end after its session's last event: once the session goes on it has another. The time is part of it, for
    a store begun anew counts from 1 again."""
    return f"over:{last.id}:{last.created_at}"


def is_abandoned(packet: Packet, delivery: Delivery) -> bool:
    """Whether a packet has not moved for so long that no other program can be delivering it."""
    updated = from_rfc3339(packet.updated_at)
    if updated is None:
        try:
            updated = float(packet.updated_at)
        except ValueError:
            return True
    return delivery.clock.age(updated) > FOREIGN_GRACE_SECONDS
