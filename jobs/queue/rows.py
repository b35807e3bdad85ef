"""Rows of the queue's file as values, and values as rows. What cannot be decoded is told, never guessed."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.job import KEPT_ERRORS, Job, JobError, JobState
from jobs.queue.contract import Destination
from memsyncd.clock import rfc3339

HELD = "held: "
"""How the reason of a job begins that waits for its cooling destination."""

SHOWN = (
    "SELECT jobs.*, destinations.until AS held_until, destinations.why AS held_why"
    " FROM jobs LEFT JOIN destinations ON destinations.name = jobs.destination"
)
"""Rows as `job` wants them.

A ready job of a cooling destination is held: it shows as waiting until the next probe. Holding is the destination's
state and not the row's, so a backlog of 100,000 is held and released by the change of one row."""


class Undecodable(Exception):
    """A row's payload is no JSON object."""


def job(row: sqlite3.Row) -> Job:
    """Return the job of a `SHOWN` row. An undecodable payload shows as empty; the row keeps its bytes."""
    return shown(row, row["held_until"], row["held_why"])


def shown(row: sqlite3.Row, held_until: float | None, held_why: str) -> Job:
    """Return the same of a row of `jobs` and what its destination is held by."""
    held = held_until if row["state"] == JobState.READY else None
    try:
        payload = decode_payload(row["payload"])
    except Undecodable:
        payload = {}
    return _job(
        row,
        payload,
        state=JobState(row["state"]) if held is None else JobState.WAITING,
        not_before=row["not_before"] if held is None else held,
        reason=row["reason"] if held is None else HELD + held_why,
    )


def claimed_job(row: sqlite3.Row) -> Job:
    """Return the job of a row of `jobs`. Raises Undecodable."""
    payload = decode_payload(row["payload"])
    return _job(row, payload, state=JobState(row["state"]), not_before=row["not_before"], reason=row["reason"])


def _job(
    row: sqlite3.Row, payload: Mapping[str, Any], *, state: JobState, not_before: float | None, reason: str
) -> Job:
    return Job(
        id=row["id"],
        kind=row["kind"],
        lane=row["lane"],
        destination=row["destination"],
        state=state,
        payload=payload,
        priority=row["priority"],
        not_before=not_before,
        attempts=row["attempts"],
        crashes=row["crashes"],
        reason=reason,
        errors=decode_errors(row["errors"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def destination(row: sqlite3.Row) -> Destination:
    """Return the destination of a row of `destinations`."""
    return Destination(
        name=row["name"],
        until=row["until"],
        why=row["why"],
        code=row["code"],
        failures=row["failures"],
        parked=bool(row["parked"]),
        since=row["since"],
        last_success_at=row["last_success_at"],
    )


def encode_payload(payload: Mapping[str, Any]) -> str:
    """Return `payload` as JSON. Raises TypeError or ValueError where it holds anything else (also NaN)."""
    return json.dumps(dict(payload), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def decode_payload(text: object) -> Mapping[str, Any]:
    """Return the object in `text`. Raises Undecodable."""
    if not isinstance(text, str):
        raise Undecodable(f"the payload is {type(text).__name__}, not text")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"the payload is no JSON: {error}") from error
    if not isinstance(payload, dict):
        raise Undecodable(f"the payload is a JSON {type(payload).__name__}, not an object")
    return payload


def decode_errors(text: object) -> Sequence[JobError]:
    """Return the errors kept in `text`; none where it cannot be read, for they are only told, never acted on."""
    if text == "[]":
        return ()
    try:
        return tuple(JobError(str(at), str(why)) for at, why in json.loads(text))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ()


def add_error(text: object, now: float, why: str) -> str:
    """Return the errors of `text` and one more, the last few of them."""
    errors = [*decode_errors(text), JobError(rfc3339(now), why)][-KEPT_ERRORS:]
    return json.dumps([[error.at, error.why] for error in errors])
