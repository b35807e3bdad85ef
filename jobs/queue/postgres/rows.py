"""Rows of the shared queue as values, and values as rows."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.job import Job, JobState
from jobs.queue import rows
from jobs.queue.contract import Destination
from jobs.queue.postgres import names
from jobs.queue.postgres.sealing import OtherKey, Sealing
from jobs.queue.rows import Undecodable
from jobs.queue.shared_queue import Standing

Row = Mapping[str, Any]

COLUMNS = (
    "key, seq, kind, lane, destination, account, host, priority, state, not_before, attempts, crashes, cools,"
    " claim_owner, claim_expires, claim_epoch, sealed, errors, reason, created_at, updated_at"
)

OF_JOB = ", ".join(f"j.{name.strip()}" for name in COLUMNS.split(","))
"""The columns of jobs that are called `j` in a statement."""

SHOWN = (
    f"SELECT {OF_JOB}, d.until AS held_until, d.why AS held_why FROM memsyncd_jobs AS j"  # noqa: S608  (our own columns)
    " JOIN memsyncd_destinations AS d ON d.account = j.account AND d.name = j.destination"
)
"""Rows as `Codec.job` wants them: a ready job of a cooling destination shows as waiting until the next probe."""


class SealedForOthers(Undecodable):
    """This machine has not the key; another has."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Turns jobs into rows and back, with what seals them."""

    sealing: Sealing

    def key(self, job_id: str) -> bytes:
        """Return the key of a job's id."""
        return names.key(job_id, self.sealing.digest_key)

    def lane(self, name: str) -> bytes | None:
        """Return what stands for a lane."""
        return names.lane(name, self.sealing.digest_key)

    def seal(self, job_id: str, lane: str, payload: Mapping[str, Any]) -> bytes:
        """Return id, lane and payload sealed. Raises TypeError or ValueError where the payload is no JSON."""
        return self.sealing.seal(rows.encode_payload({"id": job_id, "lane": lane, "payload": dict(payload)}).encode())

    def job(self, row: Row) -> Job:
        """Return the job of a `SHOWN` row. What cannot be opened or decoded shows as empty; the row keeps its bytes."""
        return self.shown(row, row["held_until"], row["held_why"])

    def shown(self, row: Row, held_until: float | None, held_why: str) -> Job:
        """Return the same of a row of jobs and what its destination is held by."""
        held = held_until if row["state"] == JobState.READY else None
        try:
            job_id, lane, payload = self._opened(row)
        except Undecodable:
            job_id, lane, payload = names.shown(row["key"]), "", {}
        return _job(
            row,
            job_id,
            lane,
            payload,
            state=JobState(row["state"]) if held is None else JobState.WAITING,
            not_before=row["not_before"] if held is None else held,
            reason=row["reason"] if held is None else rows.HELD + held_why,
        )

    def claimed_job(self, row: Row) -> Job:
        """Return the job of a row of jobs. Raises Undecodable."""
        job_id, lane, payload = self._opened(row)
        state = JobState(row["state"])
        return _job(row, job_id, lane, payload, state=state, not_before=row["not_before"], reason=row["reason"])

    def standing(self, row: Row) -> Standing:
        """Return how the job of a row stands; what it left is empty where this machine cannot read it."""
        payload: Mapping[str, Any] = {}
        if row["sealed"] is not None:
            with contextlib.suppress(Undecodable):
                payload = self._opened(row)[2]
        return Standing(JobState(row["state"]), row["reason"], payload)

    def _opened(self, row: Row) -> tuple[str, str, Mapping[str, Any]]:
        try:
            text = self.sealing.open(bytes(row["sealed"])).decode()
        except OtherKey as error:
            raise SealedForOthers(f"no machine that can open its payload has taken it yet: {error}") from error
        except ValueError as error:
            raise Undecodable(f"the payload cannot be opened: {error}") from error
        envelope = rows.decode_payload(text)
        job_id, lane, payload = (envelope.get(name) for name in ("id", "lane", "payload"))
        if not isinstance(job_id, str) or not isinstance(lane, str) or not isinstance(payload, dict):
            raise Undecodable("the payload is no job's")
        return job_id, lane, payload


def _job(
    row: Row,
    job_id: str,
    lane: str,
    payload: Mapping[str, Any],
    *,
    state: JobState,
    not_before: float | None,
    reason: str,
) -> Job:
    return Job(
        id=job_id,
        kind=row["kind"],
        lane=lane,
        destination=row["destination"],
        state=state,
        payload=payload,
        priority=row["priority"],
        not_before=not_before,
        attempts=row["attempts"],
        crashes=row["crashes"],
        reason=reason,
        errors=rows.decode_errors(row["errors"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        account=row["account"],
        host=row["host"],
    )


def destination(row: Row) -> Destination:
    """Return the destination of a row of destinations."""
    return Destination(
        name=row["name"],
        until=row["until"],
        why=row["why"],
        code=row["code"],
        failures=row["failures"],
        parked=row["parked"],
        since=row["since"],
        last_success_at=row["last_success_at"],
        account=row["account"],
    )


def text(words: str) -> str:
    """Return `words` as PostgreSQL takes them: its text holds no NUL."""
    return words.replace("\0", "\\0")
