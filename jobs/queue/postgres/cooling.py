"""Brakes: cooling a destination as a whole for an account, on all machines at once; its probe, and its release."""

from collections.abc import Collection, Iterable

from jobs.outcomes import Cool
from jobs.queue import policy
from jobs.queue.contract import Destination
from jobs.queue.policy import Policy
from jobs.queue.postgres import rows
from jobs.queue.postgres.rows import Row
from jobs.queue.postgres.transaction import Transaction

Place = tuple[str, str]
"""An account and the name of a destination."""

SUCCESS_SECONDS = 1.0
"""The time of the last success is written down once in so many seconds: else every job would wait for the row."""


def know(transaction: Transaction, places: Iterable[Place]) -> None:
    """Have a row for each destination that a job names."""
    accounts, names = zip(*sorted(set(places)), strict=True)
    transaction.send(
        "INSERT INTO memsyncd_destinations (account, name)"
        " SELECT account, name FROM unnest(%s::text[], %s::text[]) AS t (account, name)"
        " WHERE NOT EXISTS ("
        "     SELECT FROM memsyncd_destinations AS d WHERE d.account = t.account AND d.name = t.name"
        " ) ON CONFLICT DO NOTHING",
        (list(accounts), list(names)),
    )


def lock(transaction: Transaction, places: Collection[Place]) -> dict[Place, Row]:
    """Lock the rows of destinations, and return them as they are now."""
    if not places:
        return {}
    accounts, names = zip(*sorted(places), strict=True)
    found = transaction.rows(
        "SELECT *, memsyncd_now() AS now FROM memsyncd_destinations WHERE (account, name) IN ("
        "     SELECT * FROM unnest(%s::text[], %s::text[])"
        " ) ORDER BY account, name FOR UPDATE",
        (list(accounts), list(names)),
    )
    return {(row["account"], row["name"]): row for row in found}


def end_probes(transaction: Transaction, keys: Collection[bytes]) -> None:
    """Note that the runs of jobs are over: where one was the probe and its destination still cools, another may go."""
    freed = transaction.rows(
        "UPDATE memsyncd_destinations SET probe = NULL WHERE (account, name) IN ("
        "     SELECT account, name FROM memsyncd_destinations WHERE probe = ANY (%(keys)s)"
        "     ORDER BY account, name FOR UPDATE"
        " ) AND probe = ANY (%(keys)s) RETURNING name",
        {"keys": list(keys)},
    )
    transaction.claimable += len(freed)


def cool(
    transaction: Transaction, row: Row, outcome: Cool, settings: Policy, *, epoch: int | None, jitter: float
) -> Destination:
    """Cool the destination of a locked `row` after a run that was claimed at `epoch` of it (None: of another one)."""
    before, now = rows.destination(row), row["now"]
    if epoch is not None and epoch != row["epoch"]:
        after = policy.cooled_by_straggler(before, outcome, settings, now)
    else:
        after = policy.cooled(before, outcome, settings, now, jitter)
        transaction.send(
            "UPDATE memsyncd_destinations SET epoch = epoch + 1 WHERE account = %s AND name = %s",
            (before.account, before.name),
        )
        transaction.counted["destinations_cooled"] += 1
    _store(transaction, after)
    if after.until is not None:
        transaction.put_off(max(after.until - now, 0.0))
    return after


def answered(transaction: Transaction, row: Row, run_epoch: int) -> int:
    """Note that the destination of a locked `row` answered a run claimed at `run_epoch`, and end its cooldown, unless
    that began meanwhile. Return the epoch from which this run's word about the destination still counts."""
    transaction.send(
        "UPDATE memsyncd_destinations SET last_success_at = %s WHERE account = %s AND name = %s",
        (row["now"], row["account"], row["name"]),
    )
    if run_epoch != row["epoch"] or row["until"] is None:
        return run_epoch
    _release(transaction, row)
    return run_epoch + 1


def release(transaction: Transaction, account: str, name: str) -> int:
    """End a destination's cooldown and forget its failures; return how many jobs it held."""
    row = lock(transaction, [(account, name)]).get((account, name))
    return 0 if row is None or row["until"] is None else _release(transaction, row)


def _release(transaction: Transaction, row: Row) -> int:
    _store(transaction, policy.released(rows.destination(row)))
    held = transaction.row(
        "WITH freed AS ("
        "     UPDATE memsyncd_destinations SET probe = NULL, epoch = epoch + 1"
        "     WHERE account = %(account)s AND name = %(name)s"
        " ) SELECT count(*) AS jobs FROM memsyncd_jobs"
        " WHERE state = 'ready' AND account = %(account)s AND destination = %(name)s",
        {"account": row["account"], "name": row["name"]},
    )
    assert held is not None  # a count
    transaction.claimable += held["jobs"]
    return int(held["jobs"])


def _store(transaction: Transaction, destination: Destination) -> None:
    transaction.send(
        "UPDATE memsyncd_destinations SET until = %s, why = %s, code = %s, failures = %s, parked = %s, since = %s"
        " WHERE account = %s AND name = %s",
        (
            destination.until,
            rows.text(destination.why),
            destination.code,
            destination.failures,
            destination.parked,
            destination.since,
            destination.account,
            destination.name,
        ),
    )
