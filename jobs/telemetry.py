"""The telemetry job: one for the endpoint, emptying the telemetry spools of everything that is served."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jobs.job import NewJob
from jobs.outcomes import Outcome
from jobs.queue.claims import JobContext
from jobs.queue.contract import JobQueue
from memsyncd.telemetry.drain import Drain
from memsyncd.telemetry.posthog import Sender, Wire

TELEMETRY = "telemetry"


class Endpoint(Protocol):
    """Where telemetry goes."""

    @property
    def destination(self) -> str:
        """The name under which it cools as a whole."""

    def send(self, batch: Sequence[Wire]) -> None:
        """Send one batch. Raises PlatformError."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """What the job works with. `spools` are the directories served now, `sender` as whom events go now."""

    endpoint: Endpoint
    drain: Drain
    spools: Callable[[], Sequence[Path]]
    sender: Callable[[], Sender]
    interval_seconds: float


def telemetry_job(destination: str) -> NewJob:
    """Return the one telemetry job of a destination."""
    return NewJob(id=destination, kind=TELEMETRY, destination=destination)


def stand(queue: JobQueue, destination: str | None) -> None:
    """At start: have exactly the job of `destination`, ready to run; None for no telemetry, and no job."""
    raise NotImplementedError


def telemetry(context: JobContext, reporting: Reporting) -> Outcome:
    """Drain every spool, and sleep for the interval."""
    raise NotImplementedError
