"""Destinations: cooling one as a whole, its probe, and its release."""

import sqlite3

from jobs.outcomes import Cool
from jobs.queue import policy, rows
from jobs.queue.contract import Destination
from jobs.queue.policy import Policy
from jobs.queue.writer import Transaction


def know(transaction: Transaction, name: str) -> None:
    """Have a row for a destination that a job names."""
    transaction.change("INSERT INTO destinations (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (name,))


def row_of(transaction: Transaction, name: str) -> sqlite3.Row | None:
    """Return a destination's row. Its `epoch` is how often a cooldown of it began or ended."""
    return transaction.row("SELECT * FROM destinations WHERE name = ?", (name,))


def give_probe(transaction: Transaction, name: str, job_id: str) -> None:
    """Note that a claimed job is its destination's probe, if that is cooling."""
    transaction.change("UPDATE destinations SET probe = ? WHERE name = ? AND until IS NOT NULL", (job_id, name))


def end_probe(transaction: Transaction, name: str, job_id: str) -> None:
    """Note that a job's run is over: if it was the probe and its destination still cools, another may go."""
    transaction.claimable += transaction.change(
        "UPDATE destinations SET probe = NULL WHERE name = ? AND probe = ?", (name, job_id)
    )


def cool(
    transaction: Transaction, outcome: Cool, settings: Policy, *, run_epoch: int | None, now: float, jitter: float
) -> Destination:
    """Cool a destination after a run that was claimed at `run_epoch` of it (None: of another destination)."""
    know(transaction, outcome.destination)
    row = row_of(transaction, outcome.destination)
    assert row is not None  # known since the line above
    before = rows.destination(row)
    if run_epoch is not None and run_epoch != row["epoch"]:
        after = policy.cooled_by_straggler(before, outcome, settings, now)
    else:
        after = policy.cooled(before, outcome, settings, now, jitter)
        transaction.change("UPDATE destinations SET epoch = epoch + 1 WHERE name = ?", (before.name,))
        transaction.counted["destinations_cooled"] += 1
    _store(transaction, after)
    if after.until is not None:
        transaction.put_off(after.until)
    return after


def answered(transaction: Transaction, row: sqlite3.Row, run_epoch: int, now: float) -> int:
    """Note that the destination of `row` answered a run claimed at `run_epoch`, and end its cooldown, unless that began
    meanwhile. Return the epoch from which this run's word about the destination still counts."""
    transaction.change("UPDATE destinations SET last_success_at = ? WHERE name = ?", (now, row["name"]))
    if run_epoch != row["epoch"] or row["until"] is None:
        return run_epoch
    release(transaction, row["name"])
    return run_epoch + 1


def release(transaction: Transaction, name: str) -> int:
    """End a destination's cooldown and forget its failures; return how many jobs it held."""
    row = transaction.row("SELECT * FROM destinations WHERE name = ? AND until IS NOT NULL", (name,))
    if row is None:
        return 0
    _store(transaction, policy.released(rows.destination(row)))
    transaction.change("UPDATE destinations SET probe = NULL, epoch = epoch + 1 WHERE name = ?", (name,))
    held = transaction.row("SELECT jobs FROM tally WHERE state = 'ready' AND destination = ?", (name,))
    count = 0 if held is None else int(held["jobs"])
    transaction.claimable += count
    return count


def _store(transaction: Transaction, destination: Destination) -> None:
    transaction.change(
        "UPDATE destinations SET until = ?, why = ?, code = ?, failures = ?, parked = ?, since = ? WHERE name = ?",
        (
            destination.until,
            destination.why,
            destination.code,
            destination.failures,
            destination.parked,
            destination.since,
            destination.name,
        ),
    )
