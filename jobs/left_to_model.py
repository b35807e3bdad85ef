"""Which batches are left to the model, for how long, and what becomes of them when it does not come.

The embedded platform asks `is_left` before it has the rules make a batch's memories.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from jobs.extractions import Extractions
from jobs.job import ACTIVE, JobState, NewJob
from jobs.queue.contract import Destination, JobQueue
from jobs.queue.errors import QueueError
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.extracting.extractor import AWAY, SLOW, Made, rules
from memsyncd.platforms.local.candidate import Candidate
from memsyncd.platforms.platform import Batch, Extraction

EXTRACT = "extract"

LANE = "extractor"
"""Of all its jobs: a model of one's own answers one question at a time, and no more than one worker waits for it."""

AWAY_FAILURES = 2
"""So many failures in a row, and no batch waits for the endpoint any more until it has answered a probe."""

PATIENCE_SECONDS = 15.0
"""Nor while it cools for longer: a server that starts is there sooner, and a flush should not wait for the others."""

CLOCK_SLACK_SECONDS = 2.0
"""A batch that was accepted so much later than now was accepted before the clock was set back: it waits no more."""

MAX_LEFT_OVER = 1_000
"""Jobs of another endpoint cancelled at a start; the rest end by themselves, one by one."""


class Waiting(Protocol):
    """The embedded platform, as far as it is needed here."""

    def pending(self, *, limit: int = ...) -> Sequence[str]:
        """Return the ids of the oldest events that wait for their memories."""

    def pending_batch(self, event_id: str) -> tuple[Batch, float] | None:
        """Return the batch of an event that waits, and since when (Unix seconds)."""

    def store(self, event_id: str, candidates: Sequence[Candidate]) -> bool:
        """End an event with memories; False where it was over before."""

    def extraction(self, event_id: str) -> Extraction:
        """Return an event as it stands."""


class Maker(Protocol):
    """Who makes memories; see `memsyncd.extracting.extractor.Extractor`."""

    @property
    def destination(self) -> str:
        """The name under which the endpoint cools."""

    def ping(self) -> None:
        """See whether the endpoint answers. Raises PlatformError."""

    def memories(
        self, batch: Batch, seconds: float, *, answered: Callable[[], None], stopping: threading.Event
    ) -> Made:
        """Return a batch's candidates. Raises PlatformError where the endpoint is at fault."""


@dataclass(frozen=True)
class Extracting:
    """What the job works with. `wait_seconds` is how long a batch waits for the model after it was accepted.

    `hold` says why nothing may be sent now, or None. `report` is told, for a person, why the model was no help with a
    batch, and an empty text where it was.

    Counters: `extractor_batches_by_model`, `extractor_batches_by_rules` and why (`extractor_away`, `extractor_slow`,
    `extractor_over_budget`, `extractor_refused`, `extractor_nonsense`, pieces of a batch each),
    `extractor_memories_rejected`, `extractor_late_answers`, `extractor_not_queued`.
    """

    platform: Waiting
    queue: JobQueue
    extractions: Extractions
    extractor: Maker
    clock: Clock
    counters: Counters
    wait_seconds: float
    hold: Callable[[], str | None] = lambda: None
    report: Callable[[str], object] = lambda _: None

    def accepted(self, event_id: str) -> None:
        """Queue the job of a batch that was just accepted; while the endpoint is away one job is enough, its probe."""
        try:
            if self._is_away(self._state()) and self._has_probe():
                return
            self._queue(event_id)
        except QueueError:
            self.counters.add("extractor_not_queued")  # the rules make its memories once its wait is over

    def is_left(self, event_id: str, since: float) -> bool:  # noqa: ARG002  (the platform's form of the question)
        """Whether a batch accepted at `since` still waits for the model; each no is followed by the rules' memories."""
        if self.seconds_left(since) <= 0.0:
            self._count_rules(SLOW)
            return False
        try:
            state = self._state()
        except QueueError:
            return True  # until its wait is over
        if state is not None and (self._is_away(state) or self.seconds_left(since, state.until) <= 0.0):
            self._count_rules(AWAY)
            return False
        return True

    def resume(self) -> None:
        """At start: have the job of each batch that waits."""
        stand(self.queue, self.extractor.destination)
        for event_id in self.platform.pending():
            self._queue(event_id)

    def seconds_left(self, since: float, at: float | None = None) -> float:
        """Return what is left of a batch's wait at the Unix time `at` (None: now)."""
        waited = (self.clock.wall() if at is None else at) - since
        return self.wait_seconds - waited if waited > -CLOCK_SLACK_SECONDS else 0.0

    def is_failing(self) -> bool:
        """Whether the endpoint has not answered since its last failure."""
        return self._state() is not None

    def is_away(self) -> bool:
        """Whether no batch is to wait for the endpoint."""
        return self._is_away(self._state())

    def fall_back(self, event_id: str, batch: Batch, kind: str) -> None:
        """Have the rules make a batch's memories now."""
        if self.platform.store(event_id, rules(batch)):
            self._count_rules(kind)
        self.tell(event_id)

    def tell(self, event_id: str) -> None:
        """Tell the flush that waits for the verdict at once, rather than at the next question."""
        job_id = self.extractions.told(self.platform.extraction(event_id))
        if job_id is not None:
            self.queue.wake(job_id)

    def _has_probe(self) -> bool:
        held = (JobState.WAITING, JobState.READY, JobState.CLAIMED)
        return any(self.queue.jobs(state=state, kind=EXTRACT, limit=1) for state in held)

    def _count_rules(self, kind: str) -> None:
        self.counters.add("extractor_batches_by_rules")
        self.counters.add(f"extractor_{kind}")

    def _state(self) -> Destination | None:
        """Return the endpoint as a destination in trouble; None where it is in none."""
        name = self.extractor.destination
        found = (each for each in self.queue.destinations() if each.name == name)
        return next((each for each in found if each.parked or each.failures or each.until is not None), None)

    def _is_away(self, state: Destination | None) -> bool:
        if state is None:
            return False
        cools_long = state.until is not None and state.until - self.clock.wall() > PATIENCE_SECONDS
        return state.parked or state.failures >= AWAY_FAILURES or cools_long

    def _queue(self, event_id: str) -> None:
        job = extract_job(event_id, self.extractor.destination)
        if self.queue.enqueue(job):
            return
        known = self.queue.get(job.id)  # its extraction failed, and it was sent again
        if known is not None and known.state is JobState.DONE:
            self.queue.reopen(job.id)
        elif known is not None and known.state not in ACTIVE:
            self.queue.retry(job.id)


def extract_job(event_id: str, destination: str) -> NewJob:
    """Return the one job of an accepted batch for an endpoint."""
    return NewJob(
        id=f"{EXTRACT}:{event_id}:{destination}",
        kind=EXTRACT,
        payload={"event": event_id},
        lane=LANE,
        destination=destination,
    )


def stand(queue: JobQueue, destination: str | None) -> None:
    """At start: cancel the jobs of every endpoint but `destination` (None: there is none any more)."""
    for state in ACTIVE:
        for job in queue.jobs(state=state, kind=EXTRACT, limit=MAX_LEFT_OVER):
            if job.destination != destination:
                queue.cancel(job.id, "the settings name another model, or none")
