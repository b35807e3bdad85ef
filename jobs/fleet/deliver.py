"""A worker's job: delivers one batch of the shared queue. A small state machine kept in the job's payload, so that any
worker can take it up anywhere.

That a request is about to leave is written down first. What may have arrived without an answer is looked for before it
is sent again. No run waits: a wait is a snooze, by the queue's clock.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from jobs.delivery import LOOK_AFTER_SECONDS, MAX_ATTEMPTS
from jobs.extractions import GROWTH, MAX_INTERVAL_SECONDS
from jobs.failures import after_failure, after_store_error, why_extraction_failed
from jobs.fleet import shared_batch
from jobs.fleet.shared_batch import Progress
from jobs.fleet.verdicts import Verdicts
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import Job
from jobs.outcomes import Done, Ended, GiveUp, Outcome, Retry, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from memsyncd.platforms.platform import Accepted, Batch, Extraction, ExtractionState, Platform, PlatformError, Rejected

ELSEWHERE_SECONDS = 30.0
"""How long a batch that cannot be delivered by this worker is left to the others."""

BEHIND_SECONDS = 1.0
"""How long after an earlier batch of its session is due another one looks whether that is on its way."""

NEWER = "no worker that knows its format {} has taken it yet: this one is of an older version"

BEHIND = "an earlier batch of its session has to go first"


@dataclass(frozen=True)
class Account:
    """One account's platform, reached with that account's key."""

    platform: Platform
    verdicts: Verdicts


@dataclass(frozen=True)
class Worker:
    """What a worker works with. `account` gives an account's platform, None where this worker has no key of it;
    `hold` says why nothing is delivered at present, or None; `behind` in how many seconds an earlier batch of a job's
    session is due that the platform has not taken yet, or None. `first_interval` is the seconds until an extraction is
    first asked for, `extraction_wait_seconds` the time one may take. `on_newer` hears of each batch that only a newer
    version can deliver."""

    account: Callable[[str], Account | None]
    hold: Callable[[], str | None]
    behind: Callable[[Job], float | None]
    redact: Callable[[str], str]
    first_interval: float
    extraction_wait_seconds: float
    on_newer: Callable[[], None] = lambda: None


def deliver(context: JobContext, worker: Worker) -> Outcome:
    """Post a batch, or ask for its extraction, and end when that is confirmed."""
    job = context.job
    try:
        if (number := shared_batch.format_of(job.payload)) > shared_batch.FORMAT:
            worker.on_newer()
            return Snooze(ELSEWHERE_SECONDS, NEWER.format(number))
        batch, progress = shared_batch.batch_of(job.payload), Progress.of(job.payload)
    except (KeyError, TypeError, ValueError, AttributeError):
        return GiveUp("it holds no batch that this version understands")
    account = worker.account(job.account)
    if account is None:
        return Snooze(ELSEWHERE_SECONDS, f"no worker with the key of account {job.account!r} has taken it yet")
    if (why := _not_now(job, account, worker)) is not None:
        return Snooze(ELSEWHERE_SECONDS, why)
    return _Run(context, worker, account, batch, progress).outcome()


def _not_now(job: Job, account: Account, worker: Worker) -> str | None:
    if account.platform.destination != job.destination:
        return f"no worker that delivers to {job.destination} has taken it yet"
    return worker.hold()


@dataclass
class _Run:
    """One run, and what it works with."""

    context: JobContext
    worker: Worker
    account: Account
    batch: Batch
    progress: Progress

    def outcome(self) -> Outcome:
        try:
            return self._deliver()
        except QueueError as error:
            return after_store_error(error)
        except Rejected as error:
            if error.status:  # a refusal is an answer, by a platform that is well
                self.context.answered()
            return self._attempt_failed(error.message)
        except PlatformError as error:
            return after_failure(error, self.context.job.destination)

    def _deliver(self) -> Outcome:
        if self.progress.event_id:
            return self._confirm()
        if self.progress.posted_at is None:
            return self._send()
        if not self.progress.looks:
            self.progress = replace(self.progress, looks=True)
            return self._snoozed(LOOK_AFTER_SECONDS, ABOUT_TO_LOOK)
        return self._look() or self._send()

    def _attempt_failed(self, why: str) -> Outcome:
        why = self.worker.redact(why)
        if self.context.job.attempts + 1 >= MAX_ATTEMPTS:
            return GiveUp(why)
        return Retry(why)

    def _send(self) -> Outcome:
        if self.context.stopping.is_set():
            return Snooze(0.0, "the daemon is stopping")
        if (seconds := self.worker.behind(self.context.job)) is not None:
            self.progress = replace(self.progress, posted_at=None, looks=False)
            return self._snoozed(seconds + BEHIND_SECONDS, BEHIND)
        self._keep(replace(self.progress, posted_at=self._now, looks=False))
        try:
            accepted = self.account.platform.add(self.batch)
        except PlatformError as error:
            if not error.may_have_arrived:
                self._keep(replace(self.progress, posted_at=None))
            raise
        self.context.answered()
        return self._taken(accepted)

    def _taken(self, accepted: Accepted) -> Outcome:
        if accepted.finished:
            return self._made(accepted.memories)
        if not accepted.event_id:
            # the batch may be there all the same: the next try looks first (facts 2.23)
            return self._attempt_failed("the platform's answer named no extraction event")
        self.progress = self.progress.accepted(accepted.event_id, self._now)
        return self._snoozed(self.worker.first_interval, EXTRACTION_OPEN)

    def _look(self) -> Outcome | None:
        """Return what follows where the batch is on the platform already, None where it is not."""
        found = self.account.platform.find(
            self.batch.packet_id,
            self.batch.number,
            user_id=self.batch.user_id,
            app_id=self.batch.app_id,
            posted_at=self.progress.posted_at,
        )
        self.context.answered()
        if found is None:
            return None
        return self._taken(Accepted(found.event_id, finished=not found.event_id, memories=found.memories))

    def _confirm(self) -> Outcome:
        verdict = self.account.verdicts.ask(self.progress.event_id)
        self.context.answered()
        if verdict.state is ExtractionState.SUCCEEDED:
            return self._made(verdict.memories)
        if verdict.state.is_terminal:
            return self._failed(verdict)
        if not self.progress.since:  # begun by a daemon without a shared queue
            self.progress = replace(self.progress, since=self._now)
        if self._now - self.progress.since >= self.worker.extraction_wait_seconds:
            self._keep(replace(self.progress, asked=0, since=self._now))
            return self._attempt_failed("the extraction took longer than its wait")
        interval = min(self.worker.first_interval * GROWTH ** (self.progress.asked + 1), MAX_INTERVAL_SECONDS)
        self.progress = replace(self.progress, asked=self.progress.asked + 1)
        return self._snoozed(interval, EXTRACTION_OPEN)

    def _failed(self, verdict: Extraction) -> Outcome:
        """Have the batch posted again, at the cost of one attempt. A missing extraction is looked for first: the
        platform may have dropped the event of a batch that it did take in (facts 2.20, 2.21)."""
        is_missing = verdict.state is ExtractionState.MISSING
        posted_at = self.progress.posted_at if is_missing else None
        self._keep(Progress(posted_at=posted_at, looks=is_missing))
        return self._attempt_failed(why_extraction_failed(verdict, lambda: [self.batch]))

    def _made(self, memories: int) -> Outcome:
        made = f"{memories:,} {'memory' if memories == 1 else 'memories'} made" if memories else "nothing new"
        return Done(f"delivered: {made}", payload=shared_batch.made(memories))

    @property
    def _now(self) -> float:
        """The queue's clock, as of this claim: workers' own may differ."""
        return self.context.job.updated_at

    def _keep(self, progress: Progress) -> None:
        self.progress = progress
        if not self.context.keep(shared_batch.advanced(self.context.job.payload, progress)):
            raise Ended(Snooze(0.0, "its claim was lost"))

    def _snoozed(self, seconds: float, why: str) -> Outcome:
        return Snooze(seconds, why, shared_batch.advanced(self.context.job.payload, self.progress))
