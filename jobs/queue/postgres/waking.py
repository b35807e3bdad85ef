"""Letting waiting jobs of the shared queue look again."""

from collections.abc import Sequence
from typing import Any

from jobs.queue import policy
from jobs.queue.postgres import lanes
from jobs.queue.postgres.transaction import Transaction


def wake_some(transaction: Transaction, which: str, values: Sequence[Any], limit: int) -> tuple[int, int]:
    """Make up to `limit` waiting jobs ready for which `which` holds; return how many, and how many of them no
    destination holds."""
    found = transaction.rows(
        f"SELECT key, lane FROM memsyncd_jobs WHERE state = 'waiting' AND {which} LIMIT %s",  # noqa: S608  (one of our own)
        (*values, limit),
    )
    if not found:
        return 0, 0
    lanes.lock(transaction, (row["lane"] for row in found))
    return len(found), wake(transaction, [row["key"] for row in found])


def wake(transaction: Transaction, keys: Sequence[bytes]) -> int:
    """Make those of the jobs ready that wait, whose lanes are locked; return how many of them no destination holds."""
    waiting = transaction.rows(
        "SELECT j.key, d.until IS NULL AS free FROM memsyncd_jobs AS j"
        " JOIN memsyncd_destinations AS d ON d.account = j.account AND d.name = j.destination"
        " WHERE j.key = ANY (%s) AND j.state = 'waiting' ORDER BY j.key FOR UPDATE OF j",
        (list(keys),),
    )
    if waiting:
        lanes.make_ready(transaction, [row["key"] for row in waiting])
    return sum(row["free"] for row in waiting)


def hasten(transaction: Transaction, key: bytes, delay: float) -> bool:
    """Let a waiting job wait for at most `delay` seconds from now; False where it does not wait for longer."""
    seconds = policy.clamped(delay)
    changed = transaction.row(
        "UPDATE memsyncd_jobs SET not_before = memsyncd_now() + %(seconds)s"
        " WHERE key = %(key)s AND state = 'waiting' AND not_before > memsyncd_now() + %(seconds)s RETURNING key",
        {"key": key, "seconds": seconds},
    )
    if changed is not None:
        transaction.put_off(seconds)
    return changed is not None
