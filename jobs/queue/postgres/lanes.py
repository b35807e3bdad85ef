"""Lanes across machines: their locks, and which ready job may be claimed next in each.

Whoever lets a job of a lane enter or leave `ready` or `claimed` holds the lane's lock until its commit and notes the
lane by `touch`; the heads are brought up to date once, at the end of the transaction. A job without a lane is a lane
of its own, and a head from the moment it is ready.
"""

from collections.abc import Iterable, Sequence

from jobs.queue.postgres.transaction import Transaction

LOCK_SPACE = 1835365235
"""The first number of our advisory locks, so that they meet no one else's; `memsyncd_try_lane` has it too."""

LOCKS = 1024
"""Lanes share so many locks, so that a transaction of 10,000 lanes does not fill the server's table of locks. Two
lanes that share one at the same instant wait for each other for the length of a transaction."""


def lock(transaction: Transaction, names: Iterable[bytes | None]) -> None:
    """Wait for the locks of all lanes that a transaction will touch; None is no lane. Once in a transaction, first."""
    numbers = sorted({_number(name) for name in names if name is not None})
    if numbers:
        transaction.send(
            "SELECT pg_advisory_xact_lock(%s, number) FROM unnest(%s::int[]) AS t (number)", (LOCK_SPACE, numbers)
        )


def touch(transaction: Transaction, name: bytes | None) -> None:
    """Note that a job of a lane entered or left `ready` or `claimed`."""
    if name is not None:
        transaction.touched_lanes.add(name)


def reseat(transaction: Transaction) -> None:
    """Bring the heads of the touched lanes up to date."""
    if transaction.touched_lanes:
        transaction.later("SELECT memsyncd_reseat(%s) AS claimable", (list(transaction.touched_lanes),))
        transaction.touched_lanes.clear()


def make_ready(transaction: Transaction, keys: Sequence[bytes]) -> int:
    """Make the waiting, claimed, done, dead or cancelled jobs ready, whose lanes are locked; return how many.

    Their attempts and errors are the caller's to change.
    """
    changed = transaction.rows(
        "UPDATE memsyncd_jobs SET state = 'ready', head = lane IS NULL, not_before = NULL, reason = '',"
        " claim_owner = NULL, claim_worker = NULL, claim_expires = NULL, claim_epoch = NULL,"
        " ready_since = memsyncd_now(), updated_at = memsyncd_now() WHERE key = ANY (%s) RETURNING lane",
        (keys,),
    )
    for row in changed:
        touch(transaction, row["lane"])
        transaction.claimable += row["lane"] is None
    return len(changed)


def _number(name: bytes) -> int:
    return int.from_bytes(name[:2], "big") % LOCKS
