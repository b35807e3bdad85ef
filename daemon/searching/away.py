"""Whether a platform is known to be away, so that nobody who waits for a search waits for it in vain."""

from jobs.queue.contract import JobQueue
from jobs.queue.errors import QueueError
from memsyncd.clock import Clock
from memsyncd.platforms.platform import Platform

ANSWERS_ALL_THE_SAME = frozenset({"quota"})
"""Codes of a cooldown (jobs/failures.py) that says nothing of searches: an account may be full and still be read."""


def away(queue: JobQueue, platform: Platform, clock: Clock) -> str | None:
    """Return why the platform is not asked at present: its destination cools, or is parked until a person acts. None
    where it may be asked, and where the queue cannot tell."""
    if platform.kind == "local":
        return None
    try:
        state = next((each for each in queue.destinations() if each.name == platform.destination), None)
    except QueueError:
        return None
    if state is None or state.code in ANSWERS_ALL_THE_SAME or (state.until or 0.0) <= clock.wall():
        return None
    return f"The platform is away: {state.why}"
