"""Rows of extraction events: a batch accepted, waiting for its extraction, done or failed."""

# ruff: noqa: E501  (a statement's columns stand together)

import json
import sqlite3
from collections.abc import Sequence

from memsyncd.platforms.platform import Batch, Extraction, ExtractionState, Message

_COLUMNS = "event_id, state, memories, error, created_at, metadata"


def add(connection: sqlite3.Connection, batch: Batch, *, event_id: str, now: str) -> str:
    """Store a batch as a pending event and return its id; a batch stored before keeps its id and adds nothing,
    unless its extraction failed: then it is pending again."""
    messages = json.dumps([[message.role, message.content] for message in batch.messages])
    connection.execute(
        "INSERT INTO extraction_events(event_id, packet_id, batch, state, user_id, app_id, agent_id, run_id, metadata, messages,"
        " created_at, updated_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(packet_id, batch) DO UPDATE SET"
        " state = excluded.state, messages = excluded.messages, error = '', updated_at = excluded.updated_at WHERE state = ?",
        (
            event_id, batch.packet_id, batch.number, ExtractionState.PENDING, batch.user_id, batch.app_id, batch.agent_id, batch.run_id,
            json.dumps(dict(batch.metadata)), messages, now, now, ExtractionState.FAILED,
        ),
    )  # fmt: skip
    row = connection.execute(
        "SELECT event_id FROM extraction_events WHERE packet_id = ? AND batch = ?", (batch.packet_id, batch.number)
    ).fetchone()
    return str(row[0])


def get(connection: sqlite3.Connection, event_id: str) -> Extraction:
    """Return an event as it stands; an unknown one is MISSING."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM extraction_events WHERE event_id = ?", (event_id,)).fetchone()  # noqa: S608  (a constant)
    return _extraction(row) if row else Extraction(event_id, ExtractionState.MISSING)


def pending_batch(connection: sqlite3.Connection, event_id: str) -> Batch | None:
    """Return the batch of an event that still waits for its extraction."""
    row = connection.execute(
        "SELECT packet_id, batch, messages, user_id, app_id, agent_id, run_id, metadata FROM extraction_events"
        " WHERE event_id = ? AND state = ?",
        (event_id, ExtractionState.PENDING),
    ).fetchone()
    if row is None:
        return None
    packet_id, number, messages, user_id, app_id, agent_id, run_id, metadata = row
    return Batch(
        packet_id=packet_id,
        number=number,
        messages=[Message(role, content) for role, content in json.loads(messages)],
        user_id=user_id,
        app_id=app_id,
        agent_id=agent_id,
        run_id=run_id,
        metadata=json.loads(metadata),
    )


def pending_since(connection: sqlite3.Connection, event_id: str) -> str | None:
    """Return since when (RFC 3339) an event waits for its extraction; None for one that does not."""
    row = connection.execute(
        "SELECT updated_at FROM extraction_events WHERE event_id = ? AND state = ?", (event_id, ExtractionState.PENDING)
    ).fetchone()
    return None if row is None else str(row[0])


def pending(connection: sqlite3.Connection, *, limit: int) -> Sequence[str]:
    """Return the ids of up to `limit` events that wait for their extraction, oldest first."""
    rows = connection.execute(
        "SELECT event_id FROM extraction_events WHERE state = ? ORDER BY number LIMIT ?",
        (ExtractionState.PENDING, limit),
    )
    return [event_id for (event_id,) in rows]


def finish(
    connection: sqlite3.Connection, event_id: str, state: ExtractionState, *, memories: int, error: str, now: str
) -> None:
    """Write down an extraction's end. The dialogue is dropped once it succeeded."""
    connection.execute(
        "UPDATE extraction_events SET state = ?, memories = ?, error = ?, updated_at = ?,"
        " messages = CASE WHEN ? THEN NULL ELSE messages END WHERE event_id = ?",
        (state, memories, error, now, state is ExtractionState.SUCCEEDED, event_id),
    )


def page(connection: sqlite3.Connection, *, before: int | None, size: int) -> tuple[Sequence[Extraction], int | None]:
    """Return up to `size` events older than number `before`, newest first, and the number to go on from, if any."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}, number FROM extraction_events WHERE ? IS NULL OR number < ? ORDER BY number DESC LIMIT ?",  # noqa: S608  (a constant)
        (before, before, size),
    ).fetchall()
    return [_extraction(row[:-1]) for row in rows], rows[-1][-1] if len(rows) == size else None


def find(connection: sqlite3.Connection, packet_id: str, batch: int, *, user_id: str, app_id: str) -> Extraction | None:
    """Return the event of a batch, if it arrived for this user and project."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM extraction_events WHERE packet_id = ? AND batch = ? AND user_id = ? AND app_id = ?",  # noqa: S608  (a constant)
        (packet_id, batch, user_id, app_id),
    ).fetchone()
    return _extraction(row) if row else None


def _extraction(row: Sequence[object]) -> Extraction:
    event_id, state, memories, error, created_at, metadata = row
    return Extraction(
        event_id=str(event_id),
        state=ExtractionState(str(state)),
        memories=int(str(memories)),
        error=str(error),
        created_at=str(created_at),
        metadata=json.loads(str(metadata)),
    )
