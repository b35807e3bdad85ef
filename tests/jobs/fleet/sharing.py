"""An edge and a worker in one thread: the shared queue is any that keeps the contract, a clock is moved by hand."""

import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from jobs.delivery import FLUSH
from jobs.fleet.deliver import Account, Worker, deliver
from jobs.fleet.ends import End
from jobs.fleet.learn import LEARN, Learner, learn
from jobs.fleet.share import Edge, lost, share
from jobs.fleet.shared_batch import DELIVER
from jobs.fleet.verdicts import Verdicts
from jobs.flush import EXTRACTION_OPEN
from jobs.job import Job, JobState
from jobs.outcomes import Ended, Outcome
from jobs.queue.claims import Claim, JobContext
from jobs.queue.errors import QueueUnavailable
from jobs.queue.policy import Policy
from jobs.queue.shared_queue import Standing
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.counters import Counters
from memsyncd.evidence.event import Packet
from memsyncd.redaction import redact
from tests.fakes.scripted_platform import ScriptedPlatform
from tests.jobs.delivering import MEMORY, SPOOL, Delivering
from tests.jobs.queue.queues import LEASE, Middle

EDGE = "0123456789abcdef"


class Shared(SqliteQueue):
    """Tells how jobs stand as PostgresQueue does, and how often it was asked."""

    asked = 0
    identity = "one"

    def standings(self, job_ids: Sequence[str]) -> Mapping[str, Standing]:
        self.asked += 1
        jobs = {job_id: job for job_id in job_ids if (job := self.get(job_id)) is not None}
        return {
            job_id: Standing(job.state, job.reason, job.payload if job.state is JobState.DONE else {})
            for job_id, job in jobs.items()
        }


class Sharing:
    """`edge` records and puts packets into `shared`; `work` delivers from there. `is_away` cuts the edge and the worker
    off from the shared queue."""

    def __init__(self, directory: Path, *, own: bool = True) -> None:
        self.platform = ScriptedPlatform()
        self.edge = Delivering(directory, self.platform, own=own)
        self.directory = directory
        self.is_away = False
        self.held: str | None = None
        self.known_accounts = {""}
        self.newer = 0
        self.ends: list[tuple[str, End]] = []
        self.runs: list[tuple[str, Outcome]] = []
        self.shared = self.opened("shared.sqlite3")
        clock = self.edge.hands.clock()
        self.worker = Worker(
            account=self._account,
            hold=lambda: self.held,
            behind=self._behind,
            redact=redact,
            first_interval=1.0,
            extraction_wait_seconds=120.0,
            on_newer=self._met_newer,
        )
        self._reached = Account(self.platform, Verdicts(self.platform, clock))
        edge = Edge(self.edge.delivery, self.queue, EDGE)
        self.learner = learner = Learner(
            lambda: [(SPOOL, self.edge.evidence)],
            self.queue,
            EDGE,
            on_end=self._ended,
            on_lost=partial(lost, edge=edge),
            clock=clock,
        )
        self.edge.handlers = {
            **self.edge.handlers,
            FLUSH: lambda context, **_: share(context, edge),
            LEARN: lambda context, **_: learn(context, learner),
        }

    def opened(self, name: str) -> Shared:
        """Open a queue for several machines."""
        return Shared(
            self.directory / name,
            clock=self.edge.hands.clock(),
            policy=Policy(),
            counters=Counters(),
            random=Middle(),
            lease=LEASE,
        )

    def queue(self) -> Shared:
        if self.is_away:
            raise QueueUnavailable("the shared queue is away")
        return self.shared

    def _behind(self, job: Job) -> float | None:
        """Tell as PostgresQueue.behind does."""
        earlier = [
            each
            for each in self.shared.jobs(lane=job.lane)
            if each.state in {JobState.READY, JobState.WAITING}
            and (each.created_at, each.id) < (job.created_at, job.id)
            and each.reason != EXTRACTION_OPEN
        ]
        now = self.edge.hands.wall_now
        return min((max((each.not_before or now) - now, 0.0) for each in earlier), default=None)

    def _account(self, name: str) -> Account | None:
        return self._reached if name in self.known_accounts else None

    def _met_newer(self) -> None:
        self.newer += 1

    def _ended(self, packet: Packet, end: End) -> None:
        self.ends.append((packet.packet_id, end))

    def claim(self) -> Claim:
        claim = self.shared.claim()
        assert claim is not None
        return claim

    def work_once(self, *, dies: type[BaseException] | None = None) -> str:
        """Run one batch's job; return its id, empty where none may run now. With `dies` that is what its worker died
        of, and nothing is finished."""
        claim = self.shared.claim()
        if claim is None:
            return ""
        context = JobContext(claim.job, threading.Event(), partial(self.shared.keep, claim))
        assert claim.job.kind == DELIVER
        try:
            outcome = deliver(context, self.worker)
        except Ended as ended:
            outcome = ended.outcome
        except BaseException as death:
            if dies is None or not isinstance(death, dies):
                raise
            self.shared.abandon(claim)
            return claim.job.id
        self.runs.append((claim.job.id, outcome))
        self.shared.finish(claim, outcome, answered=context.has_answered)
        return claim.job.id

    def work(self, seconds: float = 0.0) -> None:
        """Run all that is due within `seconds`, on the worker and on the edge."""
        end = self.edge.hands.wall_now + seconds
        for _ in range(2_000):
            if self.edge.step() or (not self.is_away and self.work_once()):
                continue
            waits = [self.edge.queue.seconds_to_next(), self.shared.seconds_to_next()]
            wait = min((each for each in waits if each is not None), default=None)
            if wait is None or self.edge.hands.wall_now + wait > end:
                self.edge.hands.move(max(0.0, end - self.edge.hands.wall_now))
                return
            self.edge.hands.move(wait + 0.001)
        raise AssertionError(f"no end of it; the last runs: {self.runs[-6:]} {self.edge.runs[-6:]}")

    def jobs(self) -> list[Job]:
        return list(self.shared.jobs())

    def close(self) -> None:
        self.shared.close()
        self.edge.close()


@contextmanager
def sharing(**options: Any) -> Iterator[Sharing]:
    """Give an edge and a worker with nothing to do."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        made = Sharing(Path(directory), **options)
        try:
            yield made
        finally:
            made.close()
