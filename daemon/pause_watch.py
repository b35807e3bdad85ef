"""Looks whether a pause or an exclusion has ended, by its time or at somebody's word, and lets go of what it held."""

from daemon.gate import HELD, PAUSED
from daemon.intake.served import Served
from daemon.pausing import Pauses
from jobs.job import JobState
from jobs.queue.contract import JobQueue

RELEASED_AT_ONCE = 10_000
"""Jobs looked through for those that a pause held; more of them look again by themselves within a minute."""


class PauseWatch:
    """Asked on every tick, and at once after a command. Raises OSError and QueueError; then it looks again."""

    def __init__(self, pauses: Pauses, queue: JobQueue, served: Served) -> None:
        self._pauses = pauses
        self._queue = queue
        self._served = served
        self._before: frozenset[str] | None = None

    def look(self) -> bool:
        """End what is over; tell whether anything was held before that is not now, and is released.

        The first look releases all: what ended while no daemon ran, nobody else has let go.
        """
        self._pauses.settle(self._served.spools())
        now = self._holds()
        freed = self._before is None or bool(self._before - now)
        if freed:
            release(self._queue)
        self._before = now
        return freed

    def _holds(self) -> frozenset[str]:
        state = self._pauses.state()
        projects = {f"project {each.repo_id}" for each in state.projects}
        return frozenset(projects | ({PAUSED} if self._pauses.is_paused else set()))


def release(queue: JobQueue) -> int:
    """Wake the jobs that a pause or an exclusion holds; those it holds still wait again. Return how many woke."""
    waiting = queue.jobs(state=JobState.WAITING, limit=RELEASED_AT_ONCE)
    return queue.wake(*(job.id for job in waiting if job.reason in HELD))
