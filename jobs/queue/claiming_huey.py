"""Our Huey: its registry, tasks and consumer, with jobs that are claimed where huey's own stores delete them."""

import contextlib
import datetime as dt
import functools
import json
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from jobs.job import Job, NewJob
from jobs.outcomes import Ended, Outcome, Retry
from jobs.queue.claims import Claim, ClaimQueue, Handler, JobContext
from jobs.queue.errors import QueueUnavailable
from jobs.queue.hueys import Huey, Registry, Serializer, Task
from jobs.queue.policy import bounded
from jobs.queue.running import Running
from memsyncd.counters import Counters

UNAVAILABLE_PAUSE = 1.0
"""Seconds between two tries while the store cannot be used."""

OnStart = Callable[[Job], None]
"""Told of a job as claimed, before its run."""

OnFinish = Callable[[Job, Outcome, float], None]
"""Told of a job as it stands after its run was committed, of the run's outcome, and of the run's seconds.

Also of a job that died without a run's outcome (crashed its workers, cannot be decoded, of no known kind): GiveUp, 0.0;
and of one that another's `Done` ended: Done, 0.0.
"""

InTurn = Callable[[], contextlib.AbstractContextManager[object]]
"""Gives the context in which a run and its settlement compute (`memsyncd.turn.taken`)."""

_logger = logging.getLogger(__name__)


class JsonSerializer(Serializer):
    """JSON in place of pickle: what is read back from a file must not be able to run."""

    def _serialize(self, data: Any) -> bytes:
        return json.dumps(data, allow_nan=False).encode()

    def _deserialize(self, data: bytes) -> Any:
        return json.loads(data)


class KindRegistry(Registry):
    """Tasks by the job's kind alone: a handler may move to another module without orphaning what waits for it."""

    def task_to_string(self, task_class: type) -> str:
        """Return the kind."""
        return task_class.__name__


class ClaimTask(Task):
    """A task of one claimed job."""

    claim: Claim
    job_context: JobContext


class ClaimingHuey(Huey):
    """Takes jobs from `queue` by claims, runs the handler of their kind, and settles each with its outcome."""

    def __init__(
        self,
        queue: ClaimQueue,
        handlers: Mapping[str, Handler],
        *,
        running: Running,
        counters: Counters,
        on_start: OnStart | None,
        on_finish: OnFinish | None,
        in_turn: InTurn = contextlib.nullcontext,
    ) -> None:
        self._queue = queue
        self._in_turn = in_turn
        super().__init__("jobs", results=False, serializer=JsonSerializer())
        self._registry = KindRegistry()
        for kind, handler in handlers.items():
            self.task(name=kind, task_base=ClaimTask)(handler)
        self._running = running
        self._counters = counters
        self._on_start = on_start
        self._on_finish = on_finish
        queue.on_settled = self._settled
        self._next = threading.local()  # the claim that came with this thread's last finish
        self.stopping = threading.Event()
        """Set once: no more claims."""
        self.fault = ""
        """Why the store cannot be used at the moment, empty while it can."""

    def create_storage(self) -> Any:
        """Return the queue's own storage."""
        return self._queue.storage

    def enqueue(self, task: Task) -> None:
        """Enqueue a task of one of our kinds; its id is the job's, its keyword arguments are the payload."""
        delay = 0.0
        if task.eta is not None:  # huey's times are naive UTC
            delay = (task.eta - dt.datetime.now(dt.UTC).replace(tzinfo=None)).total_seconds()
        self._queue.enqueue(NewJob(task.id, task.name, task.kwargs, priority=task.priority or 0, delay=max(delay, 0.0)))

    def dequeue(self) -> ClaimTask | None:
        """Wait for the next job and return its task; None when stopping."""
        claim = self._take_next()
        looked_at = self._take_ticket()
        while claim is None:
            ticket = self._queue.bell.ticket() if looked_at is None else looked_at
            if self.stopping.is_set():
                return None
            try:
                claim = self._queue.claim() if looked_at is None else None  # the last finish has just looked
                looked_at = None
                delay = None if claim else self._queue.seconds_to_next()
                self.fault = ""
            except QueueUnavailable as error:
                self._note(error)
                self.stopping.wait(UNAVAILABLE_PAUSE)
                continue
            if claim is None:
                self._queue.bell.wait(ticket, delay)
            else:
                self._queue.bell.hand_on()
        return self._task(claim)

    def execute(self, task: ClaimTask, timestamp: object = None) -> None:  # noqa: ARG002  (huey's signature)
        """Run one claimed task and settle it. Raises only what ends the thread."""
        with self._in_turn():
            self._run_and_settle(task)

    def _run_and_settle(self, task: ClaimTask) -> None:
        claim = task.claim
        outcome: Outcome | None = None
        settled = False
        seconds = self._running.start(claim)
        try:
            self._observe(self._on_start, claim.job)
            outcome = _run(task)
            ran = seconds()
            job = self._settle(claim, outcome, answered=task.job_context.has_answered)
            settled = True
            if job is not None:  # it counts as running until it is told: `run --once` sums up what was told
                self._observe(self._on_finish, job, outcome, ran)
        finally:
            self._running.end(claim)
            if outcome is None:  # the thread is ending: interpreter shutdown, or a handler that raised SystemExit
                self.give_back(claim)
            elif not settled:  # it expires and counts as a crash, so that it cannot happen for ever
                self._queue.abandon(claim)

    def renew_claims(self) -> None:
        """Renew the claims of this process; while the store cannot be used, the next round is soon enough."""
        try:
            self._queue.renew()
        except QueueUnavailable as error:
            self._note(error)

    @property
    def lease(self) -> float:
        """Seconds a claim lasts."""
        return self._queue.lease

    def give_back_next(self) -> None:
        """Give back what this thread has claimed but not begun: it is ending."""
        claim = self._take_next()
        if claim is not None:
            self.give_back(claim)

    def give_back(self, *claims: Claim) -> None:
        """Give claims back as if never taken; where the store cannot be used, let them expire."""
        try:
            self._queue.unclaim(*claims)
        except QueueUnavailable as error:
            self._note(error)
            for claim in claims:
                self._queue.abandon(claim)

    def _task(self, claim: Claim) -> ClaimTask | None:
        """Return the task that runs a claimed job; a kind that nobody handles becomes a dead letter, kept whole."""
        task_class = self._registry._registry.get(claim.job.kind)  # noqa: SLF001  (its look-up raises, for anything)
        if task_class is None:
            self._counters.add("jobs_unknown_kind")
            try:
                self._queue.set_aside(claim, f"no handler for jobs of kind {claim.job.kind!r}")
            except QueueUnavailable:
                self.give_back(claim)
            return None
        context = JobContext(claim.job, self.stopping, functools.partial(self._queue.keep, claim))
        task: ClaimTask = task_class(args=(context,), id=claim.job.id, priority=claim.job.priority)
        task.claim = claim
        task.job_context = context
        return task

    def _settle(self, claim: Claim, outcome: Outcome, *, answered: bool) -> Job | None:
        """Commit the outcome, however long the store cannot be used: the claim is renewed meanwhile, or outlives us.

        An outcome that cannot be stored (a payload that is no JSON) is a failed attempt; raises if that cannot either.
        """
        refused = False
        while True:
            try:
                if self.stopping.is_set():
                    return self._queue.finish(claim, outcome, answered=answered)
                self._next.ticket = self._queue.bell.ticket()
                job, self._next.claim = self._queue.finish_and_claim(claim, outcome, answered=answered)
            except QueueUnavailable as error:
                self._note(error)
                if self.stopping.wait(UNAVAILABLE_PAUSE):
                    self._queue.abandon(claim)
                    return None
            except Exception as error:
                if refused:
                    raise
                refused = True
                outcome = Retry(_described(error))
            else:
                self.fault = ""
                return job

    def _take_next(self) -> Claim | None:
        claim: Claim | None = getattr(self._next, "claim", None)
        self._next.claim = None
        return claim

    def _take_ticket(self) -> int | None:
        """Return the bell's ticket from before this thread's last look for work, if that was with a finish."""
        ticket: int | None = getattr(self._next, "ticket", None)
        self._next.ticket = None
        return ticket

    def _settled(self, job: Job, outcome: Outcome) -> None:
        self._observe(self._on_finish, job, outcome, 0.0)

    def _note(self, error: QueueUnavailable) -> None:
        self.fault = str(error)
        self._counters.add("queue_unavailable")

    def _observe(self, observer: Callable[..., None] | None, *values: object) -> None:
        if observer is None:
            return
        try:
            observer(*values)
        except Exception:
            self._counters.add("observer_failures")
            _logger.exception("an observer of the queue failed")


def _run(task: ClaimTask) -> Outcome:
    try:
        outcome = task.execute()
    except Ended as ended:
        outcome = ended.outcome
    except Exception as error:  # noqa: BLE001  (a fault of ours is this job's failed attempt and nobody else's)
        return Retry(_described(error))
    if type(outcome) is Outcome or not isinstance(outcome, Outcome):
        return Retry(f"the handler returned {type(outcome).__name__}, which is no outcome")
    return outcome


def _described(error: Exception) -> str:
    return bounded(f"{type(error).__name__}: {error}")
