"""Taking what was forgotten out of the shared queue, as far as no worker is at it this moment."""

from collections.abc import Sequence

from daemon.fleet.fleet import Fleet
from jobs.fleet import shared_batch
from jobs.job import JobState
from jobs.queue.contract import JobQueue

FORGOTTEN = "what it was made of was forgotten"
MANY = 1_000


def withdraw(fleet: Fleet, sessions: Sequence[tuple[str, str]]) -> tuple[int, bool]:
    """Withdraw every batch of an edge's sessions (spool, session) and erase its row, text and all; return how many were
    to be delivered still, and whether a worker holds one. Raises QueueError where the queue cannot be reached."""
    if fleet.edge is None or not sessions:
        return 0, False
    queue = fleet.connection.queue()
    lanes = [shared_batch.lane(fleet.edge.name, spool, session) for spool, session in sessions]
    withdrawn = sum(_cancel(queue, lane) for lane in lanes)
    queue.erase(*lanes)
    return withdrawn, any(queue.jobs(state=JobState.CLAIMED, lane=lane, limit=1) for lane in lanes)


def count(fleet: Fleet, sessions: Sequence[tuple[str, str]]) -> int:
    """Return how many batches of the sessions lie in the shared queue. Raises QueueError."""
    if fleet.edge is None or not sessions:
        return 0
    queue = fleet.connection.queue()
    return sum(
        len(queue.jobs(lane=shared_batch.lane(fleet.edge.name, spool, session), limit=MANY))
        for spool, session in sessions
    )


def _cancel(queue: JobQueue, lane: str) -> int:
    return sum(
        queue.discard(job.id) if state is JobState.DEAD else queue.cancel(job.id, FORGOTTEN)
        for state in (JobState.READY, JobState.WAITING, JobState.DEAD)
        for job in queue.jobs(state=state, lane=lane, limit=MANY)
    )
