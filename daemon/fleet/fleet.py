"""What a daemon is in a fleet: an edge, which puts packets into the shared queue; a worker, which delivers; or both."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from daemon.fleet.accounts import Accounts
from daemon.fleet.connection import Connection
from daemon.fleet.edge_look import EdgeLook, packets
from daemon.fleet.key_changes import KeyChanges
from daemon.fleet.looking import NAME, Looker
from daemon.fleet.sight import Seen, Sight
from daemon.fleet.troubles import Troubles
from daemon.status.findings import Findings
from jobs.delivery import FLUSH
from jobs.fleet.deliver import Worker, deliver
from jobs.fleet.learn import IDLE_SECONDS, LEARN, Learner, learn, learn_job
from jobs.fleet.share import Edge, share
from jobs.fleet.shared_batch import DELIVER
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import Job, JobState
from jobs.outcomes import Snooze
from jobs.queue.claiming_huey import OnFinish, OnStart
from jobs.queue.claims import Handler
from jobs.queue.contract import Destination, JobQueue
from jobs.queue.errors import NewerSchema, NotLetIn, NotSetUp, QueueError
from jobs.queue.shared_queue import UNUSABLE
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from memsyncd.counters import Counters

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue

UNREACHABLE = "shared-queue-unreachable"
"""The finding while the database cannot be used."""

REFUSED = "shared-queue-refused"
"""The finding in its place while a person must act: it lets this machine not in, or is not set up."""

UPKEEP_SECONDS = 15.0
"""Between two looks at the database's clock; half as often as its listener looks for lost news."""

PRUNE_SECONDS = 3600.0

SILENT_SECONDS = 10.0
"""A database is told as out of reach that has not answered for so long."""

HURRY_SECONDS = 2.0
"""What calls of the database get at a stop, of the daemon's three seconds."""

LOOKER_STOP_SECONDS = 0.5

ONCE_LOOKED_AT = 100
"""Waiting batches, the last changed, that `run --once` waits for where they are sure to be over soon."""

SURE_TO_COME = frozenset({ABOUT_TO_LOOK, EXTRACTION_OPEN})
"""The reasons of such."""

NO_EDGE = "this machine puts nothing into the shared queue at present"
DAY_SECONDS = 86_400.0

log = structlog.get_logger()


@dataclass
class Fleet:
    """Made with the daemon's other parts. `tick` is called on its rounds and waits for nothing, `start` and `stop` with
    the daemon's own workers. `keeps` are the days finished jobs and dead letters are kept, 0 for ever."""

    connection: Connection
    accounts: Accounts
    edge: Edge | None
    learner: Learner | None
    worker: Worker | None
    threads: int
    clock: Clock
    counters: Counters
    findings: Findings
    troubles: Troubles
    keeps: tuple[int, int]
    on_start: OnStart = lambda _: None
    on_finish: OnFinish = lambda *_: None
    workers: Workers | None = field(default=None, init=False)
    _failure: QueueError | None = field(default=None, init=False)
    _upkept_at: float = field(default=float("-inf"), init=False)
    _pruned_at: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self.looker = Looker(self._look_and_tell, self.clock.monotonic)
        self.key_changes = KeyChanges(self.accounts)
        self.sight = Sight(self.looker.again, self.clock.monotonic)
        self.edge_look = EdgeLook(self.learner, self.troubles, self.sight) if self.learner else None

    @property
    def role(self) -> str:
        """`edge`, `worker` or `both`."""
        if self.worker is None:
            return "edge"
        return "both" if self.edge else "worker"

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What of the own queue is done otherwise: a packet's flush, and learning its end, which a worker puts off."""
        if self.edge is None or self.learner is None:
            return {LEARN: lambda _: Snooze(IDLE_SECONDS, NO_EDGE)}
        return {FLUSH: partial(share, edge=self.edge), LEARN: partial(learn, learner=self.learner)}

    @property
    def problem(self) -> str:
        """Why the shared queue cannot be used at present; empty while it can."""
        failure = self._failure if self.connection.opened else self.connection.failure
        silent = self.looker.silent_seconds
        if failure is None and self.connection.opened and silent >= SILENT_SECONDS:
            return f"it has not answered for {silent:.0f} s"
        return str(failure or "").removeprefix(UNUSABLE)

    def start(self, queue: JobQueue) -> None:
        """Begin; the database may be away. `queue` is the daemon's own."""
        if self.learner is not None:
            queue.enqueue(learn_job())
            queue.retry(LEARN)  # whatever became of it while this machine shared no queue

    def tick(self) -> None:
        """Have the database looked at: reached if it was not yet, and changed keys taken up; show what is wrong."""
        self.looker.ask()
        problem = self.problem
        self.connection.trouble = f"{UNUSABLE}{problem}" if problem and self.connection.opened else ""
        failure = self._failure if self.connection.opened else self.connection.failure
        is_refused = isinstance(failure, NotLetIn | NotSetUp | NewerSchema)
        for code, holds in ((UNREACHABLE, not is_refused), (REFUSED, is_refused)):
            if problem and holds:
                self.findings.report(code, detail=problem)
            else:
                self.findings.clear(code)

    def cancel(self) -> None:
        """End every call in the air now, and soon those that wait for the database."""
        self.accounts.cancel()
        self.connection.hurry(HURRY_SECONDS)

    def stop(self, seconds: float) -> bool:
        """Take no more batches, end those under way; return whether all came to an end. After `cancel`."""
        has_looked = self.looker.stop(LOOKER_STOP_SECONDS)
        ended = self.workers.stop(seconds) if self.workers else True
        return has_looked and ended

    def close(self) -> None:
        """Release everything. Only after `stop`."""
        self.accounts.close()
        self.connection.close()

    def is_all_done(self) -> bool:
        """Whether nothing is left that this worker could bring to an end now: for `run --once`."""
        queue = self.connection.opened
        if queue is None or self.problem or not self._may_claim():
            return True
        if self.workers is None or self.workers.running():
            return False
        try:
            return not queue.is_ready() and not any(job.reason in SURE_TO_COME for job in self._waiting(queue))
        except QueueError as error:
            self._failure = error
            return True

    def put_off(self) -> Sequence[Job]:
        """Return the batches that wait for this worker, the last changed; none where they cannot be asked for."""
        queue = self.connection.opened
        if self.worker is None or queue is None or self.problem:
            return ()
        try:
            return self._waiting(queue)
        except QueueError:
            return ()

    def _waiting(self, queue: "PostgresQueue") -> Sequence[Job]:
        found = queue.jobs(state=JobState.WAITING, kind=DELIVER, limit=ONCE_LOOKED_AT)
        return [job for job in found if job.account in self.accounts.serves.accounts]

    def dead_threads(self) -> list[str]:
        """Return the names of threads that ended though nobody stopped them."""
        queue = self.connection.opened
        of_workers, of_queue = (each.dead_threads() if each else () for each in (self.workers, queue))
        return [*((NAME,) if self.looker.is_dead else ()), *of_workers, *of_queue]

    @property
    def oldest_claim_seconds(self) -> float:
        """How long the batch has not moved that moved least lately, of those under way here; 0 where there is none, or
        where all of them wait for the database."""
        return self.workers.oldest_claim_age() if self.workers and not self.problem else 0.0

    def told(self) -> dict[str, Any]:
        """Return what a status tells of it: seen now, or where that cannot be had at once as it was seen last. Of all
        machines' jobs only a worker tells: there are many edges."""
        queue, problem = self.connection.opened, self.problem
        document: dict[str, Any] = {
            "role": self.role,
            "place": queue.place if queue else "",
            "reached": not problem,
        }
        if problem:
            document["problem"] = problem
        if self.learner is not None:
            document["packets_out"] = packets(self.learner, "packets_shared")
        if queue is None:
            return document
        seen = self.sight.seen
        if not problem and (self.worker is not None or seen.packets_dead):
            seen = self.sight.asked()
        if self.worker is None:
            return document | {"packets_dead": seen.packets_dead}
        return document | {"listening": queue.is_listening, "jobs": dict(seen.jobs)}

    def _look_and_tell(self) -> None:
        try:
            self._look()
        except QueueError as error:
            self._failure = error
        else:
            self._failure = None

    def _look(self) -> None:
        queue = self.connection.reach()
        now = self.clock.monotonic()
        if self.worker is None:
            is_due = now - self._upkept_at >= UPKEEP_SECONDS or self._failure is not None
            self._upkept_at = now if is_due else self._upkept_at
            if self.edge_look is not None:
                self.edge_look.look(queue, now, is_due=is_due)
            return
        has_changed = self.accounts.look()
        if self.workers is None:
            self.key_changes.look(queue)  # before a key that is refused only now would seem to be another's
            self._start_workers(queue)
        elif has_changed:
            self._upkept_at = float("-inf")
            queue.bell.wake_all()
        if self._failure:
            queue.now()
        if self.sight.is_wanted:
            self.sight.look(lambda: Seen(jobs=asdict(queue.counts()), destinations=self._delivered_to(queue)))
        if now - self._upkept_at >= UPKEEP_SECONDS:
            self._upkept_at = now
            queue.shift_clock(0.0)
            self.key_changes.look(queue)
            # however long a count takes
            self.sight.seen = replace(self.sight.seen, destinations=self._delivered_to(queue))
            self._say_that_it_runs(queue)
        if now - self._pruned_at >= PRUNE_SECONDS:
            self._pruned_at = now
            self._prune(queue)

    def _delivered_to(self, queue: "PostgresQueue") -> Sequence[Destination]:
        """Return what is known of the destination for the accounts that this worker delivers for."""
        serves = self.accounts.serves
        known = queue.destinations()
        return [each for each in known if each.name == serves.destination and each.account in serves.accounts]

    def _start_workers(self, queue: "PostgresQueue") -> None:
        assert self.worker is not None
        voided = queue.void_claims()
        if voided:
            log.info("claims-given-back", jobs=voided, queue="shared")
        queue.may_claim = self._may_claim
        queue.listen()
        if self.looker.is_stopping:
            return
        workers = Workers(
            queue,
            {DELIVER: partial(deliver, worker=self.worker)},
            self.threads,
            clock=self.clock,
            counters=self.counters,
            on_start=self.on_start,
            on_finish=self.on_finish,
        )
        workers.start()
        self.workers = workers  # not before: a thread that only starts looks like one that died

    def _may_claim(self) -> bool:
        """Whether this worker delivers at present: what it cannot is not taken, so that others have it at once."""
        return self.worker is not None and self.worker.hold() is None

    def _say_that_it_runs(self, queue: "PostgresQueue") -> None:
        """Let all know what this worker delivers, unless it stands still, and tell what none delivers."""
        if self._may_claim():
            queue.announce(self.accounts.serves)
        self.troubles.look(queue.unserved(), only_own=False)

    def _prune(self, queue: "PostgresQueue") -> None:
        """Delete what has had its days, as the strictest of the machines has it."""
        done, dead = self.keeps
        if not done:
            return
        now = queue.now()  # never by a worker's own clock, which may be years ahead
        dead_before = now - dead * DAY_SECONDS if dead else 0.0
        queue.prune(finished_before=now - done * DAY_SECONDS, dead_before=dead_before)
