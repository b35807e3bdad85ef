"""The notes' tables in `memory.sqlite3`, beside those of the embedded platform, and their own version.

The file's `user_version` is the platform's; the notes' stands in `note_store`, so that either can go on alone. Words are
kept apart from the notes, so that a recall reads no page of them. Counts are kept up by triggers: none can be forgotten.
"""

# ruff: noqa: E501  (a statement's columns stand together)

import sqlite3
from pathlib import Path

from memsyncd import schema_steps
from memsyncd.notes import reindexing
from memsyncd.platforms.local import schema

VERSION = 2

_FIRST_STEP = (
    "CREATE TABLE note_store(version INTEGER NOT NULL, notes INTEGER NOT NULL, bytes INTEGER NOT NULL)",
    "INSERT INTO note_store VALUES(0, 0, 0)",
    """
    CREATE TABLE note_namespaces(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        notes INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE notes(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER NOT NULL REFERENCES note_namespaces(number),
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, accessed_at INTEGER NOT NULL,
        expires_at INTEGER,
        access_count INTEGER NOT NULL DEFAULT 0,
        imported INTEGER NOT NULL DEFAULT 0,
        bytes INTEGER NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        UNIQUE(key, namespace)
    )
    """,
    "CREATE INDEX notes_of_namespace ON notes(namespace, number)",
    "CREATE INDEX notes_by_expiry ON notes(expires_at, namespace) WHERE expires_at IS NOT NULL",
    "CREATE INDEX notes_by_creation ON notes(created_at)",
    """
    CREATE TRIGGER note_added AFTER INSERT ON notes BEGIN
        UPDATE note_store SET notes = notes + 1, bytes = bytes + new.bytes;
        UPDATE note_namespaces SET notes = notes + 1 WHERE number = new.namespace;
    END
    """,
    """
    CREATE TRIGGER note_resized AFTER UPDATE OF bytes ON notes BEGIN
        UPDATE note_store SET bytes = bytes + new.bytes - old.bytes;
    END
    """,
    """
    CREATE TRIGGER note_removed AFTER DELETE ON notes BEGIN
        UPDATE note_store SET notes = notes - 1, bytes = bytes - old.bytes;
        UPDATE note_namespaces SET notes = notes - 1 WHERE number = old.namespace;
        DELETE FROM note_namespaces WHERE number = old.namespace AND notes <= 0;
    END
    """,
    "CREATE TABLE note_words(number INTEGER PRIMARY KEY, words TEXT NOT NULL)",
    "CREATE TABLE note_vocabulary(term TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE INDEX note_letters ON note_vocabulary(term) WHERE term NOT GLOB '*[0-9_]*'",
    """
    CREATE VIRTUAL TABLE note_index USING fts5(
        words, content='note_words', content_rowid='number', detail=none,
        tokenize="unicode61 remove_diacritics 0 tokenchars '_:'"
    )
    """,
    "CREATE TABLE note_tombstones(fingerprint BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
)

_STEPS = (schema_steps.sql(*_FIRST_STEP), reindexing.index_anew)


def open_notes(path: Path) -> sqlite3.Connection:
    """Open the file, made 0600 where there is none, and bring the notes' tables up to VERSION.

    Several processes may do so at once: each step is one transaction and is done once. Raises schema.NewerSchema,
    sqlite3.Error or OSError.
    """
    connection = schema.open_store(path)
    try:
        connection.execute("PRAGMA secure_delete = ON").fetchone()  # what is forgotten stays in no free page
        _known_version(connection, path)
        schema_steps.forward(connection, _STEPS, _MARK)
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the file for reading, as it is: nothing is made, brought forward or waited to be written, so that notes are
    read on a disk that is full or takes nothing. Where there are none yet, that is read.

    Raises schema.NewerSchema, sqlite3.Error or OSError.
    """
    if not path.exists() or path.stat().st_size == 0:
        return _none()
    connection = schema.look_only(path, timeout=schema.BUSY_SECONDS)
    try:
        schema.known_version(connection, path)
        if _known_version(connection, path):
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return _none()


def _none() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema_steps.forward(connection, _STEPS, _MARK)
    return connection


def _known_version(connection: sqlite3.Connection, path: Path) -> int:
    found = _version(connection)
    if found > VERSION:
        raise schema.NewerSchema(path, found)
    return found


def _version(connection: sqlite3.Connection) -> int:
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'note_store'").fetchone()
    return int(connection.execute("SELECT version FROM note_store").fetchone()[0]) if there else 0


def _write_version(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("UPDATE note_store SET version = ?", (version,))


_MARK = schema_steps.Mark(_version, _write_version)
