"""What becomes of a note from elsewhere: a file of the old store, or an export."""

import sqlite3

from memsyncd.notes import rows
from memsyncd.notes.note import Arrival, IncomingNote, Note


def verdict(existing: Note | None, buried_at: int | None, incoming: IncomingNote, now: int) -> Arrival:
    """Decide. `existing` may have expired; `buried_at` is when a note of that name was last forgotten here. Pure."""
    if incoming.expires_at is not None and incoming.expires_at <= now:
        return Arrival.EXPIRED
    if buried_at is not None and (incoming.updated_at is None or incoming.updated_at <= buried_at):
        return Arrival.FORGOTTEN
    if existing is None:
        return Arrival.BROUGHT
    if existing.value == incoming.value and existing.expires_at == incoming.expires_at:
        return Arrival.UNCHANGED
    # A date in the future is a clock that was wrong: it must not win over what was written here.
    if incoming.updated_at is None or incoming.updated_at > now or incoming.updated_at <= existing.updated_at:
        return Arrival.OLDER
    return Arrival.UPDATED


def take_in(connection: sqlite3.Connection, incoming: IncomingNote, indexed: str, *, now: int) -> Arrival:
    """Carry the verdict out inside the caller's transaction; `indexed` are the note's words."""
    existing = rows.get(connection, incoming.namespace, incoming.key)
    buried_at = rows.buried_at(connection, incoming.namespace, incoming.key)
    outcome = verdict(existing.note if existing else None, buried_at, incoming, now)
    if outcome in (Arrival.BROUGHT, Arrival.UPDATED):
        created = min(incoming.created_at, now, existing.note.created_at if existing else now)
        updated = created if incoming.updated_at is None else max(created, min(incoming.updated_at, now))
        accessed = max(created, min(incoming.accessed_at, now))
        note = Note(
            incoming.namespace,
            incoming.key,
            incoming.value,
            created,
            updated,
            accessed,
            incoming.expires_at,
            incoming.access_count,
        )
        rows.put(connection, note, indexed, existing=existing, imported=True)
    return outcome
