"""The tables of agent state, and how a file that has them, or will, is opened.

They all begin with `state_` and carry their version in a row of `state_schema`, so that they share `memory.sqlite3`
with the embedded platform, whose version is the file's `user_version`; neither touches the other's.
"""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from memsyncd import schema_steps
from memsyncd.agent_state.errors import NewerSchema

VERSION = 1
"""The version of the tables this program writes."""

SQLITE_WAIT_SECONDS = 0.05
"""How long SQLite itself waits for another program's lock. Its pauses grow to 0.1 s, too coarse to be fair, so the
longer waiting is database.py's."""

LOG_LIMIT_BYTES = 1024 * 1024
"""What the write-ahead log is cut back to after a checkpoint (never-again 117)."""

_STEPS = (
    """
    CREATE TABLE state_schema(version INTEGER NOT NULL);
    INSERT INTO state_schema VALUES(0);
    CREATE TABLE state_messages(
        number INTEGER PRIMARY KEY,
        user_id TEXT NOT NULL,
        topic_id TEXT NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX state_messages_of_topic ON state_messages(user_id, topic_id);
    CREATE TABLE state_facts(
        number INTEGER PRIMARY KEY,
        user_id TEXT NOT NULL,
        scoped INTEGER NOT NULL,
        topic_id TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        source TEXT NOT NULL,
        source_rank INTEGER NOT NULL,
        UNIQUE(user_id, scoped, topic_id, key)
    );
    CREATE TABLE state_documents(
        kind TEXT NOT NULL,
        user_id TEXT NOT NULL,
        topic_id TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY(kind, user_id, topic_id)
    ) WITHOUT ROWID;
    CREATE TABLE state_tool_events(
        user_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        topic_id TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY(user_id, number)
    );
    CREATE INDEX state_tool_events_of_topic ON state_tool_events(user_id, topic_id, number);
    CREATE TABLE state_episodes(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        moment INTEGER NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX state_episodes_by_moment ON state_episodes(moment);
    CREATE TABLE state_episode_tags(
        tag TEXT NOT NULL,
        episode INTEGER NOT NULL REFERENCES state_episodes(number) ON DELETE CASCADE,
        PRIMARY KEY(tag, episode)
    ) WITHOUT ROWID;
    CREATE INDEX state_episode_tags_of_episode ON state_episode_tags(episode);
    CREATE VIRTUAL TABLE state_episode_words USING fts5(words, detail=none, tokenize=ascii);
    CREATE TABLE state_procedures(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        success_count INTEGER NOT NULL,
        failure_count INTEGER NOT NULL,
        body TEXT NOT NULL
    );
    CREATE VIRTUAL TABLE state_procedure_words USING fts5(words, detail=none, tokenize=ascii);
    CREATE TABLE state_sessions(
        number INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL
    );
    """,
)


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file, made 0600 where there is none, with its tables up to VERSION.

    The connection may be used from any thread, one at a time. Raises NewerSchema before it writes anything,
    sqlite3.Error (busy too: another program may be opening it) or OSError.
    """
    _refuse_newer(path)
    _make_private(path)
    return _prepared(path, str(path))


def open_in_memory() -> sqlite3.Connection:
    """Open a store that lasts as long as its connection."""
    return _prepared(Path(":memory:"), ":memory:")


def _prepared(path: Path, name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=SQLITE_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # later it is too late, and the platform needs it
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON").fetchone()  # what is deleted stays in no free page
        connection.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")
        if _version(connection) != VERSION:
            schema_steps.forward(connection, [schema_steps.script(step) for step in _STEPS], _MARK)
            _known_version(path, connection)  # another process may have been first, and a newer one
    except BaseException:
        connection.close()
        raise
    return connection


def _known_version(path: Path, connection: sqlite3.Connection) -> int:
    found = _version(connection)
    if found > VERSION:
        raise NewerSchema(path, found, VERSION)
    return found


def _version(connection: sqlite3.Connection) -> int:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state_schema'").fetchone() is None:
        return 0
    row = connection.execute("SELECT version FROM state_schema").fetchone()
    return int(row[0])


def _write_version(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("UPDATE state_schema SET version = ?", (version,))


_MARK = schema_steps.Mark(_version, _write_version)


def _refuse_newer(path: Path) -> None:
    if not path.exists() or path.stat().st_size == 0:
        return
    # A look at a file nobody has open must not leave a log beside it, which one that follows the locks would.
    how = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=SQLITE_WAIT_SECONDS)) as connection:
        _known_version(path, connection)


def _make_private(path: Path) -> None:
    """Make the file, or what is there of it, its owner's alone; SQLite gives its companions the same mode."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with suppress(FileNotFoundError):
            if name.stat().st_mode & 0o777 != 0o600:  # noqa: PLR2004  (the mode itself)
                name.chmod(0o600)
