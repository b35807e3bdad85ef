"""The telemetry job: one for the endpoint, emptying the telemetry spools of everything that is served."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from jobs.failures import after_failure
from jobs.job import ACTIVE, JobState, NewJob
from jobs.outcomes import Cool, Done, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.contract import JobQueue
from memsyncd.platforms.platform import PlatformError, Rejected
from memsyncd.telemetry.drain import Drain
from memsyncd.telemetry.emptying import Outlet
from memsyncd.telemetry.posthog import Sender, Wire, wire

TELEMETRY = "telemetry"

REFUSED = "telemetry-refused"
"""The problem's code where the endpoint refuses the key."""

PRIORITY = -1
"""Everything else goes first."""

TROUBLE_SECONDS = 60.0
"""How long the files are left alone after the disk failed, unless the interval is shorter."""


class Endpoint(Protocol):
    """Where telemetry goes."""

    @property
    def destination(self) -> str:
        """The name under which it cools as a whole."""

    def send(self, batch: Sequence[Wire]) -> None:
        """Send one batch. Raises PlatformError."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """What the job works with. `spools` are the directories served now, `sender` as whom events go now.

    `hold` says why nothing may leave now, or None; it is asked before each batch.
    """

    endpoint: Endpoint
    drain: Drain
    spools: Callable[[], Sequence[Path]]
    sender: Callable[[], Sender]
    interval_seconds: float
    hold: Callable[[], str | None] = lambda: None


def telemetry_job(destination: str) -> NewJob:
    """Return the one telemetry job of a destination."""
    return NewJob(id=destination, kind=TELEMETRY, destination=destination, priority=PRIORITY)


def stand(queue: JobQueue, destination: str | None) -> None:
    """At start, and after a no: have exactly the job of `destination`, to come; None for no telemetry, and no job.

    A job that died or ended under earlier settings lives again, and an endpoint that refused its key is asked anew:
    somebody may have changed it. The trouble of an endpoint that is none any more is nobody's.
    """
    for state in ACTIVE:
        for job in queue.jobs(state=state, kind=TELEMETRY):
            if job.id != destination:
                queue.cancel(job.id, "telemetry goes elsewhere, or is off")
    for each in queue.destinations():
        is_ours, is_held = each.name.startswith(f"{TELEMETRY}:"), each.parked or each.until is not None
        if is_ours and is_held and (each.parked or each.name != destination):
            queue.release(each.name)
    if destination is None:
        return
    known = queue.get(destination)
    if known is None:
        queue.enqueue(telemetry_job(destination))
    elif known.state is JobState.DONE:
        queue.reopen(destination)
    elif known.state not in ACTIVE:
        queue.retry(destination)


def telemetry(context: JobContext, reporting: Reporting) -> Outcome:
    """Drain every spool until the endpoint fails, then sleep for the interval; at once on if more is parked."""
    if context.job.destination != reporting.endpoint.destination:
        return Done("telemetry goes elsewhere")
    held = reporting.hold()
    if held is not None:
        return Snooze(reporting.interval_seconds, held)
    outlet = _outlet(context, reporting)
    delivered, more, trouble = 0, False, ""
    for directory in reporting.drain.in_order(reporting.spools()):
        drained = reporting.drain.run(directory, outlet)
        delivered, more, trouble = delivered + drained.delivered, more or drained.more, trouble or drained.trouble
        if drained.failure is not None:
            return _cooled(drained.failure, reporting.endpoint.destination)
        if drained.is_stopped:
            why = reporting.hold()
            return Snooze(0.0, "the daemon is stopping") if why is None else Snooze(reporting.interval_seconds, why)
    if trouble:
        return Snooze(min(TROUBLE_SECONDS, reporting.interval_seconds), trouble)
    return Snooze(0.0 if more else reporting.interval_seconds, f"{delivered:,} events sent" if delivered else "")


def _outlet(context: JobContext, reporting: Reporting) -> Outlet:
    sender = reporting.sender()

    def post(batch: Sequence[Wire]) -> None:
        try:
            reporting.endpoint.send(batch)
        except Rejected:
            context.answered()  # about this batch, and by an endpoint that is well
            raise
        context.answered()

    return Outlet(
        post=post,
        encode=lambda line: wire(line, sender),
        has_answered=lambda: context.has_answered,
        is_stopping=lambda: context.stopping.is_set() or reporting.hold() is not None,
    )


def _cooled(failure: PlatformError, destination: str) -> Outcome:
    outcome = after_failure(failure, destination)
    if isinstance(outcome, Cool) and outcome.code == "key-refused":
        return replace(outcome, code=REFUSED)
    return outcome
