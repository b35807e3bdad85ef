"""Lanes: which ready job may be claimed next in each. All statements cost the same however long the lane is."""

from collections.abc import Iterable

from jobs.queue.writer import Transaction

_CLAIMED = "SELECT 1 FROM jobs WHERE lane = ? AND lane <> '' AND state = 'claimed'"

_HEADS = "SELECT seq FROM jobs INDEXED BY jobs_lane_heads WHERE lane = ? AND lane <> '' AND head = 1"

# A lane has one head for each destination: a flush held by a cooling platform must not stand before the same
# session's local work. Destinations are few.
_FIRSTS = """
    SELECT seq FROM (
        SELECT (
            SELECT seq FROM jobs INDEXED BY jobs_lane_ready
            WHERE lane = ? AND lane <> '' AND state = 'ready' AND destination = destinations.name
            ORDER BY priority DESC, seq LIMIT 1
        ) AS seq FROM destinations
    ) WHERE seq IS NOT NULL
"""


def reseat(transaction: Transaction, lanes: Iterable[str]) -> None:
    """Bring the heads of `lanes` up to date after jobs of theirs entered or left `ready` or `claimed`.

    A job without a lane is a lane of its own, and a head from the moment it is ready.
    """
    for lane in {lane for lane in lanes if lane}:
        heads = {row["seq"] for row in transaction.rows(_HEADS, (lane,))}
        firsts = set()
        if transaction.row(_CLAIMED, (lane,)) is None:
            firsts = {row["seq"] for row in transaction.rows(_FIRSTS, (lane,))}
        for seq in heads - firsts:
            transaction.change("UPDATE jobs SET head = 0 WHERE seq = ?", (seq,))
        for seq in firsts - heads:
            transaction.change("UPDATE jobs SET head = 1 WHERE seq = ?", (seq,))
            transaction.claimable += 1


def make_ready(transaction: Transaction, rows: Iterable[tuple[int, str]], now: float) -> int:
    """Make the waiting, claimed, dead or cancelled jobs `(seq, lane)` ready; return how many.

    Their attempts, reason and errors are the caller's to change.
    """
    lanes = []
    count = 0
    for seq, lane in rows:
        count += transaction.change(
            "UPDATE jobs SET state = 'ready', head = (lane = ''), not_before = NULL, reason = '', claim_owner = NULL,"
            " claim_expires = NULL, claim_epoch = NULL, ready_since = ?, updated_at = ? WHERE seq = ?",
            (now, now, seq),
        )
        lanes.append(lane)
    transaction.claimable += sum(lane == "" for lane in lanes)
    reseat(transaction, lanes)
    return count
