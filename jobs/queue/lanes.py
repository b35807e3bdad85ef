"""Lanes: which ready job may be claimed next in each. All statements cost the same however long the lane is.

Whoever lets a job of a lane enter or leave `ready` or `claimed` notes it by `touch`; the heads are brought up to date
once, at the end of the operation. A job without a lane is a lane of its own, and a head from the moment it is ready.
"""

from collections.abc import Iterable

from jobs.queue.writer import Transaction

# The heads there are, and those there should be. A lane has one for each destination: a flush held by a cooling
# platform must not stand before the same session's local work. Destinations are few.
_SEATS = """
    SELECT seq, 1 AS is_head FROM jobs INDEXED BY jobs_lane_heads WHERE lane = :lane AND lane <> '' AND head = 1
    UNION ALL
    SELECT seq, 0 FROM (
        SELECT (
            SELECT seq FROM jobs INDEXED BY jobs_lane_ready
            WHERE lane = :lane AND lane <> '' AND state = 'ready' AND destination = destinations.name
            ORDER BY priority DESC, seq LIMIT 1
        ) AS seq FROM destinations
        WHERE NOT EXISTS (
            SELECT 1 FROM jobs INDEXED BY jobs_lane_claimed WHERE lane = :lane AND lane <> '' AND state = 'claimed'
        )
    ) WHERE seq IS NOT NULL
"""


def touch(transaction: Transaction, lane: str) -> None:
    """Note that a job of `lane` entered or left `ready` or `claimed`."""
    if lane:
        transaction.touched_lanes.add(lane)


def close(transaction: Transaction, lane: str) -> None:
    """Leave a lane without a head, for a job of it was claimed."""
    if lane:
        transaction.change(
            "UPDATE jobs INDEXED BY jobs_lane_heads SET head = 0 WHERE lane = ? AND lane <> '' AND head = 1", (lane,)
        )


def reseat(transaction: Transaction) -> None:
    """Bring the heads of the touched lanes up to date."""
    while transaction.touched_lanes:
        seats = transaction.rows(_SEATS, {"lane": transaction.touched_lanes.pop()})
        heads = {row["seq"] for row in seats if row["is_head"]}
        firsts = {row["seq"] for row in seats if not row["is_head"]}
        for seq in heads - firsts:
            transaction.change("UPDATE jobs SET head = 0 WHERE seq = ?", (seq,))
        for seq in firsts - heads:
            transaction.change("UPDATE jobs SET head = 1 WHERE seq = ?", (seq,))
            transaction.claimable += 1


def make_ready(transaction: Transaction, rows: Iterable[tuple[int, str]], now: float) -> int:
    """Make the waiting, claimed, dead or cancelled jobs `(seq, lane)` ready; return how many.

    Their attempts, reason and errors are the caller's to change.
    """
    count = 0
    for seq, lane in rows:
        count += transaction.change(
            "UPDATE jobs SET state = 'ready', head = (lane = ''), not_before = NULL, reason = '', claim_owner = NULL,"
            " claim_expires = NULL, claim_epoch = NULL, ready_since = ?, updated_at = ? WHERE seq = ?",
            (now, now, seq),
        )
        touch(transaction, lane)
        transaction.claimable += not lane
    return count
