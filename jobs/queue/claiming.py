"""Taking jobs, and giving back claims that nobody holds any more."""

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from jobs.job import Job, JobState
from jobs.outcomes import GiveUp
from jobs.queue import cooling, lanes, policy, rows
from jobs.queue.claims import Claim
from jobs.queue.policy import Policy
from jobs.queue.rows import Undecodable
from jobs.queue.writer import Transaction

STEP = 100
"""Rows moved on the way of one claim at most: a backlog that falls due at once is worked off claim by claim."""

# The first head of each destination that is not cooling, or is due for a probe; of those the first.
_CLAIM = """
    UPDATE jobs SET state = 'claimed', head = 0, not_before = NULL, reason = '', ready_since = NULL,
        claim_owner = :owner, claim_expires = :expires, updated_at = :now,
        claim_epoch = (SELECT epoch FROM destinations WHERE name = jobs.destination)
    WHERE seq = (
        SELECT jobs.seq FROM (
            SELECT (
                SELECT seq FROM jobs INDEXED BY jobs_heads WHERE head = 1 AND destination = destinations.name
                ORDER BY cools, priority DESC, seq LIMIT 1
            ) AS first FROM destinations WHERE until IS NULL OR (until <= :now AND probe IS NULL)
        ) JOIN jobs ON jobs.seq = first ORDER BY jobs.priority DESC, jobs.seq LIMIT 1
    )
    RETURNING *, (SELECT until FROM destinations WHERE name = jobs.destination) AS held_until
"""

_OVERDUE = """
    SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_claims WHERE state = 'claimed' AND claim_expires <= :now)
        OR EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_due WHERE state = 'waiting' AND not_before <= :now)
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """What one call of the queue needs to know: the wall clock (Unix seconds), the policy, and for how many seconds
    this process has had the queue."""

    now: float
    policy: Policy
    lived: float


def claim(transaction: Transaction, owner: str, lease: float, living: Collection[str], moment: Moment) -> Claim | None:
    """Take the next job for `owner`. Claims of `living` owners that ran out (the process slept) are renewed first."""
    overdue = transaction.row(_OVERDUE, {"now": moment.now})
    if overdue is None or overdue[0]:
        expire(transaction, living, lease, moment)
        make_due_ready(transaction, moment)
    for _ in range(STEP):
        lanes.reseat(transaction)
        row = transaction.row(_CLAIM, {"owner": owner, "expires": moment.now + lease, "now": moment.now})
        if row is None:
            return None
        wait = policy.trial_wait(row["id"], row["crashes"], moment.lived, moment.policy)
        if wait:
            _leave(transaction, row, wait, moment)
            continue
        lanes.close(transaction, row["lane"])
        if row["held_until"] is not None:
            cooling.give_probe(transaction, row["destination"], row["id"])
        transaction.claimable -= 1
        try:
            return Claim(rows.claimed_job(row), owner)
        except Undecodable as error:
            bury(transaction, row, str(error), moment)
            transaction.counted["jobs_undecodable"] += 1
    return None


def _leave(transaction: Transaction, row: sqlite3.Row, wait: float, moment: Moment) -> None:
    """Put a suspected job that was just claimed off as it is."""
    transaction.change(
        "UPDATE jobs SET state = 'waiting', not_before = ?, reason = ?, claim_owner = NULL, claim_expires = NULL,"
        " claim_epoch = NULL WHERE seq = ?",
        (moment.now + wait, policy.SUSPECTED, row["seq"]),
    )
    lanes.touch(transaction, row["lane"])
    transaction.claimable -= 1
    transaction.put_off(moment.now + wait)


def make_due_ready(transaction: Transaction, moment: Moment) -> None:
    """Make waiting jobs ready whose time has come, a bounded number of them."""
    due = transaction.rows(
        "SELECT seq, lane FROM jobs INDEXED BY jobs_due WHERE state = 'waiting' AND not_before <= ?"
        " ORDER BY not_before LIMIT ?",
        (moment.now, STEP),
    )
    if due:
        lanes.make_ready(transaction, [(row["seq"], row["lane"]) for row in due], moment.now)


def expire(transaction: Transaction, living: Collection[str], lease: float, moment: Moment) -> int:
    """Give back claims that ran out, as crashes; return how many. Those of `living` owners are renewed instead."""
    expired = transaction.rows(
        "SELECT * FROM jobs INDEXED BY jobs_claims WHERE state = 'claimed' AND claim_expires <= ?"
        " ORDER BY claim_expires LIMIT ?",
        (moment.now, STEP),
    )
    lost = 0
    for row in expired:
        if row["claim_owner"] in living:
            transaction.change("UPDATE jobs SET claim_expires = ? WHERE seq = ?", (moment.now + lease, row["seq"]))
        else:
            _crash(transaction, row, moment)
            lost += 1
    if lost:
        transaction.counted["claims_expired"] += lost
    return lost


def renew(transaction: Transaction, owners: Collection[str], lease: float, now: float) -> int:
    """Extend the claims of `owners` to a lease from now; return how many still held."""
    return sum(
        transaction.change(
            "UPDATE jobs INDEXED BY jobs_claims SET claim_expires = ? WHERE state = 'claimed' AND claim_owner = ?",
            (now + lease, owner),
        )
        for owner in owners
    )


def void(transaction: Transaction, moment: Moment) -> int:
    """Give back every claim, as crashes; return how many."""
    claimed = transaction.rows("SELECT * FROM jobs WHERE state = 'claimed'")
    for row in claimed:
        _crash(transaction, row, moment, daemon_died=True)
    transaction.change("UPDATE destinations SET probe = NULL WHERE probe IS NOT NULL")
    if claimed:
        transaction.counted["claims_voided"] += len(claimed)
    return len(claimed)


def held(transaction: Transaction, taken: Claim) -> sqlite3.Row | None:
    """Return the claimed job's row if the claim still holds; count it as lost if not."""
    row = transaction.row(
        "SELECT * FROM jobs WHERE id = ? AND state = 'claimed' AND claim_owner = ?", (taken.job.id, taken.owner)
    )
    if row is None:
        transaction.counted["claims_lost"] += 1
    return row


def unclaim(transaction: Transaction, taken: Claim, moment: Moment) -> bool:
    """Give a claim back as if never taken; False where it was lost."""
    row = held(transaction, taken)
    if row is None:
        return False
    cooling.end_probe(transaction, row["destination"], row["id"])
    lanes.make_ready(transaction, [(row["seq"], row["lane"])], moment.now)
    return True


def bury(transaction: Transaction, row: sqlite3.Row, why: str, moment: Moment, crashes: int | None = None) -> None:
    """Turn a claimed job into a dead letter without an outcome of its own; it is told of after the commit."""
    transaction.change(
        "UPDATE jobs SET state = 'dead', claim_owner = NULL, claim_expires = NULL, claim_epoch = NULL, crashes = ?,"
        " reason = ?, errors = ?, updated_at = ? WHERE seq = ?",
        (
            row["crashes"] if crashes is None else crashes,
            policy.bounded(why),
            rows.add_error(row["errors"], moment.now, policy.bounded(why)),
            moment.now,
            row["seq"],
        ),
    )
    cooling.end_probe(transaction, row["destination"], row["id"])
    lanes.touch(transaction, row["lane"])
    transaction.counted["jobs_dead"] += 1
    shown = show(transaction, row["id"])
    assert shown is not None  # changed two lines above
    transaction.settled.append((shown, GiveUp(shown.reason)))


def show(transaction: Transaction, job_id: str) -> Job | None:
    """Return one job as it stands."""
    row = transaction.row(f"{rows.SHOWN} WHERE id = ?", (job_id,))
    return None if row is None else rows.job(row)


def _crash(transaction: Transaction, row: sqlite3.Row, moment: Moment, *, daemon_died: bool = False) -> None:
    crashes = row["crashes"] + 1
    state, reason = policy.after_crash(crashes, moment.policy, daemon_died=daemon_died)
    if state is JobState.DEAD:
        bury(transaction, row, reason, moment, crashes)
        return
    transaction.change(
        "UPDATE jobs SET crashes = ?, errors = ? WHERE seq = ?",
        (crashes, rows.add_error(row["errors"], moment.now, policy.CRASHED), row["seq"]),
    )
    cooling.end_probe(transaction, row["destination"], row["id"])
    lanes.make_ready(transaction, [(row["seq"], row["lane"])], moment.now)
