"""The shared queue: `jobs.queue.contract.JobQueue` and `jobs.queue.claims.ClaimQueue` on one PostgreSQL database."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, TypeVar

import psycopg

from jobs.job import Job, JobState, NewJob
from jobs.outcomes import Outcome
from jobs.queue.claims import LEASE_SECONDS, Claim
from jobs.queue.contract import Destination, QueueCounts
from jobs.queue.doorbell import Doorbell
from jobs.queue.policy import Policy
from jobs.queue.postgres import changing, claiming, cooling, enqueueing, errors, lanes, schema, serving, waking
from jobs.queue.postgres.claiming import Worker
from jobs.queue.postgres.connections import Connections
from jobs.queue.postgres.database_clock import DatabaseClock
from jobs.queue.postgres.listening import NAME, Listener, Told
from jobs.queue.postgres.reading import Reader
from jobs.queue.postgres.rows import Codec
from jobs.queue.postgres.sealing import Sealing, Unsealed
from jobs.queue.postgres.storage import SharedStorage, place_of
from jobs.queue.postgres.transaction import Transaction
from jobs.queue.postgres.working import Working
from jobs.queue.postgres.writer import Writer
from jobs.queue.shared_queue import Serves, Standing, Unserved
from memsyncd.clock import Clock
from memsyncd.counters import Counters

Result = TypeVar("Result")

STEP = 500
"""Rows changed in one transaction by calls that may meet very many; claims go on between two steps."""

CONNECTIONS = 5
"""Connections of one process, beside the one that listens: a server takes a hundred in all unless told otherwise."""


class PostgresQueue:
    """One database, opened once per process. Every method is safe from any thread. All times are the database's.

    Every method may raise QueueUnavailable (no connection, no rights, a server that is full or shutting down, closed):
    then nothing happened, or it is found out by the next call of the same.
    Counters: `jobs_enqueued`, `jobs_dead`, `jobs_cancelled`, `jobs_pruned`, `jobs_erased`, `jobs_undecodable`,
    `dead_jobs_expired`, `claims_lost`, `claims_expired`, `claims_voided`, `destinations_cooled`.
    """

    def __init__(
        self,
        url: str,
        *,
        host: str,
        worker: str,
        clock: Clock,
        policy: Policy,
        counters: Counters,
        random: Random,
        account: str = "",
        sealing: Sealing | None = None,
        serves: Callable[[], Serves | None] = lambda: None,
        lease: float = LEASE_SECONDS,
        connections: int = CONNECTIONS,
    ) -> None:
        """Connect, and bring the tables forward. `host` is shown with what is enqueued here; `worker` is this machine's
        and data directory's own name, the same after a restart; `serves` is asked before each claim what this machine
        can deliver, and takes therefore (None: all). Raises NewerSchema, NotSetUp, QueueUnavailable."""
        self.lease = lease
        self.on_settled: Callable[[Job, Outcome], None] | None = None
        self.may_claim: Callable[[], bool] = lambda: True
        """Asked before each claim: while this machine stands still, what it would have taken is others' to take."""
        self.bell = Doorbell(clock.monotonic)
        self.place = place_of(url)
        self.storage = SharedStorage(url)
        self.identity = ""
        """What tells this queue from every other."""
        self._host = host
        self._account = account
        self._serves = serves
        self._counters = counters
        self._codec = Codec(sealing or Unsealed())
        opened_at = clock.monotonic()
        self._worker = Worker(worker, lease, policy, self._codec, lambda: clock.monotonic() - opened_at)
        process = f"{random.getrandbits(64):016x}"
        self._connections = Connections(self.storage.connect, connections, patience=self.storage.patience)
        try:
            told = Told(self._opened(), process)
            self._writer = Writer(self._connections, told.tell, self._publish)
            self._working = Working(self._writer, self._worker, process, random, serves)
            self._reader = Reader(self._connections, self._codec)
            self._listener = Listener(self.storage.connect, told, self.bell)
            self._database_clock = DatabaseClock(clock.up)
            self._writer.run(self._database_clock.look)
        except BaseException:
            self._connections.close()
            raise

    def listen(self) -> None:
        """Start the thread that rings the bell for what other machines tell. Who claims listens; who only enqueues or
        looks need not."""
        self._listener.start()

    @property
    def is_listening(self) -> bool:
        """Whether other machines' news come in now. Where not, they are looked for every 15 seconds."""
        return self._listener.listening.is_set()

    def dead_threads(self) -> Sequence[str]:
        """Return the names of threads of this queue that ended though nobody stopped them."""
        return (NAME,) if self._listener.is_dead else ()

    def enqueue(self, *jobs: NewJob) -> int:
        """Store the jobs that are new by id; return how many were. TypeError, ValueError: a payload is not JSON."""
        if not jobs:
            return 0

        def act(transaction: Transaction) -> int:
            lanes.lock(transaction, (self._codec.lane(job.lane) for job in jobs if not job.delay > 0))
            transaction.tells_due = True
            return enqueueing.enqueue(transaction, jobs, self._codec, account=self._account, host=self._host)

        return self._writer.run(act)

    def wake(self, *job_ids: str) -> int:
        """Make waiting jobs ready now; return how many woke, less those that a cooling destination still holds."""
        keys = [self._codec.key(job_id) for job_id in job_ids]
        return self._wake("key = ANY (%s)", keys) if keys else 0

    def hasten(self, job_id: str, delay: float) -> bool:
        """Let a waiting job wait for at most `delay` seconds from now; False where it does not wait for longer."""
        return self._told(lambda transaction: waking.hasten(transaction, self._codec.key(job_id), delay))

    def wake_lane(self, lane: str) -> int:
        """Wake the waiting jobs of a lane; a job without a lane has none in common with others."""
        name = self._codec.lane(lane)
        return self._wake("lane = %s", name) if name else 0

    def wake_kind(self, kind: str) -> int:
        """Wake the waiting jobs of a kind, on all machines."""
        return self._wake("kind = %s", kind)

    def get(self, job_id: str) -> Job | None:
        """Return one job."""
        return self._reader.get(self._codec.key(job_id))

    def standings(self, job_ids: Sequence[str]) -> Mapping[str, Standing]:
        """Return how jobs stand, by their ids, of those that are there."""
        return self._reader.standings(job_ids)

    def jobs(
        self, *, state: JobState | None = None, kind: str = "", lane: str = "", limit: int = 100, host: str = ""
    ) -> Sequence[Job]:
        """Return jobs, newest change first, of one host or of all."""
        return self._reader.jobs(state=state, kind=kind, lane=self._codec.lane(lane), host=host, limit=limit)

    def counts(self) -> QueueCounts:
        """Return the counts of all machines' jobs; of those that are over, `reading.MOST_COUNTED` at most."""
        return self._reader.counts()

    def is_ready(self) -> bool:
        """Return whether a job that this machine can deliver is ready, and nothing holds it."""
        return self._reader.is_ready(self._serves())

    def retry(self, job_id: str) -> bool:
        """Make a dead, cancelled or waiting job ready with attempts and crashes at zero; else False."""
        return self._writer.run(lambda transaction: changing.retry(transaction, self._codec.key(job_id)))

    def reopen(self, job_id: str) -> bool:
        """Make a done job ready with a clean slate, because what it brought about is undone; else False."""
        return self._writer.run(lambda transaction: changing.reopen(transaction, self._codec.key(job_id)))

    def cancel(self, job_id: str, why: str) -> bool:
        """Cancel a ready or waiting job; else False."""
        return self._writer.run(lambda transaction: changing.cancel(transaction, self._codec.key(job_id), why))

    def discard(self, job_id: str) -> bool:
        """Turn a dead letter into a cancelled job, its reason kept; else False."""
        return self._writer.run(lambda transaction: changing.discard(transaction, self._codec.key(job_id)))

    def erase(self, *names: str) -> int:
        """Delete every job of the lanes that is not claimed, whatever became of it. The server gives its space to other
        rows when it next cleans up (autovacuum)."""
        digests = [digest for name in names if (digest := self._codec.lane(name)) is not None]
        return sum(self._writer.run(partial(changing.erase, lane=digest)) for digest in digests)

    def destinations(self) -> Sequence[Destination]:
        """Return every destination that is cooling, parked, or has ever answered, for every account."""
        return self._reader.destinations()

    def announce(self, serves: Serves) -> None:
        """Say that this machine is a worker that runs, and what it serves: a few times in `serving.RUNS_SECONDS`."""
        self._writer.run(lambda transaction: serving.announce(transaction, self._worker.name, self._host, serves))

    def unserved(self) -> Sequence[Unserved]:
        """Return whose jobs no worker takes that runs, those first that wait for longest; those of no news are left
        out."""
        return self._reader.unserved()

    def release(self, destination: str, account: str | None = None) -> int:
        """End a destination's cooldown now for an account (None: this queue's own); return how many jobs it held."""
        whose = self._account if account is None else account
        return self._writer.run(lambda transaction: cooling.release(transaction, whose, destination))

    def void_claims(self) -> int:
        """Give back every claim of an earlier run on this machine and data directory, each as a crash. Other workers'
        claims run out by the database's clock."""
        return self._writer.run(lambda transaction: claiming.void(transaction, self._worker))

    def shift_clock(self, seconds: float) -> None:  # noqa: ARG002  (of this machine's clock, by which nothing here goes)
        """Look whether the database's own clock was set, and if so move every wait, lease and cooldown along, once for
        all machines. What happened to this machine's clock, a sleep above all, moves nothing."""
        longest = self._worker.policy.max_cooldown

        def act(transaction: Transaction) -> None:
            jump = self._database_clock.jumped(transaction)
            if jump:
                changing.move_times(transaction, jump, longest)

        self._told(act)

    def prune(self, *, finished_before: float, dead_before: float = 0.0) -> int:
        """Delete done and cancelled jobs last changed before one Unix time, and dead ones given up before another."""
        pruned = 0
        while step := self._writer.run(
            lambda transaction: changing.prune(transaction, finished_before, dead_before, STEP)
        ):
            pruned += step
        return pruned

    def rest(self, seconds: float) -> None:
        """Let go of the connections where none was used for so long; the next call opens one."""
        self._connections.drop_unused(seconds)

    def hurry(self, seconds: float) -> None:
        """Let every call, under way or to come, end within `seconds`, as QueueUnavailable where the server is silent:
        the process is about to stop."""
        self.storage.patience.hurry(seconds)

    def now(self) -> float:
        """Return the database's time, Unix seconds: by that it is told how old a job is."""
        return self._reader.now()

    def behind(self, job_id: str, passing: str) -> float | None:
        """Return in how many seconds an earlier job of its lane and destination is due that is not over, waits for
        another reason than `passing`; None where there is none. As long as the job is claimed that stays so."""
        return self._reader.behind(self._codec.key(job_id), passing)

    def close(self) -> None:
        """Stop listening and close the connections."""
        self._listener.stop()
        self._connections.close()

    def claim(self) -> Claim | None:
        """Take the next job, or None where none may be taken now."""
        return self._working.claim() if self.may_claim() else None

    def seconds_to_next(self) -> float | None:
        """Return in how many seconds the next wait, cooldown or foreign claim ends; None where there is none."""
        return self._reader.seconds_to_next(self._working.living(), self._serves())

    def finish(self, claim: Claim, outcome: Outcome, *, answered: bool = False) -> Job | None:
        """Apply a run's outcome, once; return the job as it then stands, None where the claim was lost."""
        return self._working.finish(claim, outcome, answered=answered)

    def finish_and_claim(
        self, claim: Claim, outcome: Outcome, *, answered: bool = False
    ) -> tuple[Job | None, Claim | None]:
        """Finish, and take the next job in the same commit."""
        if not self.may_claim():
            return self.finish(claim, outcome, answered=answered), None
        return self._working.finish_and_claim(claim, outcome, answered=answered)

    def keep(self, claim: Claim, payload: Mapping[str, Any]) -> bool:
        """Replace a claimed job's payload, on the disk before this returns; False where the claim was lost."""
        return self._working.keep(claim, payload)

    def unclaim(self, *claims: Claim) -> int:
        """Give claims back as if never taken; return how many were still held."""
        return self._working.unclaim(claims)

    def set_aside(self, claim: Claim, why: str) -> Job | None:
        """Turn a claimed job into a dead letter without a run."""
        return self._working.set_aside(claim, why)

    def renew(self) -> int:
        """Extend the claims of this process's living workers to a lease from now; return how many."""
        return self._working.renew()

    def abandon(self, claim: Claim) -> None:
        """Stop renewing a claim whose worker is gone."""
        self._working.abandon(claim)

    def _opened(self) -> str:
        """Bring the tables forward and learn which they are; return the channel, the schema's own as they are."""
        try:
            with self._connections.one() as connection:
                schema.prepare(connection, self.place)
                row = connection.execute("SELECT current_schema() AS name, id FROM memsyncd_identity").fetchone()
        except psycopg.Error as error:
            raise errors.unavailable(error) from error
        assert row is not None  # its one row
        self.identity = str(row["id"])
        return f"{self.storage.channel}.{hashlib.blake2b(row['name'].encode(), digest_size=8).hexdigest()}"

    def _wake(self, which: str, value: object) -> int:
        woken = 0
        while True:
            found, free = self._writer.run(lambda transaction: waking.wake_some(transaction, which, [value], STEP))
            woken += free
            if found < STEP:
                return woken

    def _told(self, act: Callable[[Transaction], Result]) -> Result:
        """Run `act`, and tell other machines too of what it puts off."""

        def telling(transaction: Transaction) -> Result:
            transaction.tells_due = True
            return act(transaction)

        return self._writer.run(telling)

    def _publish(self, transaction: Transaction) -> None:
        """Tell of what is committed: counters, and workers to wake."""
        for name, amount in transaction.counted.items():
            self._counters.add(name, amount)
        self.bell.ring(transaction.claimable)
        if self.on_settled is not None:
            for job, outcome in transaction.settled:
                self.on_settled(job, outcome)
        if transaction.due is not None:
            self.bell.due_in(transaction.due)
