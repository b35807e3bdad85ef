"""What the queue tells, read on a connection that cannot write; each call is one short snapshot."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from jobs.job import Job, JobState
from jobs.queue import rows
from jobs.queue.contract import Destination, QueueCounts
from jobs.queue.errors import QueueUnavailable, is_store_error, unavailable
from memsyncd import damaged_file

# How the states that are shown come from the states that are stored: a ready job of a cooling destination waits.
_PLACES = """
    SELECT state, destination, jobs,
        CASE WHEN state = 'ready' AND destinations.until IS NOT NULL THEN 'waiting' ELSE state END AS shown
    FROM tally JOIN destinations ON destinations.name = tally.destination WHERE jobs > 0
"""

_OLDEST_READY = """
    SELECT MIN(since) AS since FROM (
        SELECT (
            SELECT MIN(ready_since) FROM jobs INDEXED BY jobs_ready_since
            WHERE state = 'ready' AND destination = destinations.name
        ) AS since
        FROM destinations WHERE until IS NULL
    )
"""

_NEXT_DUE = """
    SELECT MIN(due) AS due FROM (
        SELECT MIN(not_before) AS due FROM jobs INDEXED BY jobs_due WHERE state = 'waiting'
        UNION ALL SELECT MIN(until) FROM destinations WHERE until > ?
    )
"""


class Reader:
    """Reads on its own `connection`, one call at a time. Raises QueueUnavailable."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._turn = threading.Lock()
        self._closed = False
        self.met_damage = False
        """Whether SQLite has called the file damaged."""

    def get(self, job_id: str) -> Job | None:
        """Return one job."""
        found = self._rows(f"{rows.SHOWN} WHERE id = ?", (job_id,))
        return rows.job(found[0]) if found else None

    def jobs(self, *, state: JobState | None, kind: str, lane: str, limit: int) -> Sequence[Job]:
        """Return jobs, newest change first: the newest of each state and destination, each found by an index."""
        found: list[sqlite3.Row] = []
        with self._snapshot() as connection:
            for place in connection.execute(_PLACES).fetchall():
                if state is not None and place["shown"] != state:
                    continue
                where, values = "jobs.state = ? AND jobs.destination = ?", [place["state"], place["destination"]]
                if lane:  # the pluses keep SQLite to the lane's index
                    where = "jobs.lane = ? AND jobs.lane <> '' AND +jobs.state = ? AND +jobs.destination = ?"
                    values.insert(0, lane)
                if kind:
                    where += " AND jobs.kind = ?"
                    values.append(kind)
                found += connection.execute(
                    f"{rows.SHOWN} WHERE {where} ORDER BY jobs.updated_at DESC, seq DESC LIMIT ?", (*values, limit)
                ).fetchall()
        found.sort(key=lambda row: (row["updated_at"], row["seq"]), reverse=True)
        return [rows.job(row) for row in found[:limit]]

    def counts(self, now: float) -> QueueCounts:
        """Return the counts and, at the Unix time `now`, for how long the oldest ready job has been ready."""
        counts = dict.fromkeys(JobState, 0)
        with self._snapshot() as connection:
            for place in connection.execute(_PLACES).fetchall():
                counts[JobState(place["shown"])] += place["jobs"]
            since = connection.execute(_OLDEST_READY).fetchone()["since"]
        return QueueCounts(
            ready=counts[JobState.READY],
            waiting=counts[JobState.WAITING],
            claimed=counts[JobState.CLAIMED],
            done=counts[JobState.DONE],
            dead=counts[JobState.DEAD],
            cancelled=counts[JobState.CANCELLED],
            oldest_ready_seconds=0.0 if since is None else max(now - since, 0.0),
        )

    def destinations(self) -> Sequence[Destination]:
        """Return every destination that is cooling, or has ever answered."""
        found = self._rows(
            "SELECT * FROM destinations WHERE until IS NOT NULL OR last_success_at IS NOT NULL ORDER BY name"
        )
        return [rows.destination(row) for row in found]

    def next_due(self, now: float) -> float | None:
        """Return the Unix time at which the next wait or cooldown ends."""
        due: float | None = self._rows(_NEXT_DUE, (now,))[0]["due"]
        return due

    def close(self) -> None:
        """Close the connection; later calls raise QueueUnavailable."""
        with self._turn:
            self._closed = True
            self._connection.close()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._reading() as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """Let several statements see one state of the file: a job that moves between them is missed otherwise."""
        with self._reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:  # an error may have ended it
                    connection.execute("ROLLBACK")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._turn:
            if self._closed:
                raise QueueUnavailable("the queue is closed")
            try:
                yield self._connection
            except sqlite3.Error as error:
                self.met_damage |= damaged_file.is_damage(error)
                raise (unavailable(error) if is_store_error(error) else error) from error
