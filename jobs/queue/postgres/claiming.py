"""Taking jobs from the shared queue, and giving back claims that nobody holds any more."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jobs.job import Job, JobState
from jobs.outcomes import GiveUp
from jobs.queue import policy
from jobs.queue.claims import Claim
from jobs.queue.policy import Policy
from jobs.queue.postgres import cooling, lanes, rows, serving
from jobs.queue.postgres.rows import COLUMNS, SHOWN, Codec, Row, SealedForOthers
from jobs.queue.postgres.transaction import Transaction
from jobs.queue.rows import Undecodable, add_error
from jobs.queue.shared_queue import Serves

SEALED_SECONDS = 30.0
"""How long a job that this machine cannot open is left to others."""

STEP = 100
"""Rows moved on the way of one claim at most: a backlog that falls due at once is worked off claim by claim."""

_CLAIM = f"SELECT {COLUMNS}, memsyncd_now() AS now FROM memsyncd_claim(%s, %s, %s, %s, %s, %s, %s)"  # noqa: S608  (our own columns)

_OF_OWNER = f"SELECT {COLUMNS} FROM memsyncd_jobs WHERE state = 'claimed' AND claim_owner = %s"  # noqa: S608  (as above)

_HELD = """
    SELECT j.key, j.lane, j.destination, j.account, j.host, j.crashes, j.cools, j.errors, j.claim_epoch,
        d.until AS held_until, d.probe AS held_probe, d.last_success_at, memsyncd_now() AS now
    FROM memsyncd_jobs AS j JOIN memsyncd_destinations AS d ON d.account = j.account AND d.name = j.destination
    WHERE j.key = %s AND j.state = 'claimed' AND j.claim_owner = %s FOR UPDATE OF j
"""
"""What an end needs to know. Not the payload: it may be large, and whoever has the claim has it."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Who claims. `name` is this machine's and data directory's own, the same after a restart; `lease` is seconds, and
    `lived` tells for how many this process has had the queue."""

    name: str
    lease: float
    policy: Policy
    codec: Codec
    lived: Callable[[], float]


class Answer(StrEnum):
    """What came of an attempt to claim, in the words of `memsyncd_claim`."""

    CLAIMED = "claimed"
    NONE = "none"
    CONTENDED = "contended"
    OVERDUE = "overdue"


def claim(
    transaction: Transaction,
    owner: str,
    after: str,
    worker: Worker,
    serves: Serves | None,
    *,
    upkept: bool,
    looks_first: bool,
) -> tuple[Answer, Claim | None]:
    """Take the next job for `owner` that it `serves` (None: all), after one of the account `after`; waits for no lock.

    With `looks_first` an earlier try of this may have been committed: then it is that one.
    """
    if looks_first and (row := transaction.row(_OF_OWNER, (owner,))) is not None:
        return Answer.CLAIMED, Claim(worker.codec.claimed_job(row), owner)
    for _ in range(STEP):
        row = transaction.row(_CLAIM, (owner, worker.name, worker.lease, after, upkept, *serving.values(serves)))
        assert row is not None  # the function always answers
        answer = Answer(row["state"])
        if answer is not Answer.CLAIMED:
            return answer, None
        transaction.claimable -= 1
        try:
            job = worker.codec.claimed_job(row)
            wait = policy.trial_wait(job.id, job.crashes, worker.lived(), worker.policy)
            if not wait:
                return answer, Claim(job, owner)
            _leave(transaction, row, policy.SUSPECTED, wait)
            lanes.reseat(transaction)
        except SealedForOthers as error:
            _leave(transaction, row, str(error), SEALED_SECONDS)
            lanes.reseat(transaction)
        except Undecodable as error:
            bury(transaction, row, str(error), worker)
            lanes.reseat(transaction)
            transaction.counted["jobs_undecodable"] += 1
    return Answer.NONE, None


def _leave(transaction: Transaction, row: Row, why: str, seconds: float) -> None:
    """Put a claimed job off as it is, for a machine that can open it or a process that has lived for longer."""
    transaction.send(
        "UPDATE memsyncd_jobs SET state = 'waiting', not_before = memsyncd_now() + %s, reason = %s, claim_owner = NULL,"
        " claim_worker = NULL, claim_expires = NULL, claim_epoch = NULL WHERE key = %s",
        (seconds, rows.text(policy.bounded(why)), row["key"]),
    )
    cooling.end_probes(transaction, [row["key"]])
    lanes.touch(transaction, row["lane"])
    transaction.put_off(seconds)


def make_due_ready(transaction: Transaction) -> None:
    """Make waiting jobs ready whose time has come, a bounded number of them."""
    due = transaction.rows(
        "SELECT key, lane FROM memsyncd_jobs WHERE state = 'waiting' AND not_before <= memsyncd_now()"
        " ORDER BY not_before LIMIT %s",
        (STEP,),
    )
    if not due:
        return
    lanes.lock(transaction, (row["lane"] for row in due))
    still = transaction.rows(
        "SELECT key FROM memsyncd_jobs WHERE key = ANY (%s) AND state = 'waiting' AND not_before <= memsyncd_now()"
        " ORDER BY key FOR UPDATE",
        ([row["key"] for row in due],),
    )
    lanes.make_ready(transaction, [row["key"] for row in still])


def expire(transaction: Transaction, living: Collection[str], worker: Worker) -> int:
    """Give back claims that ran out by the database's clock, as crashes; return how many. Those of `living` owners are
    renewed instead: this process stood still, and nobody has taken them yet."""
    found = transaction.rows(
        "SELECT key, lane FROM memsyncd_jobs WHERE state = 'claimed' AND claim_expires <= memsyncd_now()"
        " ORDER BY claim_expires LIMIT %s",
        (STEP,),
    )
    expired = _claimed(transaction, found, "claim_expires <= memsyncd_now()")
    ours = [row["key"] for row in expired if row["claim_owner"] in living]
    if ours:
        transaction.send(
            "UPDATE memsyncd_jobs SET claim_expires = memsyncd_now() + %s WHERE key = ANY (%s)", (worker.lease, ours)
        )
    lost = [row for row in expired if row["claim_owner"] not in living]
    _crash(transaction, lost, worker)
    if lost:
        transaction.counted["claims_expired"] += len(lost)
    return len(lost)


def renew(transaction: Transaction, owners: Sequence[str], lease: float) -> int:
    """Extend the claims of `owners` to a lease from now; return how many still held."""
    return len(
        transaction.rows(
            "UPDATE memsyncd_jobs SET claim_expires = memsyncd_now() + %s WHERE key IN ("
            "     SELECT key FROM memsyncd_jobs WHERE state = 'claimed' AND claim_owner = ANY (%s)"
            "     ORDER BY key FOR UPDATE"
            " ) RETURNING key",
            (lease, list(owners)),
        )
    )


def void(transaction: Transaction, worker: Worker) -> int:
    """Give back every claim of this worker's earlier runs, as crashes; return how many. Others' are theirs."""
    found = transaction.rows(
        "SELECT key, lane FROM memsyncd_jobs WHERE state = 'claimed' AND claim_worker = %s", (worker.name,)
    )
    claimed = _claimed(transaction, found, "claim_worker = %s", worker.name)
    _crash(transaction, claimed, worker, daemon_died=True)
    if claimed:
        transaction.counted["claims_voided"] += len(claimed)
    return len(claimed)


def held(transaction: Transaction, taken: Claim, worker: Worker) -> Row | None:
    """Return the claimed job's row, with what it is to know of its destination, if the claim still holds; else count
    it as lost. Its lane is locked already."""
    row = transaction.row(_HELD, (worker.codec.key(taken.job.id), taken.owner))
    if row is None:
        transaction.counted["claims_lost"] += 1
    return row


def unclaim(transaction: Transaction, claims: Sequence[Claim], worker: Worker) -> int:
    """Give claims back as if never taken; return how many were still held."""
    lanes.lock(transaction, (worker.codec.lane(taken.job.lane) for taken in claims))
    keys = [row["key"] for taken in claims if (row := held(transaction, taken, worker)) is not None]
    lanes.make_ready(transaction, keys)
    cooling.end_probes(transaction, keys)
    return len(keys)


def bury(transaction: Transaction, row: Row, why: str, worker: Worker, crashes: int | None = None) -> None:
    """Turn a claimed job into a dead letter without an outcome of its own; it is told of after the commit."""
    reason = rows.text(policy.bounded(why))
    dead = transaction.row(
        "UPDATE memsyncd_jobs SET state = 'dead', claim_owner = NULL, claim_worker = NULL, claim_expires = NULL,"  # noqa: S608  (as above)
        " claim_epoch = NULL, crashes = %s, reason = %s, errors = %s, updated_at = memsyncd_now()"
        f" WHERE key = %s RETURNING {COLUMNS}",
        (
            row["crashes"] if crashes is None else crashes,
            reason,
            add_error(row["errors"], row["now"], reason),
            row["key"],
        ),
    )
    assert dead is not None  # it is locked
    cooling.end_probes(transaction, [row["key"]])
    lanes.touch(transaction, row["lane"])
    transaction.counted["jobs_dead"] += 1
    job = worker.codec.shown(dead, None, "")
    transaction.settled.append((job, GiveUp(job.reason)))


def show(transaction: Transaction, key: bytes, codec: Codec) -> Job | None:
    """Return one job as it stands."""
    row = transaction.row(f"{SHOWN} WHERE j.key = %s", (key,))
    return None if row is None else codec.job(row)


def _claimed(transaction: Transaction, found: Sequence[Row], still: str, *values: object) -> list[Row]:
    """Lock the lanes and rows that were found, and return those claimed jobs for which `still` holds."""
    if not found:
        return []
    lanes.lock(transaction, (row["lane"] for row in found))
    return transaction.rows(
        f"SELECT {COLUMNS}, memsyncd_now() AS now FROM memsyncd_jobs"  # noqa: S608  (our own columns and condition)
        f" WHERE key = ANY (%s) AND state = 'claimed' AND {still} ORDER BY key FOR UPDATE",
        ([row["key"] for row in found], *values),
    )


def _crash(transaction: Transaction, claimed: Sequence[Row], worker: Worker, *, daemon_died: bool = False) -> None:
    ready = []
    for row in claimed:
        crashes = row["crashes"] + 1
        state, reason = policy.after_crash(crashes, worker.policy, daemon_died=daemon_died)
        if state is JobState.DEAD:
            bury(transaction, row, reason, worker, crashes)
            continue
        transaction.send(
            "UPDATE memsyncd_jobs SET crashes = %s, errors = %s WHERE key = %s",
            (crashes, add_error(row["errors"], row["now"], policy.CRASHED), row["key"]),
        )
        ready.append(row["key"])
    if ready:
        lanes.make_ready(transaction, ready)
        cooling.end_probes(transaction, ready)
