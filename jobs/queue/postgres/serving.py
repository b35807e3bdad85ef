"""What each worker can deliver, as it says of itself, and whose jobs none can that runs."""

from jobs.queue.postgres.rows import Row
from jobs.queue.postgres.transaction import Transaction
from jobs.queue.shared_queue import Serves, Unserved

RUNS_SECONDS = 60.0
"""A worker that has not said for so long that it runs does not. A job that is ready for less than that is no news."""

FORGOTTEN_SECONDS = 86_400.0

MOST = 100
"""Accounts told of at most, those first that wait for longest."""

NO_WORKER = "no worker that runs has the key of its account for this destination"
"""The reason that such a job shows."""

SERVED = (
    "(%(accounts)s::text[] IS NULL OR d.account = ANY (%(accounts)s))"
    " AND (%(destination)s::text IS NULL OR d.name = %(destination)s)"
)
"""What holds for a destination called `d` in a statement of which a machine takes jobs."""

# What a worker of step 1 takes, which says nothing of itself, is claimed at some moment.
UNSERVED = """
    SELECT d.account, d.name AS destination, memsyncd_now() - first.ready_since AS seconds
    FROM memsyncd_destinations AS d CROSS JOIN LATERAL (
        SELECT j.ready_since FROM memsyncd_jobs AS j
        WHERE j.state = 'ready' AND j.account = d.account AND j.destination = d.name ORDER BY j.ready_since LIMIT 1
    ) AS first
    WHERE first.ready_since <= memsyncd_now() - %(runs)s AND NOT EXISTS (
        SELECT FROM memsyncd_workers AS w WHERE w.seen_at > memsyncd_now() - %(runs)s
        AND w.destination = d.name AND d.account = ANY (w.accounts)
    ) AND NOT EXISTS (
        SELECT FROM memsyncd_jobs AS c WHERE c.state = 'claimed' AND c.account = d.account AND c.destination = d.name
    ) ORDER BY first.ready_since LIMIT %(most)s
"""


def values(serves: Serves | None) -> tuple[list[str] | None, str | None]:
    """Return what `memsyncd_claim` takes for it: nulls for one that takes everything."""
    return (None, None) if serves is None else (sorted(serves.accounts), serves.destination)


def announce(transaction: Transaction, worker: str, host: str, serves: Serves) -> None:
    """Say that a worker runs, and what it serves."""
    accounts, destination = values(serves)
    transaction.send(
        "INSERT INTO memsyncd_workers (name, host, accounts, destination, seen_at)"
        " VALUES (%s, %s, %s, %s, memsyncd_now()) ON CONFLICT (name) DO UPDATE SET host = excluded.host,"
        " accounts = excluded.accounts, destination = excluded.destination, seen_at = excluded.seen_at",
        (worker, host, accounts, destination),
    )
    transaction.send("DELETE FROM memsyncd_workers WHERE seen_at < memsyncd_now() - %s", (FORGOTTEN_SECONDS,))


def unserved(row: Row) -> Unserved:
    """Return the value of a row of `UNSERVED`."""
    return Unserved(row["account"], row["destination"], row["seconds"])
