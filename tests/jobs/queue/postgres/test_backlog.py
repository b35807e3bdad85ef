"""A backlog costs nothing: what a claim and an end read of the database stays the same however much waits there."""

import json
from typing import Any

import pytest

from jobs.job import NewJob
from jobs.outcomes import Cool
from jobs.queue.postgres.queue import PostgresQueue
from tests.jobs.queue.fleet import Fleet

MANY = 3_000
FEW_BLOCKS = 150
"""Blocks of 8 KiB that a statement may read: a walk through a backlog reads thousands."""


def fill(queue: PostgresQueue, **fields: Any) -> None:
    queue.enqueue(*(NewJob(f"b{n}", "flush", **fields) for n in range(MANY)))


def waiting(queue: PostgresQueue) -> None:
    fill(queue, delay=1000)


def held(queue: PostgresQueue) -> None:
    fill(queue, destination="down")
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, Cool("down", "503", "busy"))


def in_one_busy_lane(queue: PostgresQueue) -> None:
    fill(queue, lane="busy")
    assert queue.claim() is not None


def blocks(queue: PostgresQueue, statement: str, *values: Any) -> int:
    """Return how many blocks a statement touches, as the queue's own connections run it; it is undone."""
    with queue._connections.one() as connection:
        for _ in range(2):  # the first one plans, and reads the catalogue for it
            connection.execute("BEGIN")
            row = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT json) {statement}", values).fetchone()
            connection.execute("ROLLBACK")
    assert row is not None
    found = row["QUERY PLAN"]
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.mark.parametrize("backlog", [waiting, held, in_one_busy_lane])
def test_a_claim_reads_as_much_as_without(fleet: Fleet, backlog: Any) -> None:
    """Waiting, held by a cooling destination, or behind another job of its lane: it is not walked through."""
    queue = fleet.machine()
    backlog(queue)
    queue.enqueue(*(NewJob(f"n{n}", "flush", lane=f"s{n}") for n in range(20)))
    assert blocks(queue, "SELECT * FROM memsyncd_claim('me', 'me', 60, '', false)") < FEW_BLOCKS


def test_a_lanes_next_job_is_found_without_a_walk(fleet: Fleet) -> None:
    """An end in a lane of thousands looks at its first and at no other."""
    queue = fleet.machine()
    fill(queue, lane="busy")
    lane = queue._codec.lane("busy")
    assert blocks(queue, "SELECT memsyncd_reseat(ARRAY[%s::bytea])", lane) < FEW_BLOCKS
    fleet.statement("UPDATE memsyncd_jobs SET head = false")
    assert blocks(queue, "SELECT memsyncd_reseat(ARRAY[%s::bytea])", lane) < FEW_BLOCKS
