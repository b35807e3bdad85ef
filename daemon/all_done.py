"""Whether a `run --once` has come to the end of its work."""

from collections.abc import Callable

from daemon.compose import Parts
from daemon.telemetry.starting import run_under_way as telemetry_run
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import JobState
from jobs.poll import POLL

KEPT_WHY = frozenset({EXTRACTION_OPEN, ABOUT_TO_LOOK})
"""What is waited for: it is sure to come, or to be over, soon."""


def is_all_done(parts: Parts, running: Callable[[], int]) -> bool:
    """Whether nothing is left that this run could still bring to an end (`run --once`). `running` tells how many
    jobs run, each until its end was told of."""
    queue, fleet = parts.queue, parts.fleet
    if fleet is not None and not fleet.is_all_done():
        return False
    sending = telemetry_run(parts)
    counts = queue.counts()
    at_work = max(counts.claimed, running())
    is_sending = bool(sending) and telemetry_run(parts) == sending  # and so was while the jobs were counted
    if at_work + counts.ready > is_sending or parts.ingest.transcripts.waits.is_any:
        return False
    cooling = {each.name for each in queue.destinations() if each.until is not None or each.parked}
    return not any(
        job.reason in KEPT_WHY
        for job in queue.jobs(state=JobState.WAITING, limit=1_000)
        if job.kind != POLL and job.destination not in cooling
    )
