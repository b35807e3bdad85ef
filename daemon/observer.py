"""What is told of every job: one log line an attempt, the counters, the journal, and the end of a held handoff."""

from collections.abc import Callable

import structlog

from daemon.compose import Parts
from daemon.telemetry.starting import KIND as TELEMETRY
from jobs.delivery import CHECKPOINT, FLUSH
from jobs.fleet.learn import LEARN
from jobs.fleet.share import IN_SHARED_QUEUE
from jobs.fleet.shared_batch import DELIVER
from jobs.job import Job, JobState
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.packet_requests import NOTHING_IN_IT
from jobs.poll import POLL, wake_again

STANDING = frozenset({POLL, TELEMETRY, LEARN})
"""The kinds of the daemon's own timers."""

_OTHER_ENDS = {NOTHING_IN_IT: "packets_empty", IN_SHARED_QUEUE: "packets_shared"}
"""Ends of a flush that are no delivery, and the counters of such packets."""

log = structlog.get_logger()


class Observer:
    """Called by the workers' threads around each run. `given_up` has, by their kind, how many jobs became dead letters,
    and why the last one did."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.on_progress: Callable[[], None] = lambda: None
        self.given_up: dict[str, tuple[int, str]] = {}

    def started(self, job: Job) -> None:
        """Tell that a run begins."""
        if job.kind not in STANDING:
            self._parts.journal.note("job-started", job=job.id, job_kind=job.kind, attempt=job.attempts + 1)

    def finished(self, job: Job, outcome: Outcome, seconds: float) -> None:
        """Tell how a run ended; `job` stands as the outcome left it."""
        wake_again(job, self._parts.delivery)
        if job.kind == TELEMETRY:
            return  # what becomes of it is nobody's progress and no line in the log (never-again 76)
        what, why = _told(outcome)
        self._parts.history.ran(seconds)
        is_cooled = isinstance(outcome, Cool)
        if job.kind in {POLL, LEARN} and not is_cooled:
            return  # a question that brought nothing is no progress (never-again 139), and no line in the log
        if not is_cooled:
            self.on_progress()
        self._parts.counters.add(f"jobs_{what.replace('-', '_')}")
        self._parts.journal.note("job-finished", job=job.id, job_kind=job.kind, outcome=what, why=why)
        # a checkpoint that waits for its packet has attempted nothing: the packet's own runs have their lines
        tell = log.debug if job.kind == CHECKPOINT and what == "snoozed" else log.info
        tell("job", job=job.id, kind=job.kind, outcome=what, why=why, seconds=round(seconds, 4), attempts=job.attempts)
        if job.kind == DELIVER and job.state in (JobState.DONE, JobState.DEAD):
            self._parts.counters.add("batches_delivered" if job.state is JobState.DONE else "batches_refused")
        if job.kind == FLUSH and job.state is JobState.DONE:
            self._flushed(job, why)
        if job.state is JobState.DEAD:
            self.given_up[job.kind] = (self.given_up.get(job.kind, (0, ""))[0] + 1, job.reason)
            if job.kind == FLUSH:
                self._parts.counters.add("packets_refused")
                # one that crashed told nobody, and newer evidence waits behind it
                self._parts.queue.wake_lane(job.lane)
        if self._parts.telemetry is not None:
            self._parts.telemetry.recording.job_over(job)
        if job.kind == CHECKPOINT and job.state in (JobState.DONE, JobState.DEAD):
            self._parts.ingest.requests.over(job.id, job.state, job.reason)

    def _flushed(self, job: Job, why: str) -> None:
        self._parts.counters.add(_OTHER_ENDS.get(why, "packets_delivered"))
        if why not in _OTHER_ENDS:
            self._parts.history.delivered(max(0.0, self._parts.clock.age(job.created_at)))


def _told(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Done(summary=summary):
            return "done", summary
        case Snooze(why=why):
            return "snoozed", why
        case Retry(why=why):
            return "retried", why
        case Cool(why=why):
            return "cooled", why
        case GiveUp(why=why):
            return "given-up", why
    return "unknown", ""
