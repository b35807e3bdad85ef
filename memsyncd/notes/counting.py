"""Counts, lists and pages of notes, read inside the caller's transaction."""

import sqlite3
from collections.abc import Sequence

from memsyncd.notes.note import NamespaceCount, Note, Stats


def namespaces(connection: sqlite3.Connection, *, now: int) -> Sequence[NamespaceCount]:
    """Return every namespace's counts, in order of the names."""
    expired = dict(
        connection.execute(
            "SELECT namespace, count(*) FROM notes INDEXED BY notes_by_expiry WHERE expires_at <= ? GROUP BY namespace",
            (now,),
        )
    )
    rows = connection.execute("SELECT number, name, notes FROM note_namespaces ORDER BY name")
    return [NamespaceCount(name, total, expired.get(number, 0)) for number, name, total in rows]


def namespaces_with(connection: sqlite3.Connection, key: str, *, now: int, limit: int) -> Sequence[str]:
    """Return where notes of this key stand, in order of the names."""
    rows = connection.execute(
        "SELECT s.name FROM notes n JOIN note_namespaces s ON s.number = n.namespace"
        " WHERE n.key = ? AND (n.expires_at IS NULL OR n.expires_at > ?) ORDER BY s.name LIMIT ?",
        (key, now, limit),
    )
    return [name for (name,) in rows]


def stats(connection: sqlite3.Connection, *, now: int) -> Stats:
    """Return the figures of the whole store."""
    total, size_bytes = connection.execute("SELECT notes, bytes FROM note_store").fetchone()
    expired = connection.execute("SELECT count(*) FROM notes WHERE expires_at <= ?", (now,)).fetchone()[0]
    spaces = connection.execute("SELECT count(*) FROM note_namespaces").fetchone()[0]
    oldest = connection.execute("SELECT min(created_at) FROM notes").fetchone()[0]
    newest = connection.execute("SELECT max(created_at) FROM notes").fetchone()[0]
    tombstones = connection.execute("SELECT count(*) FROM note_tombstones").fetchone()[0]
    return Stats(total, expired, size_bytes, spaces, oldest, newest, tombstones)


def page(connection: sqlite3.Connection, *, after: int, now: int, limit: int) -> Sequence[tuple[int, Note]]:
    """Return the notes numbered above `after` that have not expired, with their numbers, in their order."""
    rows = connection.execute(
        "SELECT n.number, s.name, n.key, n.value, n.created_at, n.updated_at, n.accessed_at, n.expires_at,"
        " n.access_count FROM notes n JOIN note_namespaces s ON s.number = n.namespace"
        " WHERE n.number > ? AND (n.expires_at IS NULL OR n.expires_at > ?) ORDER BY n.number LIMIT ?",
        (after, now, limit),
    )
    return [(row[0], Note(*row[1:])) for row in rows]


def last_note(connection: sqlite3.Connection) -> int:
    """Return the highest number of a note, 0 where there is none."""
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM notes").fetchone()[0])


def notes_of(
    connection: sqlite3.Connection, namespace: int, *, upto: int, written_by: int, limit: int
) -> Sequence[tuple[int, int | None]]:
    """Return (number, expiry) of notes of a namespace, numbered no higher than `upto` and not written after
    `written_by`."""
    rows = connection.execute(
        "SELECT number, expires_at FROM notes WHERE namespace = ? AND number <= ? AND updated_at <= ?"
        " ORDER BY number LIMIT ?",
        (namespace, upto, written_by, limit),
    )
    return rows.fetchall()
