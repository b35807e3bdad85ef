"""A delivery in one thread: real evidence and queue on disk, a scripted platform, a clock moved by hand."""

import itertools
import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from jobs import checkpoint, delivery, flush, poll
from jobs.extractions import Extractions
from jobs.job import Job, JobState
from jobs.outcomes import Ended, Outcome
from jobs.queue.claims import JobContext
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from jobs.recovery import reconcile, resume_extractions
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Packet, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import Platform
from memsyncd.redaction import redact
from tests.clocks import HandClock
from tests.fakes.scripted_platform import ScriptedPlatform
from tests.jobs.queue.queues import LEASE, Middle

SPOOL = "claude-code"
SCOPE = Scope("https://git.example.org/team/tool", "team-tool", "team-tool-0123", "/w/tool", "main", "abc", "src")


MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Where files cost no disk: for tests that come back from hundreds of deaths."""


class Crash(BaseException):
    """The process dies here."""


class Delivering:
    """Everything a daemon needs to deliver, without its threads. `open` stands for a start of the process."""

    def __init__(
        self,
        directory: Path,
        platform: Platform | None = None,
        *,
        own: bool = True,
        wrap: Callable[[EvidenceStore], Any] = lambda store: store,
        hands: HandClock | None = None,
    ) -> None:
        self.directory = directory
        self.own = own
        self.hands = hands or HandClock()
        self.platform: Any = platform or ScriptedPlatform()
        self.user = "ada"
        self.held: str | None = None
        self.wrap = wrap
        self.before_finish: Callable[[Job], None] = lambda _: None
        self.numbers = itertools.count(1)
        self.runs: list[tuple[str, Outcome]] = []
        self._opened: list[Any] = []
        self.open()

    @property
    def path(self) -> Path:
        return self.directory / "evidence.sqlite3"

    def open(self) -> None:
        clock = self.hands.clock()
        self.evidence = EvidenceStore.open(
            self.path, own=self.own, clock=clock, project_id_of=lambda app, _: f"{app}-x"
        )
        self.store: Any = self.wrap(self.evidence)
        self.queue = SqliteQueue(
            self.directory / "queue.sqlite3",
            clock=clock,
            policy=Policy(),
            counters=Counters(),
            random=Middle(),
            lease=LEASE,
        )
        self._opened += [self.evidence, self.queue]
        self.extractions = Extractions(clock, first_interval_seconds=1.0)
        self.delivery = delivery.Delivery(
            store=self._store_of,
            queue=self.queue,
            platform=self.platform,
            extractions=self.extractions,
            clock=clock,
            user_id=lambda: self.user,
            hold=lambda _: self.held,
            redact=redact,
        )
        poll_id = poll.poll_job(self.platform.destination).id
        self.extractions.on_open = partial(self.queue.hasten, poll_id)
        self.handlers: Mapping[str, Callable[..., Outcome]] = {
            delivery.CHECKPOINT: checkpoint.checkpoint,
            delivery.FLUSH: flush.flush,
            poll.POLL: poll.poll,
        }
        self.queue.void_claims()
        self.queue.enqueue(poll.poll_job(self.platform.destination))
        reconcile(SPOOL, self.store, self.delivery)
        resume_extractions(self.delivery)

    def _store_of(self, name: str) -> Any:
        if name != SPOOL:
            raise KeyError(name)
        return self.store

    def close(self) -> None:
        for each in self._opened:
            each.close()
        self._opened.clear()

    def restart(self) -> None:
        """Die and come back: new objects over the same files."""
        self.close()
        self.open()

    # Evidence and requests

    def say(self, kind: str, session: str = "s", **payload: Any) -> None:
        number = next(self.numbers)
        event = NewEvent(session, kind, payload, "2026-11-30T10:00:00.000Z", f"h-{number:06}", SCOPE)
        self.evidence.append([event])

    def exchange(self, number: int = 1, session: str = "s", *, answer: str = "") -> None:
        self.say("user_prompt", session, prompt=f"question {number}")
        self.say("assistant_stop", session, text=answer or f"answer {number}")

    def ask(self, session: str = "s", key: str = "", **fields: Any) -> str:
        """Queue a checkpoint; return its id."""
        job = delivery.checkpoint_job(
            SPOOL, session, key=key or f"k{next(self.numbers)}", **{"reason": "session-end", **fields}
        )
        self.queue.enqueue(job)
        return job.id

    # Running

    def step(self) -> str:
        """Run one job; return its id, empty where none may run now."""
        claim = self.queue.claim()
        if claim is None:
            return ""
        context = JobContext(claim.job, threading.Event())
        try:
            outcome = self.handlers[claim.job.kind](context, delivery=self.delivery)
        except Ended as ended:
            outcome = ended.outcome
        self.runs.append((claim.job.id, outcome))
        self.before_finish(claim.job)
        job = self.queue.finish(claim, outcome, answered=context.has_answered)
        if job is not None:
            poll.wake_again(job, self.delivery)
        return claim.job.id

    def run(self, seconds: float = 0.0, *, steps: int = 5_000) -> None:
        """Run all that is due within `seconds`, moving the clock from one due time to the next."""
        end = self.hands.wall_now + seconds
        for _ in range(steps):
            if self.step():
                continue
            wait = self.queue.seconds_to_next()
            if wait is None or self.hands.wall_now + wait > end:
                self.hands.move(end - self.hands.wall_now)
                return
            self.hands.move(wait + 0.001)
        raise AssertionError(f"no end of it; the last runs: {self.runs[-6:]}")

    # What came of it

    def job(self, job_id: str) -> Job:
        job = self.queue.get(job_id)
        assert job is not None
        return job

    def packet(self, number: int = 0) -> Packet:
        return self.packets()[number]

    def packets(self) -> list[Packet]:
        with closing(sqlite3.connect(self.path)) as connection:
            names = [row[0] for row in connection.execute("SELECT packet_id FROM flushes ORDER BY event_start")]
        return [packet for name in names if (packet := self.evidence.packet(name)) is not None]

    def flush_of(self, packet: Packet) -> Job:
        return self.job(delivery.flush_job_id(SPOOL, packet.packet_id))

    def live_jobs(self) -> list[Job]:
        return [
            job
            for state in (JobState.READY, JobState.WAITING, JobState.CLAIMED)
            for job in self.queue.jobs(state=state)
            if job.kind != poll.POLL
        ]


@contextmanager
def fresh() -> Iterator[Delivering]:
    """Give a delivery with nothing in it."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        made = Delivering(Path(directory))
        try:
            yield made
        finally:
            made.close()
