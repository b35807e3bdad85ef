"""The embedded queue: `jobs.queue.contract.JobQueue` and `jobs.queue.claims.ClaimQueue` on one SQLite file."""

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from jobs.job import Job, JobState, NewJob
from jobs.outcomes import Outcome, Snooze
from jobs.queue import claiming, cooling, lanes, settling
from jobs.queue.claiming import Moment
from jobs.queue.claims import LEASE_SECONDS, Claim
from jobs.queue.contract import Destination, QueueCounts
from jobs.queue.doorbell import Doorbell
from jobs.queue.policy import Policy
from jobs.queue.reading import Reader
from jobs.queue.sqlite_store import ClaimStorage
from jobs.queue.writer import Operation, Transaction, Writer
from memsyncd import damaged_file
from memsyncd.clock import Clock
from memsyncd.counters import Counters

Result = TypeVar("Result")

STEP = 500
"""Rows changed in one transaction by calls that may meet very many; claims go on between two steps."""

_PARAMETERS = 500
"""Ids in one statement, below SQLite's limit of 999 in older builds."""


class SqliteQueue:
    """One queue file, opened once per process. Every method is safe from any thread.

    Every method may raise QueueUnavailable (disk full, locked for ten seconds, closed): then nothing happened.
    Counters: `jobs_enqueued`, `jobs_dead`, `jobs_cancelled`, `jobs_pruned`, `jobs_undecodable`, `dead_jobs_expired`,
    `claims_lost`, `claims_expired`, `claims_voided`, `destinations_cooled`.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        policy: Policy,
        counters: Counters,
        random: Random,
        lease: float = LEASE_SECONDS,
    ) -> None:
        """Open or create `path`. Raises NewerSchema (the file stays as it is) and QueueUnavailable."""
        self.lease = lease
        self.on_settled: Callable[[Job, Outcome], None] | None = None
        self.bell = Doorbell(clock.monotonic)
        self.storage = ClaimStorage(path)
        self._path = path
        self._clock = clock
        self._opened_at = clock.monotonic()
        self._policy = policy
        self._counters = counters
        self._random = random
        self._owners = (f"{random.getrandbits(64):016x}-{number}" for number in itertools.count(1))
        self._owners_lock = threading.Lock()
        self._living: set[str] = set()
        self._writer = Writer(self.storage.writer(), self._publish)
        self._reader = Reader(self.storage.reader())

    def enqueue(self, *jobs: NewJob) -> int:
        """Store the jobs that are new by id; return how many were. TypeError, ValueError: a payload is not JSON."""
        return self._write(lambda transaction: settling.enqueue(transaction, jobs, self._moment()))

    def wake(self, *job_ids: str) -> int:
        """Make waiting jobs ready now; return how many woke, less those that a cooling destination still holds."""
        woken = 0
        for ids in _batches(job_ids, _PARAMETERS):
            woken += self._wake(f"id IN ({','.join('?' * len(ids))})", ids)
        return woken

    def hasten(self, job_id: str, delay: float) -> bool:
        """Let a waiting job wait for at most `delay` seconds from now; False where it does not wait for longer."""
        return self._write(
            lambda transaction: settling.hasten(transaction, job_id, delay, self._moment()), durable=False
        )

    def wake_lane(self, lane: str) -> int:
        """Wake the waiting jobs of a lane; a job without a lane has none in common with others."""
        return self._wake(settling.IN_LANE, (lane,))

    def wake_kind(self, kind: str) -> int:
        """Wake the waiting jobs of a kind."""
        return self._wake("kind = ?", (kind,))

    def get(self, job_id: str) -> Job | None:
        """Return one job."""
        return self._reader.get(job_id)

    def jobs(self, *, state: JobState | None = None, kind: str = "", lane: str = "", limit: int = 100) -> Sequence[Job]:
        """Return jobs, newest change first."""
        return self._reader.jobs(state=state, kind=kind, lane=lane, limit=limit)

    def counts(self) -> QueueCounts:
        """Return the counts: some index look-ups, however many jobs there are."""
        return self._reader.counts(self._clock.wall())

    def retry(self, job_id: str) -> bool:
        """Make a dead, cancelled or waiting job ready with attempts and crashes at zero; else False."""
        return self._write(lambda transaction: settling.retry(transaction, job_id, self._moment()))

    def reopen(self, job_id: str) -> bool:
        """Make a done job ready with a clean slate, because what it brought about is undone; else False."""
        return self._write(lambda transaction: settling.reopen(transaction, job_id, self._moment()))

    def cancel(self, job_id: str, why: str) -> bool:
        """Cancel a ready or waiting job; else False."""
        return self._write(lambda transaction: settling.cancel(transaction, job_id, why, self._moment()))

    def discard(self, job_id: str) -> bool:
        """Turn a dead letter into a cancelled job, its reason kept; else False."""
        return self._write(lambda transaction: settling.discard(transaction, job_id, self._moment()))

    def erase(self, *names: str) -> int:
        """Delete every job of the lanes that is not claimed, whatever became of it, and give their space back."""
        erased = sum(self._write(partial(settling.erase, lane=name)) for name in names)
        if erased:
            self._writer.alone("PRAGMA incremental_vacuum")
            self._writer.alone("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased

    def destinations(self) -> Sequence[Destination]:
        """Return every destination that is cooling, parked, or has ever answered."""
        return self._reader.destinations()

    def release(self, destination: str) -> int:
        """End a destination's cooldown now; return how many jobs it held."""
        return self._write(lambda transaction: cooling.release(transaction, destination))

    def void_claims(self) -> int:
        """Give back every claim, each as a crash. At start only: whoever still works on one loses it."""
        return self._write(lambda transaction: claiming.void(transaction, self._moment()))

    def shift_clock(self, seconds: float) -> None:
        """Move every wait, lease and cooldown, and since when jobs are ready, by `seconds`."""
        self._write(lambda transaction: settling.shift_clock(transaction, seconds, self._moment()))

    def prune(self, *, finished_before: float, dead_before: float = 0.0) -> int:
        """Delete done and cancelled jobs last changed before one Unix time, and dead ones given up before another, and
        give their space back."""
        pruned = 0
        while step := self._write(lambda transaction: settling.prune(transaction, finished_before, dead_before, STEP)):
            pruned += step
        if pruned:
            self._writer.alone("PRAGMA incremental_vacuum")
            self._writer.alone("PRAGMA wal_checkpoint(TRUNCATE)")
        return pruned

    def is_damaged(self) -> bool:
        """Tell whether the file is damaged for certain. The whole of it is looked at, and only after SQLite has called
        it so."""
        is_suspected = self._reader.met_damage or self._writer.met_damage
        self._reader.met_damage = self._writer.met_damage = False
        return is_suspected and damaged_file.is_sure(self._path)

    def close(self) -> None:
        """Fold the log into the file and close it."""
        self._reader.close()
        self._writer.close()

    def claim(self) -> Claim | None:
        """Take the next job, or None where none may be taken now."""
        owner, operation = self._claiming()
        self._writer.submit(operation)
        return self._taken(owner, operation)

    def seconds_to_next(self) -> float | None:
        """Return in how many seconds the next wait or cooldown ends; None where there is none."""
        now = self._clock.wall()
        due = self._reader.next_due(now)
        return None if due is None else max(due - now, 0.0)

    def finish(self, claim: Claim, outcome: Outcome, *, answered: bool = False) -> Job | None:
        """Apply a run's outcome, once; return the job as it then stands, None where the claim was lost."""
        operation = self._finishing(claim, outcome, answered=answered)
        self._writer.submit(operation)
        return self._over(claim, operation)

    def finish_and_claim(
        self, claim: Claim, outcome: Outcome, *, answered: bool = False
    ) -> tuple[Job | None, Claim | None]:
        """Finish, and take the next job in the same commit."""
        finishing = self._finishing(claim, outcome, answered=answered)
        owner, taking = self._claiming()
        self._writer.submit(finishing, taking)
        try:
            taken = self._taken(owner, taking)
        except Exception:  # noqa: BLE001  (the finish stands by itself; the next claim meets the same error)
            taken = None
        try:
            return self._over(claim, finishing), taken
        except Exception:
            if taken is not None:
                self.unclaim(taken)
            raise

    def keep(self, claim: Claim, payload: Mapping[str, Any]) -> bool:
        """Replace a claimed job's payload, on the disk before this returns; False where the claim was lost."""
        return self._write(lambda transaction: settling.keep(transaction, claim, payload))

    def unclaim(self, *claims: Claim) -> int:
        """Give claims back as if never taken; return how many were still held."""
        given_back = self._write(
            lambda transaction: sum(claiming.unclaim(transaction, each, self._moment()) for each in claims)
        )
        for each in claims:
            self.abandon(each)
        return given_back

    def set_aside(self, claim: Claim, why: str) -> Job | None:
        """Turn a claimed job into a dead letter without a run."""
        job = self._write(lambda transaction: settling.set_aside(transaction, claim, why, self._moment()))
        self.abandon(claim)
        return job

    def renew(self) -> int:
        """Extend the claims of this process's living workers to a lease from now; return how many."""
        living = tuple(self._living)
        if not living:
            return 0
        return self._write(lambda transaction: claiming.renew(transaction, living, self.lease, self._clock.wall()))

    def abandon(self, claim: Claim) -> None:
        """Stop renewing a claim whose worker is gone."""
        self._living.discard(claim.owner)

    def _claiming(self) -> tuple[str, Operation[Claim | None]]:
        with self._owners_lock:
            owner = next(self._owners)

        def act(transaction: Transaction) -> Claim | None:
            taken = claiming.claim(transaction, owner, self.lease, self._living, self._moment())
            if taken is not None:
                self._living.add(owner)  # within the transaction: nobody may see the claim before it counts as living
            return taken

        return owner, _seated(act, durable=False)

    def _taken(self, owner: str, operation: Operation[Claim | None]) -> Claim | None:
        try:
            return operation.result()
        except Exception:
            self._living.discard(owner)  # the claim was rolled back
            raise

    def _finishing(self, claim: Claim, outcome: Outcome, *, answered: bool) -> Operation[Job | None]:
        jitter = self._random.random()
        # a snooze forgotten in a power cut is a claim that is void at the next start: the job just runs once more
        return _seated(
            lambda transaction: settling.finish(
                transaction, claim, outcome, self._moment(), answered=answered, jitter=jitter
            ),
            durable=not isinstance(outcome, Snooze),
        )

    def _over(self, claim: Claim, operation: Operation[Job | None]) -> Job | None:
        job = operation.result()
        self.abandon(claim)
        return job

    def _wake(self, which: str, values: Sequence[str]) -> int:
        woken = 0
        while True:
            found, free = self._write(
                lambda transaction: settling.wake(transaction, which, values, self._moment(), STEP), durable=False
            )
            woken += free
            if found < STEP:
                return woken

    def _write(self, act: Callable[[Transaction], Result], *, durable: bool = True) -> Result:
        operation = _seated(act, durable=durable)
        self._writer.submit(operation)
        return operation.result()

    def _moment(self) -> Moment:
        return Moment(self._clock.wall(), self._policy, self._clock.monotonic() - self._opened_at)

    def _publish(self, transactions: Sequence[Transaction]) -> None:
        """Tell of what is committed: counters, and workers to wake."""
        for transaction in transactions:
            for name, amount in transaction.counted.items():
                self._counters.add(name, amount)
        self.bell.ring(sum(transaction.claimable for transaction in transactions))
        if self.on_settled is not None:
            for job, outcome in [settled for each in transactions for settled in each.settled]:
                self.on_settled(job, outcome)
        due = min((each.due for each in transactions if each.due is not None), default=None)
        if due is not None:
            self.bell.due_in(due - self._clock.wall())


def _seated(act: Callable[[Transaction], Result], *, durable: bool) -> Operation[Result]:
    """Return the operation that acts and then brings the heads of the lanes it touched up to date."""

    def act_and_reseat(transaction: Transaction) -> Result:
        result = act(transaction)
        lanes.reseat(transaction)
        return result

    return Operation(act_and_reseat, durable=durable)


def _batches(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
