"""The tables of the embedded platform in `memory.sqlite3`, and how the file is opened."""

import os
import sqlite3
from pathlib import Path

from memsyncd import schema_steps
from memsyncd.platforms.local import reindexing
from memsyncd.private_store import make_private

VERSION = 4
"""`PRAGMA user_version` of a file this program writes."""

EMBEDDED = "local"
"""The `platform` of the embedded platform's own memories. Any other is the destination of a platform elsewhere, whose
memory a row mirrors."""

BUSY_SECONDS = 10.0
JOURNAL_LIMIT_BYTES = 1024 * 1024
"""What the write-ahead log is cut back to after a checkpoint (never-again 117)."""

FOLD_SECONDS = 0.5
"""How long folding the log in waits for another process at the file: a stop has 5 s in all."""

_LOCKED, _STILL = "mode=ro", "immutable=1"

_NO_ROOM_BESIDE = frozenset(
    {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
)

# The second step's index takes terms as they are: terms.py has folded them already, and of a character that SQLite's
# tables of letters do not know (a vowel sign, a letter of a newer Unicode) `unicode61` would make two words.
_TABLES = (
    """
    CREATE TABLE extraction_events(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        event_id TEXT NOT NULL UNIQUE,
        packet_id TEXT NOT NULL,
        batch INTEGER NOT NULL,
        state TEXT NOT NULL,
        user_id TEXT NOT NULL, app_id TEXT NOT NULL, agent_id TEXT NOT NULL, run_id TEXT NOT NULL,
        metadata TEXT NOT NULL,
        messages TEXT,
        memories INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '',
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        UNIQUE(packet_id, batch)
    );
    CREATE TABLE memories(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        text TEXT NOT NULL,
        category TEXT NOT NULL,
        lane TEXT NOT NULL,
        user_id TEXT NOT NULL, app_id TEXT NOT NULL, agent_id TEXT NOT NULL, run_id TEXT NOT NULL,
        packet_id TEXT NOT NULL,
        batch INTEGER NOT NULL,
        branch TEXT NOT NULL DEFAULT '',
        metadata TEXT NOT NULL,
        score REAL NOT NULL,
        seen INTEGER NOT NULL DEFAULT 1,
        created_at TEXT NOT NULL,
        last_seen TEXT NOT NULL,
        superseded_by TEXT NOT NULL DEFAULT '',
        words TEXT NOT NULL, parts TEXT NOT NULL, grams TEXT NOT NULL, context TEXT NOT NULL, scope TEXT NOT NULL
    );
    CREATE INDEX memories_of_run ON memories(app_id, run_id);
    CREATE TABLE sources(
        memory INTEGER NOT NULL REFERENCES memories(number) ON DELETE CASCADE,
        fingerprint TEXT NOT NULL,
        packet_id TEXT NOT NULL,
        batch INTEGER NOT NULL,
        seen_at TEXT NOT NULL,
        PRIMARY KEY(memory, fingerprint, packet_id, batch)
    ) WITHOUT ROWID;
    CREATE INDEX sources_by_fingerprint ON sources(fingerprint);
    CREATE INDEX sources_by_packet ON sources(packet_id, batch);
    CREATE TABLE tombstones(
        fingerprint TEXT PRIMARY KEY,
        deleted_at TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE terms(
        term TEXT PRIMARY KEY,
        documents INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE VIRTUAL TABLE memory_index USING fts5(
        words, parts, grams, context, scope,
        content='memories', content_rowid='number', detail=none,
        tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
    );
    """,
    """
    ALTER TABLE memories ADD COLUMN platform TEXT NOT NULL DEFAULT 'local';
    CREATE INDEX memories_of_platform ON memories(platform, last_seen) WHERE platform <> 'local';
    DROP TABLE memory_index;
    CREATE VIRTUAL TABLE memory_index USING fts5(
        words, parts, grams, context, scope,
        content='memories', content_rowid='number', detail=none,
        tokenize="ascii tokenchars '_'"
    );
    INSERT INTO memory_index(rowid, words, parts, grams, context, scope)
        SELECT number, words, parts, grams, context, scope FROM memories WHERE superseded_by = '';
    """,
)

_HIDDEN = "CREATE INDEX memories_hidden ON memories(superseded_by) WHERE superseded_by <> '';"
"""Whoever deletes a memory looks for those it hid."""

_STEPS = (*map(schema_steps.script, _TABLES), reindexing.index_anew, schema_steps.script(_HIDDEN))


class NewerSchema(Exception):
    """The file was written by a newer version of this program; it is left exactly as it is."""

    def __init__(self, path: Path, found: int) -> None:
        super().__init__(f"{path} is from a newer version (schema {found}, this program knows {VERSION})")
        self.path = path
        self.found = found


def refuse_newer(path: Path) -> None:
    """Raise NewerSchema where the file at `path` says a version above ours. Opens it for reading only.

    Raises sqlite3.DatabaseError where it is no database.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    connection = look_only(path, timeout=BUSY_SECONDS)
    try:
        known_version(connection, path)
    finally:
        connection.close()


def known_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the file at `path` that is open. Raises NewerSchema for one above ours."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > VERSION:
        raise NewerSchema(path, found)
    return found


def way_to_look(*, can_write_beside: bool, has_log: bool) -> str:
    """Return SQLite's parameter of a path that is opened for reading."""
    return _LOCKED if can_write_beside or has_log else _STILL


def look_only(path: Path, *, timeout: float) -> sqlite3.Connection:
    """Open the file for reading; `timeout`, seconds, for another process that holds it. Raises sqlite3.Error.

    Where SQLite cannot make its shared memory beside it (a backup, a disk that is full or mounted read-only), a file
    without a log is read as one that nobody changes.
    """
    if path.exists() and not path.is_file():
        raise sqlite3.DatabaseError("it is no regular file")  # SQLite would wait for a pipe's other end
    log = Path(f"{path}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    how = way_to_look(can_write_beside=os.access(path.parent, os.W_OK), has_log=has_log)
    try:
        return _looking(path, how, timeout)
    except sqlite3.OperationalError as error:
        if has_log or getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NO_ROOM_BESIDE:
            raise
        return _looking(path, _STILL, timeout)


def _looking(path: Path, how: str, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=timeout)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # its shared memory is made now
    except BaseException:
        connection.close()
        raise
    return connection


def open_store(path: Path) -> sqlite3.Connection:
    """Open the file, which is made its owner's alone, and bring its tables up to VERSION, one transaction a step.

    The connection may be used from any thread, one at a time. Raises NewerSchema, sqlite3.Error or OSError.
    """
    make_private(path)
    refuse_newer(path)
    connection = connect(path)
    try:
        schema_steps.forward(connection, _STEPS)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Open a further connection to a file that open_store has prepared."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def fold_log(connection: sqlite3.Connection) -> None:
    """Write the log into the file and cut it to nothing. Raises sqlite3.Error where the file does not let us.

    SQLite does so by itself when the last connection closes, but not on one that was interrupted before.
    """
    connection.execute(f"PRAGMA busy_timeout = {round(FOLD_SECONDS * 1000)}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
