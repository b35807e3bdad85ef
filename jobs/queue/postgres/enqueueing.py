"""Storing new jobs on the shared queue."""

from collections.abc import Sequence

from jobs.job import JobState, NewJob
from jobs.queue import policy
from jobs.queue.postgres import cooling, lanes, rows
from jobs.queue.postgres.rows import Codec
from jobs.queue.postgres.transaction import Transaction

# One statement however many jobs there are; their order is the order of `seq`.
_INSERT = """
    INSERT INTO memsyncd_jobs (key, kind, lane, destination, account, host, priority, state, head, not_before, sealed,
        reason, created_at, updated_at, ready_since)
    SELECT key, kind, lane, destination, account, %s, priority,
        CASE WHEN delay > 0 THEN 'waiting' ELSE 'ready' END, delay = 0 AND lane IS NULL,
        CASE WHEN delay > 0 THEN memsyncd_now() + delay END, sealed, reason, memsyncd_now(), memsyncd_now(),
        CASE WHEN delay = 0 THEN memsyncd_now() END
    FROM unnest(%s::bytea[], %s::text[], %s::bytea[], %s::text[], %s::text[], %s::int[], %s::float8[], %s::bytea[],
        %s::text[]) WITH ORDINALITY
        AS t (key, kind, lane, destination, account, priority, delay, sealed, reason, place)
    ORDER BY place ON CONFLICT (key) DO NOTHING
    RETURNING lane, state, not_before - memsyncd_now() AS delay
"""


def enqueue(transaction: Transaction, new: Sequence[NewJob], codec: Codec, *, account: str, host: str) -> int:
    """Store the jobs whose id is new, and whose lanes are locked; return how many were. They are of `account` unless
    they say otherwise. Raises TypeError or ValueError where a payload is no JSON."""
    values = [
        (
            codec.key(job.id),
            job.kind,
            codec.lane(job.lane),
            job.destination,
            job.account or account,
            job.priority,
            float(policy.clamped(job.delay)),  # one array of one type
            codec.seal(job.id, job.lane, job.payload),
            rows.text(policy.bounded(job.reason)),
        )
        for job in new
    ]
    if not values:
        return 0
    cooling.know(transaction, ((job.account or account, job.destination) for job in new))
    stored = transaction.rows(_INSERT, (host, *(list(column) for column in zip(*values, strict=True))))
    for row in stored:
        if row["state"] == JobState.READY:
            transaction.claimable += row["lane"] is None
            lanes.touch(transaction, row["lane"])
        else:
            transaction.put_off(row["delay"])
    transaction.counted["jobs_enqueued"] += len(stored)
    return len(stored)
