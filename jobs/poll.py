"""The poll job: one for the destination, asking for every open extraction, so that a thousand of them cost a thousand
rows and no thread."""

import itertools
from collections.abc import Sequence

from jobs.delivery import FLUSH, Delivery
from jobs.extractions import Open
from jobs.failures import after_failure, after_store_error
from jobs.job import Job, JobState, NewJob
from jobs.outcomes import WAKES_AT_ONCE, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from memsyncd.platforms.platform import DestinationError, Extraction, ExtractionState, PlatformError, Rejected

POLL = "poll"

SINGLE_QUESTIONS = 8
"""Up to so many due events are asked one by one; beyond, one listing answers a hundred (measured.md, Polling)."""

LISTING_PAGES = 20
"""Pages of the listing read in one round at most."""

IDLE_SECONDS = 3600.0
"""The sleep when nothing is open; a new extraction wakes the job."""

NOTICEABLE_SECONDS = 0.05
"""A question due sooner than the end of the asker's sleep by less than this is no reason to wake it."""


def poll_job(destination: str) -> NewJob:
    """Return the one poll job of a destination."""
    return NewJob(id=f"{POLL}:{destination}", kind=POLL, destination=destination)


def poll(context: JobContext, delivery: Delivery) -> Outcome:
    """Ask what is due, wake the jobs whose verdicts came, and sleep until the next question."""
    wake: list[str] = []
    try:
        _ask(delivery.extractions.due(), delivery, context, wake)
        if len(wake) > WAKES_AT_ONCE:
            delivery.queue.wake(*wake)
            wake = []
    except PlatformError as error:
        return _failed(error, delivery, wake)
    except QueueError as error:
        return after_store_error(error)
    wait = delivery.extractions.wait_seconds()
    if wait is None:
        return Snooze(IDLE_SECONDS, "nothing open", wake=wake)
    return Snooze(wait, "extractions are open", wake=wake)


def _failed(error: PlatformError, delivery: Delivery, wake: Sequence[str]) -> Outcome:
    """Wake the jobs of the verdicts that came before the failure."""
    try:
        delivery.queue.wake(*wake)
    except QueueError as unavailable:
        return after_store_error(unavailable)
    return after_failure(error, delivery.platform.destination)


def wake_again(job: Job, delivery: Delivery) -> None:
    """Repeat a wake-up that came while `job` still ran and so met nobody asleep; to be called after each run.

    Without it a verdict, or an extraction opened just then, would be noticed only when the sleep is over.
    """
    if job.state is not JobState.WAITING:
        return
    if job.kind == POLL:
        wait = delivery.extractions.wait_seconds()
        wanted = None if wait is None else delivery.clock.wall() + wait
        missed = wanted is not None and job.not_before is not None and wanted < job.not_before - NOTICEABLE_SECONDS
    else:
        missed = job.kind == FLUSH and delivery.extractions.has_news(job.id)
    if missed:
        delivery.queue.wake(job.id)


def _ask(due: Sequence[Open], delivery: Delivery, context: JobContext, wake: list[str]) -> None:
    """Ask, and add to `wake` the jobs of the verdicts. What a failure cut short is due again at the next run."""
    if len(due) > SINGLE_QUESTIONS:
        due = _list(due, delivery, context, wake)
    _ask_singly(due[:SINGLE_QUESTIONS], delivery, context, wake)


def _ask_singly(due: Sequence[Open], delivery: Delivery, context: JobContext, wake: list[str]) -> None:
    """Ask for each; one that alone makes the platform fail is put off and delays no neighbour. Raises the first
    failure where none was answered: then it is the platform that fails."""
    failure: DestinationError | None = None
    answered = context.has_answered
    for entry in due:
        try:
            answer = _question(entry, delivery)
        except DestinationError as error:
            failure = failure or error
            delivery.extractions.put_off(entry.event_id)
            if not answered:
                break  # one question is enough to see that nobody answers; the next round begins with another
            continue
        answered = True
        _tell(answer, delivery, wake)
        context.answered()
    if failure is not None and not answered:
        raise failure


def _question(entry: Open, delivery: Delivery) -> Extraction:
    try:
        return delivery.platform.extraction(entry.event_id)
    except Rejected:
        # a refused question says nothing of the extraction: it stays open until its wait is over (never-again 107)
        return Extraction(entry.event_id, ExtractionState.RUNNING)


def _list(due: Sequence[Open], delivery: Delivery, context: JobContext, wake: list[str]) -> Sequence[Open]:
    """Read the listing until every due event was in it; return those that were not, to be asked one by one."""
    missing = {entry.event_id: entry for entry in due}
    try:
        for page in itertools.islice(delivery.platform.extractions(), LISTING_PAGES):
            context.answered()
            for answer in page:
                missing.pop(answer.event_id, None)
                _tell(answer, delivery, wake)
            if not missing or context.stopping.is_set():
                break
    except Rejected:
        pass  # a server without a listing: every event is asked by itself, a few a round
    return tuple(missing.values())


def _tell(answer: Extraction, delivery: Delivery, wake: list[str]) -> None:
    job_id = delivery.extractions.told(answer)
    if job_id is not None:
        wake.append(job_id)
