"""What a person or a program does to jobs of the shared queue, and what age does: one transaction each."""

import math
from collections.abc import Mapping
from typing import Any

from jobs.job import Job, JobState
from jobs.queue import policy
from jobs.queue.claims import Claim
from jobs.queue.postgres import claiming, lanes, rows
from jobs.queue.postgres.claiming import Worker
from jobs.queue.postgres.rows import COLUMNS, Row
from jobs.queue.postgres.transaction import Transaction


def retry(transaction: Transaction, key: bytes) -> bool:
    """Make a dead, cancelled or waiting job ready, or one that is held, with a clean slate; its errors stay."""
    row = _locked(transaction, key)
    if row is None or not (
        row["state"] in {JobState.DEAD, JobState.CANCELLED, JobState.WAITING}
        or (row["state"] == JobState.READY and row["is_held"])
    ):
        return False
    transaction.send("UPDATE memsyncd_jobs SET attempts = 0, crashes = 0, cools = 0 WHERE key = %s", (key,))
    lanes.make_ready(transaction, [key])
    return True


def reopen(transaction: Transaction, key: bytes) -> bool:
    """Make a done job ready, with a clean slate: what it was to bring about is undone."""
    row = _locked(transaction, key)
    if row is None or row["state"] != JobState.DONE:
        return False
    transaction.send("UPDATE memsyncd_jobs SET attempts = 0, cools = 0 WHERE key = %s", (key,))
    lanes.make_ready(transaction, [key])
    return True


def cancel(transaction: Transaction, key: bytes, why: str) -> bool:
    """Cancel a ready or waiting job."""
    row = _locked(transaction, key)
    if row is None or row["state"] not in {JobState.READY, JobState.WAITING}:
        return False
    _cancel(transaction, row, rows.text(policy.bounded(why)))
    return True


def discard(transaction: Transaction, key: bytes) -> bool:
    """Cancel a dead letter; what it died of stays its reason."""
    row = _locked(transaction, key)
    if row is None or row["state"] != JobState.DEAD:
        return False
    _cancel(transaction, row, row["reason"])
    return True


def set_aside(transaction: Transaction, taken: Claim, why: str, worker: Worker) -> Job | None:
    """Turn a claimed job into a dead letter without a run."""
    lanes.lock(transaction, [worker.codec.lane(taken.job.lane)])
    row = claiming.held(transaction, taken, worker)
    if row is None:
        return None
    claiming.bury(transaction, row, why, worker)
    return claiming.show(transaction, row["key"], worker.codec)


def keep(transaction: Transaction, taken: Claim, payload: Mapping[str, Any], worker: Worker) -> bool:
    """Replace a claimed job's payload; False where the claim was lost. The claim lasts for a lease from now: what is
    written down is mostly that a request leaves, and nobody may look for that while it is in the air."""
    lanes.lock(transaction, [worker.codec.lane(taken.job.lane)])
    row = claiming.held(transaction, taken, worker)
    if row is None:
        return False
    sealed = worker.codec.seal(taken.job.id, taken.job.lane, payload)
    transaction.send(
        "UPDATE memsyncd_jobs SET sealed = %s, claim_expires = memsyncd_now() + %s WHERE key = %s",
        (sealed, worker.lease, row["key"]),
    )
    return True


def erase(transaction: Transaction, lane: bytes) -> int:
    """Delete the jobs of a lane that are not claimed; return how many."""
    lanes.lock(transaction, [lane])
    erased = transaction.rows("DELETE FROM memsyncd_jobs WHERE lane = %s AND state <> 'claimed' RETURNING key", (lane,))
    lanes.touch(transaction, lane)
    transaction.counted["jobs_erased"] += len(erased)
    return len(erased)


def prune(transaction: Transaction, finished_before: float, dead_before: float, limit: int) -> int:
    """Delete up to `limit` done and cancelled jobs last changed before one Unix time, and dead ones before another;
    return how many."""
    gone = transaction.rows(
        "DELETE FROM memsyncd_jobs WHERE key IN ("
        "     SELECT key FROM memsyncd_jobs WHERE (state IN ('done', 'cancelled') AND updated_at < %s)"
        "     OR (state = 'dead' AND updated_at < %s) LIMIT %s FOR UPDATE SKIP LOCKED"
        " ) RETURNING state",
        (finished_before, dead_before, limit),
    )
    dead = sum(row["state"] == JobState.DEAD for row in gone)
    transaction.counted["dead_jobs_expired"] += dead
    transaction.counted["jobs_pruned"] += len(gone) - dead
    return len(gone)


def move_times(transaction: Transaction, seconds: float, max_cooldown: float) -> None:
    """Move every time that is measured against the database's clock, after that was set by `seconds`; those of jobs
    that are over stay. After a jump forward what was put off since then stays as it is."""
    for statement in (
        (
            "UPDATE memsyncd_jobs SET not_before = not_before + %(by)s, updated_at = updated_at + %(by)s"
            " WHERE state = 'waiting' AND updated_at <= memsyncd_now() - %(margin)s"
        ),
        (
            "UPDATE memsyncd_jobs SET claim_expires = claim_expires + %(by)s, updated_at = updated_at + %(by)s"
            " WHERE state = 'claimed' AND updated_at <= memsyncd_now() - %(margin)s"
        ),
        (
            "UPDATE memsyncd_jobs SET ready_since = ready_since + %(by)s, updated_at = updated_at + %(by)s"
            " WHERE state = 'ready' AND updated_at <= memsyncd_now() - %(margin)s"
        ),
        (
            "UPDATE memsyncd_destinations SET until = least(until + %(by)s, memsyncd_now() + %(longest)s)"
            " WHERE until IS NOT NULL"
        ),
    ):
        margin = seconds / 2 if seconds > 0 else -math.inf
        transaction.send(statement, {"by": seconds, "margin": margin, "longest": max_cooldown})
    transaction.put_off(0.0)


def _locked(transaction: Transaction, key: bytes) -> Row | None:
    """Lock a job and its lane, and return it as it then is."""
    found = transaction.row("SELECT lane FROM memsyncd_jobs WHERE key = %s", (key,))
    if found is None:
        return None
    lanes.lock(transaction, [found["lane"]])
    columns = ", ".join(f"j.{name.strip()}" for name in COLUMNS.split(","))
    return transaction.row(
        f"SELECT {columns}, d.until IS NOT NULL AS is_held FROM memsyncd_jobs AS j"  # noqa: S608  (our own columns)
        " JOIN memsyncd_destinations AS d ON d.account = j.account AND d.name = j.destination"
        " WHERE j.key = %s FOR UPDATE OF j",
        (key,),
    )


def _cancel(transaction: Transaction, row: Row, why: str) -> None:
    transaction.send(
        "UPDATE memsyncd_jobs SET state = 'cancelled', head = false, not_before = NULL, ready_since = NULL,"
        " reason = %s, updated_at = memsyncd_now() WHERE key = %s",
        (why, row["key"]),
    )
    lanes.touch(transaction, row["lane"])
    transaction.counted["jobs_cancelled"] += 1
