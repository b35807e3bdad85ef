"""Rows of notes, their index and their tombstones, inside the caller's transaction. Times are Unix milliseconds."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from memsyncd.notes import words
from memsyncd.notes.errors import TooManyNotes
from memsyncd.notes.limits import MAX_NOTES, UNSAID_PER_DELETION
from memsyncd.notes.note import Note

_COLUMNS = "n.created_at, n.updated_at, n.accessed_at, n.expires_at, n.access_count"


@dataclass(frozen=True, slots=True)
class Row:
    """A note and its number."""

    number: int
    note: Note


def get(connection: sqlite3.Connection, namespace: str, key: str) -> Row | None:
    """Return a note, expired or not."""
    row = connection.execute(
        f"SELECT n.number, n.value, {_COLUMNS} FROM notes n JOIN note_namespaces s ON s.number = n.namespace"  # noqa: S608  (constants)
        " WHERE n.key = ? AND s.name = ?",
        (key, namespace),
    ).fetchone()
    return Row(row[0], Note(namespace, key, *row[1:])) if row else None


def put(
    connection: sqlite3.Connection, note: Note, indexed: str, *, existing: Row | None, imported: bool = False
) -> None:
    """Store a note in place of `existing`, if any; `indexed` are its words. Raises TooManyNotes."""
    size = len(note.key.encode()) + len(note.value.encode())
    times = (note.created_at, note.updated_at, note.accessed_at, note.expires_at, note.access_count)
    if existing is None:
        _insert(connection, note, indexed, (*times, imported, size))
        return
    connection.execute(
        "UPDATE notes SET created_at = ?, updated_at = ?, accessed_at = ?, expires_at = ?, access_count = ?,"
        " imported = max(imported, ?), bytes = ?, value = ? WHERE number = ?",
        (*times, imported, size, note.value, existing.number),
    )
    if note.value != existing.note.value:
        namespace = connection.execute("SELECT namespace FROM notes WHERE number = ?", (existing.number,)).fetchone()[0]
        words.replace(connection, existing.number, namespace, indexed)


def _insert(connection: sqlite3.Connection, note: Note, indexed: str, numbers: tuple[int | None, ...]) -> None:
    if connection.execute("SELECT notes FROM note_store").fetchone()[0] >= MAX_NOTES:
        raise TooManyNotes(f"the store holds {MAX_NOTES:,} notes and takes no more: forget some, or clear a namespace")
    connection.execute("INSERT OR IGNORE INTO note_namespaces(name) VALUES(?)", (note.namespace,))
    namespace = namespace_number(connection, note.namespace)
    assert namespace is not None
    number = connection.execute(
        "INSERT INTO notes(created_at, updated_at, accessed_at, expires_at, access_count, imported, bytes, namespace,"
        " key, value) VALUES(?,?,?,?,?,?,?,?,?,?)",
        (*numbers, namespace, note.key, note.value),
    ).lastrowid
    assert number is not None
    words.add(connection, number, namespace, indexed)


def delete(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Delete notes and their words; a namespace goes with its last note."""
    words.remove(connection, numbers)
    words.forget_unsaid(connection, UNSAID_PER_DELETION)
    connection.executemany("DELETE FROM notes WHERE number = ?", [(number,) for number in numbers])


def expired(connection: sqlite3.Connection, now: int, limit: int) -> Sequence[int]:
    """Return the numbers of at most `limit` notes whose time is over, the longest expired first."""
    rows = connection.execute(
        "SELECT number FROM notes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?", (now, limit)
    )
    return [number for (number,) in rows]


def sweep(connection: sqlite3.Connection, now: int, limit: int) -> int:
    """Delete at most `limit` expired notes; return how many.

    One that an import brought is buried: it may have been given its time only here, and stand without one over there.
    """
    numbers = expired(connection, now, limit)
    if numbers:
        imported = connection.execute(
            "SELECT s.name, n.key FROM notes n JOIN note_namespaces s ON s.number = n.namespace"  # noqa: S608  (question marks only)
            f" WHERE n.imported AND n.number IN ({words.marks(numbers)})",
            numbers,
        ).fetchall()
        for namespace, key in imported:
            bury(connection, namespace, key, now)
        delete(connection, numbers)
    return len(numbers)


def namespace_number(connection: sqlite3.Connection, namespace: str) -> int | None:
    """Return the number of a namespace, or None where it has no notes."""
    row = connection.execute("SELECT number FROM note_namespaces WHERE name = ?", (namespace,)).fetchone()
    return int(row[0]) if row else None


def bury(connection: sqlite3.Connection, namespace: str, key: str | None, at: int) -> None:
    """Note that a note, or with None all of a namespace, was forgotten: an import of older ones leaves them out."""
    connection.execute(
        "INSERT INTO note_tombstones VALUES(?, ?) ON CONFLICT(fingerprint) DO UPDATE SET at = max(at, excluded.at)",
        (_fingerprint(namespace, key), at),
    )


def buried_at(connection: sqlite3.Connection, namespace: str, key: str) -> int | None:
    """Return when a note of this name was last forgotten, by itself or with its namespace."""
    row = connection.execute(
        "SELECT max(at) FROM note_tombstones WHERE fingerprint IN (?, ?)",
        (_fingerprint(namespace, key), _fingerprint(namespace, None)),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def drop_tombstones(connection: sqlite3.Connection, *, keep: int) -> int:
    """Drop all but the `keep` newest tombstones; return how many went."""
    count: int = connection.execute("SELECT count(*) FROM note_tombstones").fetchone()[0]
    if count <= keep:
        return 0
    connection.execute(
        "DELETE FROM note_tombstones WHERE fingerprint IN"
        " (SELECT fingerprint FROM note_tombstones ORDER BY at, fingerprint LIMIT ?)",
        (count - keep,),
    )
    return count - keep


def _fingerprint(namespace: str, key: str | None) -> bytes:
    """Return what tells a name again without keeping it."""
    return hashlib.sha256(json.dumps([namespace, key]).encode()).digest()[:16]
