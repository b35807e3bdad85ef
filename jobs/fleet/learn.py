"""An edge's standing job: what became of the packets that the shared queue has taken."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jobs.failures import after_store_error
from jobs.fleet import shared_batch
from jobs.job import ACTIVE, Job, JobState, NewJob
from jobs.outcomes import Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.contract import JobQueue
from jobs.queue.errors import QueueError
from memsyncd.clock import Clock, from_rfc3339
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import Packet, PacketStatus
from memsyncd.evidence.store import EvidenceStore

LEARN = "learn"

LEARN_SECONDS = 5.0
"""Between two looks while packets are in the shared queue."""

LONGEST_SECONDS = 60.0
"""The longest pause between two looks: it grows to this where nothing ends, so that a thousand edges of a backlog are
no load."""

IDLE_SECONDS = 3600.0
"""The sleep when nothing is out; a packet that goes there wakes the job."""

PACKETS_AT_ONCE = 50
"""Looked at in one run, the oldest first."""

LANE_JOBS = 1_000
"""Of a session, looked through for a packet's where the first of them is gone."""

YOUNG_SECONDS = 20 * 3600.0
"""Nothing is pruned within a day of its end. What is gone sooner was lost: the database is an older copy."""

NO_MORE = "its job was pruned before its end was learned"


@dataclass(frozen=True, slots=True)
class End:
    """How a packet's delivery ended: `SUCCEEDED`, or `GAVE_UP` with the reason. `memories` is how many it made."""

    status: PacketStatus
    error: str = ""
    memories: int = 0


@dataclass(frozen=True)
class Learner:
    """`stores` gives the spools' names with their stores; `queue` is the shared one, and raises QueueUnavailable while
    it cannot be reached; `edge` is this machine's own name there. `on_end` hears of each packet's end, `on_lost` of one
    whose jobs the database has lost."""

    stores: Callable[[], Iterable[tuple[str, EvidenceStore]]]
    queue: Callable[[], JobQueue]
    edge: str
    on_end: Callable[[Packet, End], None]
    on_lost: Callable[[EvidenceStore, Packet], None]
    clock: Clock


def learn_job() -> NewJob:
    """Return the one job of its kind."""
    return NewJob(id=LEARN, kind=LEARN)


def learn(context: JobContext, learner: Learner) -> Outcome:
    """Close the packets whose delivery has ended."""
    ended = out = 0
    try:
        for spool, store in learner.stores():
            for packet in store.shared_packets(PACKETS_AT_ONCE):
                if context.stopping.is_set():
                    return Snooze(0.0, "the daemon is stopping")
                jobs = jobs_of(learner.queue(), learner.edge, spool, packet)
                if not jobs and _is_young(packet, learner.clock):
                    learner.on_lost(store, packet)
                    continue
                end = _end(jobs)
                if end is None:
                    out += 1
                    continue
                store.close_packet(packet.packet_id, end.status, error=end.error)
                learner.on_end(packet, end)
                ended += 1
    except (EvidenceError, QueueError) as error:
        return after_store_error(error)
    if not out and not ended:
        return Snooze(IDLE_SECONDS, "nothing is in the shared queue", {})
    return _again(context, is_moving=ended > 0)


def _is_young(packet: Packet, clock: Clock) -> bool:
    """Whether a packet was put in so short a time ago that no machine can have pruned its jobs."""
    put_in_at = from_rfc3339(packet.updated_at)
    return put_in_at is not None and clock.wall() - put_in_at < YOUNG_SECONDS


def _again(context: JobContext, *, is_moving: bool) -> Outcome:
    paused = float(context.job.payload.get("seconds", LEARN_SECONDS))
    seconds = LEARN_SECONDS if is_moving else min(paused * 1.5, LONGEST_SECONDS)
    return Snooze(seconds, "packets are in the shared queue", {"seconds": seconds})


def end_of(queue: JobQueue, edge: str, spool: str, packet: Packet) -> End | None:
    """Return how a packet's delivery ended; None while it has not. Raises QueueUnavailable."""
    return _end(jobs_of(queue, edge, spool, packet))


def _end(jobs: Sequence[Job]) -> End | None:
    if any(job.state in ACTIVE for job in jobs):
        return None
    if not jobs:  # only what is over is pruned, and dead letters are kept for long
        return End(PacketStatus.SUCCEEDED, NO_MORE)
    failed = next((job for job in jobs if job.state is not JobState.DONE), None)
    if failed is not None:
        return End(PacketStatus.GAVE_UP, failed.reason or str(failed.state))
    return End(PacketStatus.SUCCEEDED, memories=sum(int(job.payload.get("memories", 0)) for job in jobs))


def jobs_of(queue: JobQueue, edge: str, spool: str, packet: Packet) -> Sequence[Job]:
    """Return a packet's jobs in the shared queue, as far as they are there: what is done is pruned after its days, and
    a batch that was there already was not put in. Raises QueueUnavailable."""
    jobs: list[Job] = []
    for number in itertools.count():
        job = queue.get(shared_batch.job_id(edge, spool, packet.packet_id, number))
        if job is None:
            break
        jobs.append(job)
    if jobs and len(jobs) >= len(packet.slots):
        return jobs
    lane, own = (
        shared_batch.lane(edge, spool, packet.session_id),
        shared_batch.job_id(edge, spool, packet.packet_id, ""),
    )
    return [job for job in queue.jobs(lane=lane, limit=LANE_JOBS) if job.id.startswith(own)]
