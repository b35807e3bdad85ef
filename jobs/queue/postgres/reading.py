"""What the shared queue tells; each call is one short snapshot."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from jobs.job import Job, JobState
from jobs.queue.contract import Destination, QueueCounts
from jobs.queue.postgres import errors, rows, serving
from jobs.queue.postgres.connections import Connections
from jobs.queue.postgres.errors import Fault
from jobs.queue.postgres.patience import READING_SECONDS
from jobs.queue.postgres.rows import SHOWN, Codec, Row
from jobs.queue.shared_queue import Serves, Standing, Unserved

# Each part is counted in an index of its own. A ready job of a cooling destination waits.
_COUNTS = """
    SELECT CASE WHEN d.until IS NULL THEN 'ready' ELSE 'waiting' END AS state, sum(r.jobs)::bigint AS jobs,
        min(r.since) FILTER (WHERE d.until IS NULL) AS since, memsyncd_now() AS now
    FROM (
        SELECT account, destination, count(*) AS jobs, min(ready_since) AS since FROM memsyncd_jobs
        WHERE state = 'ready' GROUP BY account, destination
    ) AS r JOIN memsyncd_destinations AS d ON d.account = r.account AND d.name = r.destination GROUP BY 1
    UNION ALL SELECT 'waiting', count(*), NULL, memsyncd_now() FROM memsyncd_jobs WHERE state = 'waiting'
    UNION ALL SELECT 'claimed', count(*), NULL, memsyncd_now() FROM memsyncd_jobs WHERE state = 'claimed'
    UNION ALL SELECT state, jobs, NULL, memsyncd_now() FROM unnest('{done,cancelled,dead}'::text[]) AS o (state)
        CROSS JOIN LATERAL (
            SELECT count(*) AS jobs FROM (
                SELECT FROM memsyncd_jobs AS j WHERE j.state = o.state
                AND j.state IN ('done', 'cancelled', 'dead') LIMIT %s
            ) AS first
        ) AS counted
"""

MOST_COUNTED = 100_000
"""Of what is over in each way: two weeks of a large fleet are tens of millions, and a count walks through them."""

# What becomes claimable by itself: a wait or cooldown that ends, a claim of another process that runs out. What is
# claimable now and was not taken is in the hands of a transaction that may be undone: it is looked at in a second.
_NEXT_DUE = f"""
    SELECT least(
        (SELECT min(not_before) FROM memsyncd_jobs WHERE state = 'waiting'),
        (
            SELECT min(until) FROM memsyncd_destinations AS d WHERE until > memsyncd_now()
            AND {serving.SERVED}
        ),
        (SELECT min(claim_expires) FROM memsyncd_jobs WHERE state = 'claimed' AND claim_owner <> ALL (%(living)s)),
        (
            SELECT memsyncd_now() + 1 WHERE EXISTS (
                SELECT FROM memsyncd_jobs AS j JOIN memsyncd_destinations AS d
                ON d.account = j.account AND d.name = j.destination
                WHERE j.head AND (d.until IS NULL OR (d.until <= memsyncd_now() AND d.probe IS NULL))
                AND {serving.SERVED}
            )
        )
    ) - memsyncd_now() AS seconds
"""  # noqa: S608  (our own condition)

# A lane lets the next one go while an earlier one waits; whether that may overtake it is for the job to say.
_BEHIND = """
    SELECT min(coalesce(e.not_before, memsyncd_now())) - memsyncd_now() AS seconds
    FROM memsyncd_jobs AS j JOIN memsyncd_jobs AS e
    ON e.lane = j.lane AND e.destination = j.destination AND e.account = j.account AND e.seq < j.seq
    WHERE j.key = %s AND (e.state = 'ready' OR (e.state = 'waiting' AND e.reason <> %s))
"""


_IS_READY = f"""
    SELECT EXISTS (
        SELECT FROM memsyncd_jobs AS j JOIN memsyncd_destinations AS d
        ON d.account = j.account AND d.name = j.destination
        WHERE j.state = 'ready' AND d.until IS NULL AND {serving.SERVED}
    ) AS is_ready
"""  # noqa: S608  (our own condition)

_STANDINGS = """
    SELECT key, state, reason, CASE WHEN state = 'done' THEN sealed END AS sealed
    FROM memsyncd_jobs WHERE key = ANY (%s)
"""


class Reader:
    """Reads on whichever connection is free. Raises QueueUnavailable."""

    def __init__(self, connections: Connections, codec: Codec) -> None:
        self._connections = connections
        self._codec = codec

    def get(self, key: bytes) -> Job | None:
        """Return one job."""
        found = self._shown(self.rows(f"{SHOWN} WHERE j.key = %s", (key,)))
        return found[0] if found else None

    def standings(self, job_ids: Sequence[str]) -> Mapping[str, Standing]:
        """Return how jobs stand, by their ids, of those that are there."""
        ids = {self._codec.key(job_id): job_id for job_id in job_ids}
        found = self.rows(_STANDINGS, (list(ids),)) if ids else []
        return {ids[bytes(row["key"])]: self._codec.standing(row) for row in found}

    def jobs(self, *, state: JobState | None, kind: str, lane: bytes | None, host: str, limit: int) -> Sequence[Job]:
        """Return jobs, newest change first."""
        conditions = {
            "state": _STATES.get(state, "j.state = %(state)s") if state else "",
            "kind": "j.kind = %(kind)s" if kind else "",
            "lane": "j.lane = %(lane)s" if lane else "",
            "host": "j.host = %(host)s" if host else "",
        }
        where = " AND ".join(f"({condition})" for condition in conditions.values() if condition)
        found = self.rows(
            f"{SHOWN} {'WHERE' if where else ''} {where} ORDER BY j.updated_at DESC, j.seq DESC LIMIT %(limit)s",
            {"state": state and str(state), "kind": kind, "lane": lane, "host": host, "limit": limit},
        )
        return self._shown(found)

    def is_ready(self, serves: Serves | None) -> bool:
        """Return whether a job that one `serves` (None: any) is ready and nothing holds it."""
        accounts, destination = serving.values(serves)
        return bool(self.rows(_IS_READY, {"accounts": accounts, "destination": destination})[0]["is_ready"])

    def unserved(self) -> Sequence[Unserved]:
        """Return whose jobs no worker takes that runs."""
        values = {"runs": serving.RUNS_SECONDS, "most": serving.MOST}
        return [serving.unserved(row) for row in self.rows(serving.UNSERVED, values)]

    def counts(self) -> QueueCounts:
        """Return the counts, of what is over MOST_COUNTED at most, and for how long the oldest ready job has been
        ready."""
        counts = dict.fromkeys(JobState, 0)
        oldest = 0.0
        for row in self.rows(_COUNTS, (MOST_COUNTED,)):
            counts[JobState(row["state"])] += row["jobs"]
            if row["since"] is not None:
                oldest = max(row["now"] - row["since"], 0.0)
        return QueueCounts(
            ready=counts[JobState.READY],
            waiting=counts[JobState.WAITING],
            claimed=counts[JobState.CLAIMED],
            done=counts[JobState.DONE],
            dead=counts[JobState.DEAD],
            cancelled=counts[JobState.CANCELLED],
            oldest_ready_seconds=oldest,
        )

    def destinations(self) -> Sequence[Destination]:
        """Return every destination that is cooling, or has ever answered."""
        found = self.rows(
            "SELECT * FROM memsyncd_destinations WHERE until IS NOT NULL OR last_success_at IS NOT NULL"
            " ORDER BY name, account"
        )
        return [rows.destination(row) for row in found]

    def seconds_to_next(self, living: Collection[str], serves: Serves | None) -> float | None:
        """Return in how many seconds the next wait ends, a cooldown of what one `serves` (None: of any), or a claim of
        none of `living`; None: there is none."""
        accounts, destination = serving.values(serves)
        values = {"living": list(living), "accounts": accounts, "destination": destination}
        seconds: float | None = self.rows(_NEXT_DUE, values)[0]["seconds"]
        return None if seconds is None else max(seconds, 0.0)

    def behind(self, key: bytes, passing: str) -> float | None:
        """Return in how many seconds the first of the earlier jobs of a job's lane and destination is due that are not
        over and do not wait for the reason `passing`; None where there are none."""
        seconds: float | None = self.rows(_BEHIND, (key, passing))[0]["seconds"]
        return None if seconds is None else max(seconds, 0.0)

    def now(self) -> float:
        """Return the database's time."""
        return float(self.rows("SELECT memsyncd_now() AS now")[0]["now"])

    def _shown(self, found: Sequence[Row]) -> Sequence[Job]:
        """Return the jobs of `SHOWN` rows; one that no worker can take says so."""
        jobs = [self._codec.job(row) for row in found]
        if not any(job.state is JobState.READY for job in jobs):
            return jobs
        places = {(each.account, each.destination) for each in self.unserved()}
        return [
            replace(job, reason=serving.NO_WORKER)
            if job.state is JobState.READY and (job.account, job.destination) in places
            else job
            for job in jobs
        ]

    def rows(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Run a statement that reads; once more where the connection turns out to be gone."""
        for left in (1, 0):
            connection = None
            try:
                with self._connections.one(READING_SECONDS) as connection:
                    return list(connection.execute(statement, values).fetchall())
            except psycopg.Error as error:
                fault = errors.fault_of(error, connection)
                if fault is Fault.OURS:
                    raise
                if fault is Fault.LOST:
                    self._connections.drop_idle()
                if not left or fault is Fault.STORE or connection is None:
                    raise errors.unavailable(error) from error
        raise AssertionError("the second try returns or raises")


_STATES = {
    JobState.READY: "j.state = 'ready' AND d.until IS NULL",
    JobState.WAITING: "j.state = 'waiting' OR (j.state = 'ready' AND d.until IS NOT NULL)",
}
"""Where what is shown is not what is stored."""
