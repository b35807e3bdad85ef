"""What happens to a job at the end of its run, and at a person's or a program's word: one transaction each."""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.job import Job, JobState, NewJob
from jobs.outcomes import Done, Outcome
from jobs.queue import cooling, lanes, policy, rows
from jobs.queue.claiming import Moment, bury, held, show
from jobs.queue.claims import Claim
from jobs.queue.policy import Verdict
from jobs.queue.writer import Transaction

IN_LANE = "lane = ? AND lane <> ''"
"""A job without a lane has none in common with another."""


def enqueue(transaction: Transaction, new: Sequence[NewJob], moment: Moment) -> int:
    """Store the jobs whose id is new; return how many were."""
    stored = 0
    for name in {job.destination for job in new}:
        cooling.know(transaction, name)
    for job in new:
        delay = policy.clamped(job.delay)
        not_before = moment.now + delay if delay else None
        row = transaction.row(
            "INSERT INTO jobs (id, kind, lane, destination, priority, state, head, not_before, payload, reason,"
            " created_at, updated_at, ready_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO NOTHING RETURNING seq",
            (
                job.id,
                job.kind,
                job.lane,
                job.destination,
                job.priority,
                JobState.WAITING if delay else JobState.READY,
                not not_before and not job.lane,
                not_before,
                rows.encode_payload(job.payload),
                policy.bounded(job.reason),
                moment.now,
                moment.now,
                None if delay else moment.now,
            ),
        )
        if row is None:
            continue
        stored += 1
        if not_before is None:
            transaction.claimable += not job.lane
            lanes.touch(transaction, job.lane)
        else:
            transaction.put_off(not_before)
    transaction.counted["jobs_enqueued"] += stored
    return stored


def finish(
    transaction: Transaction, taken: Claim, outcome: Outcome, moment: Moment, *, answered: bool, jitter: float
) -> Job | None:
    """Apply a run's outcome; return the job as it then stands, None where the claim was lost."""
    row = held(transaction, taken)
    if row is None:
        return None
    verdict = policy.settle(outcome, row["attempts"], moment.policy, jitter)
    run_epoch = int(row["claim_epoch"])
    destination = cooling.row_of(transaction, row["destination"])
    if answered and destination is not None:
        run_epoch = cooling.answered(transaction, destination, run_epoch, moment.now)
    not_before = moment.now + verdict.delay if verdict.state is JobState.WAITING else None
    hold: tuple[float | None, str] = (None, "")
    if verdict.cool is not None:
        own = verdict.cool.destination == row["destination"]
        after = cooling.cool(
            transaction,
            verdict.cool,
            moment.policy,
            run_epoch=run_epoch if own else None,
            now=moment.now,
            jitter=jitter,
        )
        not_before = None if own else after.until
        hold = (after.until, after.why) if own else hold
    if verdict.wake:
        wake(transaction, f"id IN ({','.join('?' * len(verdict.wake))})", verdict.wake, moment)
    if verdict.ends and row["lane"]:
        _end(transaction, verdict.ends, row["lane"], verdict.reason, moment)
    settled = _settle(transaction, row, verdict, not_before, moment)
    if destination is not None and destination["probe"] == row["id"]:
        cooling.end_probe(transaction, row["destination"], row["id"])
    lanes.touch(transaction, row["lane"])
    if verdict.enqueue:
        enqueue(transaction, verdict.enqueue, moment)
    if verdict.wake_lane and row["lane"]:
        wake(transaction, IN_LANE, (row["lane"],), moment)
    return rows.shown(settled, *hold)


def _end(transaction: Transaction, job_id: str, lane: str, reason: str, moment: Moment) -> None:
    """End a waiting job of the lane whose work another one did; it is told of after the commit."""
    row = transaction.row(
        "UPDATE jobs SET state = 'done', head = 0, crashes = 0, cools = 0, not_before = NULL, reason = ?,"
        " updated_at = ? WHERE id = ? AND lane = ? AND state = 'waiting' RETURNING *",
        (reason, moment.now, job_id, lane),
    )
    if row is not None:
        transaction.settled.append((rows.shown(row, None, ""), Done(reason)))


def _settle(
    transaction: Transaction, row: sqlite3.Row, verdict: Verdict, not_before: float | None, moment: Moment
) -> sqlite3.Row:
    state = verdict.state if not_before is None else JobState.WAITING
    errors = row["errors"]
    if verdict.error:
        errors = rows.add_error(errors, moment.now, verdict.error)
    ready = state is JobState.READY
    transaction.claimable += ready and not row["lane"]
    settled = transaction.row(
        "UPDATE jobs SET state = ?, head = ?, attempts = ?, crashes = 0, cools = ?, not_before = ?, reason = ?,"
        " errors = ?, payload = ?, claim_owner = NULL, claim_expires = NULL, claim_epoch = NULL, ready_since = ?,"
        " updated_at = ? WHERE seq = ? RETURNING *",
        (
            state,
            ready and not row["lane"],
            verdict.attempts,
            0 if verdict.cool is None else row["cools"] + 1,
            not_before,
            verdict.reason,
            errors,
            row["payload"] if verdict.payload is None else rows.encode_payload(verdict.payload),
            moment.now if ready else None,
            moment.now,
            row["seq"],
        ),
    )
    if not_before is not None:
        transaction.put_off(not_before)
    if state is JobState.DEAD:
        transaction.counted["jobs_dead"] += 1
    assert settled is not None  # `held` has just read it
    return settled


def keep(transaction: Transaction, taken: Claim, payload: Mapping[str, Any]) -> bool:
    """Replace a claimed job's payload; False where the claim was lost."""
    row = held(transaction, taken)
    if row is None:
        return False
    transaction.change("UPDATE jobs SET payload = ? WHERE seq = ?", (rows.encode_payload(payload), row["seq"]))
    return True


def hasten(transaction: Transaction, job_id: str, delay: float, moment: Moment) -> bool:
    """Let a waiting job wait for at most `delay` seconds from now; False where it does not wait for longer."""
    not_before = moment.now + policy.clamped(delay)
    changed = transaction.change(
        "UPDATE jobs SET not_before = ? WHERE id = ? AND state = 'waiting' AND not_before > ?",
        (not_before, job_id, not_before),
    )
    if changed:
        transaction.put_off(not_before)
    return bool(changed)


def wake(
    transaction: Transaction, which: str, values: Sequence[str], moment: Moment, limit: int = -1
) -> tuple[int, int]:
    """Make waiting jobs ready for which `which` holds; return how many, and how many of them no destination holds."""
    waiting = transaction.rows(
        "SELECT seq, lane, destinations.until AS held_until FROM jobs"  # noqa: S608  (`which` is one of our own)
        " JOIN destinations ON destinations.name = jobs.destination"
        f" WHERE state = 'waiting' AND {which} LIMIT ?",
        (*values, limit),
    )
    lanes.make_ready(transaction, [(row["seq"], row["lane"]) for row in waiting], moment.now)
    return len(waiting), sum(row["held_until"] is None for row in waiting)


def retry(transaction: Transaction, job_id: str, moment: Moment) -> bool:
    """Make a dead, cancelled or waiting job ready, with a clean slate; its errors stay for the record."""
    row = transaction.row("SELECT * FROM jobs WHERE id = ?", (job_id,))
    if row is None or not _may_retry(transaction, row):
        return False
    transaction.change("UPDATE jobs SET attempts = 0, crashes = 0, cools = 0 WHERE seq = ?", (row["seq"],))
    lanes.make_ready(transaction, [(row["seq"], row["lane"])], moment.now)
    return True


def reopen(transaction: Transaction, job_id: str, moment: Moment) -> bool:
    """Make a done job ready, with a clean slate: what it was to bring about is undone."""
    row = transaction.row("SELECT * FROM jobs WHERE id = ? AND state = 'done'", (job_id,))
    if row is None:
        return False
    transaction.change("UPDATE jobs SET attempts = 0, cools = 0 WHERE seq = ?", (row["seq"],))
    lanes.make_ready(transaction, [(row["seq"], row["lane"])], moment.now)
    return True


def _may_retry(transaction: Transaction, row: sqlite3.Row) -> bool:
    if row["state"] == JobState.READY:
        shown = show(transaction, row["id"])
        return shown is not None and shown.state is JobState.WAITING
    return row["state"] in {JobState.DEAD, JobState.CANCELLED, JobState.WAITING}


def cancel(transaction: Transaction, job_id: str, why: str, moment: Moment) -> bool:
    """Cancel a ready or waiting job."""
    row = transaction.row("SELECT * FROM jobs WHERE id = ? AND state IN ('ready', 'waiting')", (job_id,))
    return row is not None and _cancel(transaction, row, policy.bounded(why), moment)


def discard(transaction: Transaction, job_id: str, moment: Moment) -> bool:
    """Cancel a dead letter; what it died of stays its reason."""
    row = transaction.row("SELECT * FROM jobs WHERE id = ? AND state = 'dead'", (job_id,))
    return row is not None and _cancel(transaction, row, row["reason"], moment)


def _cancel(transaction: Transaction, row: sqlite3.Row, why: str, moment: Moment) -> bool:
    transaction.change(
        "UPDATE jobs SET state = 'cancelled', head = 0, not_before = NULL, ready_since = NULL, reason = ?,"
        " updated_at = ? WHERE seq = ?",
        (why, moment.now, row["seq"]),
    )
    lanes.touch(transaction, row["lane"])
    transaction.counted["jobs_cancelled"] += 1
    return True


def set_aside(transaction: Transaction, taken: Claim, why: str, moment: Moment) -> Job | None:
    """Turn a claimed job into a dead letter without a run."""
    row = held(transaction, taken)
    if row is None:
        return None
    bury(transaction, row, why, moment)
    return show(transaction, taken.job.id)


def prune(transaction: Transaction, finished_before: float, dead_before: float, limit: int) -> int:
    """Delete up to `limit` done and cancelled jobs last changed before one Unix time, and dead ones before another;
    return how many."""
    pruned = 0
    for place in transaction.rows("SELECT state, destination FROM tally WHERE state IN ('done', 'cancelled', 'dead')"):
        is_dead = place["state"] == "dead"
        gone = transaction.change(
            "DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs"
            " WHERE state = ? AND destination = ? AND updated_at < ? LIMIT ?)",
            (place["state"], place["destination"], dead_before if is_dead else finished_before, limit - pruned),
        )
        transaction.counted["dead_jobs_expired" if is_dead else "jobs_pruned"] += gone
        pruned += gone
    return pruned


def erase(transaction: Transaction, lane: str) -> int:
    """Delete the jobs of a lane that are not claimed; return how many."""
    erased = transaction.change(f"DELETE FROM jobs WHERE {IN_LANE} AND state <> 'claimed'", (lane,))  # noqa: S608  (a constant)
    lanes.touch(transaction, lane)
    transaction.counted["jobs_erased"] += erased
    return erased


def shift_clock(transaction: Transaction, seconds: float, moment: Moment) -> None:
    """Move every time that is measured against the wall clock by `seconds`; those of jobs that are over stay.

    After a jump forward what was put off since then stays as it is: the call that broke as the machine woke has its
    cooldown from the new time already.
    """
    before = moment.now - seconds / 2 if seconds > 0 else math.inf
    for statement in (
        (
            "UPDATE jobs SET not_before = not_before + :by, updated_at = updated_at + :by"
            " WHERE state = 'waiting' AND updated_at <= :before"
        ),
        (
            "UPDATE jobs SET claim_expires = claim_expires + :by, updated_at = updated_at + :by"
            " WHERE state = 'claimed' AND updated_at <= :before"
        ),
        (
            "UPDATE jobs SET ready_since = ready_since + :by, updated_at = updated_at + :by"
            " WHERE state = 'ready' AND updated_at <= :before"
        ),
    ):
        transaction.change(statement, {"by": seconds, "before": before})
    transaction.change(
        "UPDATE destinations SET until = MIN(until + :by, :latest) WHERE until IS NOT NULL",
        {"by": seconds, "latest": moment.now + moment.policy.max_cooldown},
    )
    transaction.put_off(moment.now)  # the timer computes its wait anew
