"""Deleting what `memory.sqlite3` holds of a session or a project: memories with their index, of whatever platform they
are or mirror, and dialogue that waits for its extraction. On a connection of its own, beside a daemon or without."""

# ruff: noqa: S608  (columns are constants; every value is bound)

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memsyncd import sqlite_transaction
from memsyncd.platforms.local import memories, schema
from memsyncd.platforms.local.candidate import PERSONAL
from memsyncd.platforms.local.faults import platform_error
from memsyncd.platforms.local.merge import fingerprint
from memsyncd.platforms.platform import PlatformError

_MERGE_INDEX = "INSERT INTO memory_index(memory_index) VALUES('optimize')"
"""The index keeps deleted words in its older segments until they are merged."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose memories: a session's (`run_id`), a project's (`app_id`, and the ids its people have `shared` under), or
    one memory (`memory_id`)."""

    run_id: str = ""
    app_id: str = ""
    shared: Sequence[str] = ()
    memory_id: str = ""


def count(path: Path, whose: Whose) -> int:
    """Return how many memories would go. Raises PlatformError."""
    if not path.exists():
        return 0
    with _opened(path) as connection:
        return len(_chosen(connection, whose))


def ids(path: Path, whose: Whose) -> Sequence[str]:
    """Return the ids of the memories that would go. Raises PlatformError."""
    if not path.exists():
        return ()
    with _opened(path) as connection:
        return [memory_id for memory_id, _ in _chosen(connection, whose)]


def delete(path: Path, whose: Whose, *, at: str) -> dict[str, int]:
    """Delete it; return how many memories and waiting batches went. `at` is now, RFC 3339. Raises PlatformError.

    A session's or project's contents may be learned again from what is said anew. A memory that is deleted by its id
    is buried: the same content does not become one again.
    """
    if not path.exists():
        return {}
    with _opened(path) as connection:
        connection.execute("PRAGMA secure_delete = ON").fetchone()
        with sqlite_transaction.transaction(connection):
            deleted = _delete(connection, whose, at)
            connection.execute(_MERGE_INDEX)
    return deleted


def delete_late(path: Path, packets: Sequence[str], *, at: str) -> int:
    """Delete what came of forgotten packets after all; return how many memories went. Raises PlatformError.

    The log is cut to nothing where no other program is at it; the next look does it otherwise.
    """
    if not path.exists() or not packets:
        return 0
    gone = 0
    with _opened(path) as connection:
        connection.execute("PRAGMA secure_delete = ON").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        for packet in packets:
            for memory_id, platform in connection.execute(
                "SELECT id, platform FROM memories WHERE packet_id = ?", (packet,)
            ).fetchall():
                gone += memories.delete(connection, memory_id, at, bury=False, platform=platform)
            connection.execute("DELETE FROM extraction_events WHERE packet_id = ?", (packet,))
        if gone:
            connection.execute(_MERGE_INDEX)
        connection.execute("COMMIT")  # closing a connection rolls back what was not committed
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return gone


def give_back_space(path: Path) -> None:
    """Write the file anew without what was deleted, and cut its log to nothing. Raises PlatformError where another
    program is at it."""
    if not path.exists():
        return
    with _opened(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute("VACUUM")
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise sqlite3.OperationalError("database is locked")


def _delete(connection: sqlite3.Connection, whose: Whose, at: str) -> dict[str, int]:
    chosen = _chosen(connection, whose)
    for memory_id, platform in chosen:
        memories.delete(connection, memory_id, at, bury=bool(whose.memory_id), platform=platform)
    batches = 0
    condition, values = _condition(whose)
    if condition:
        connection.execute(
            "DELETE FROM sources WHERE packet_id IN (SELECT packet_id FROM extraction_events WHERE " + condition + ")",
            values,
        )
        batches = connection.execute(f"DELETE FROM extraction_events WHERE {condition}", values).rowcount
    return {name: number for name, number in (("memories", len(chosen)), ("batches", batches)) if number}


def _chosen(connection: sqlite3.Connection, whose: Whose) -> list[tuple[str, str]]:
    """Return id and platform of the memories: those made from it first, and those that have their words from it."""
    if whose.memory_id:
        return connection.execute("SELECT id, platform FROM memories WHERE id = ?", (whose.memory_id,)).fetchall()
    condition, values = _condition(whose)
    if not condition:
        return []
    chosen = connection.execute(f"SELECT id, platform FROM memories WHERE {condition}", values).fetchall()
    if whose.run_id:
        chosen += _worded_by(connection, whose.run_id)
    return chosen


def _worded_by(connection: sqlite3.Connection, run_id: str) -> Iterator[tuple[str, str]]:
    """Yield other sessions' memories that this session said too, and whose words are of no other."""
    said = "SELECT packet_id FROM extraction_events WHERE run_id = ?"
    rows = connection.execute(
        "SELECT DISTINCT m.number, m.id, m.platform, m.text, m.lane, m.user_id, m.agent_id, m.app_id FROM memories m"
        f" JOIN sources s ON s.memory = m.number WHERE m.run_id <> ? AND s.packet_id IN ({said})",
        (run_id, run_id),
    ).fetchall()
    for number, memory_id, platform, text, lane, user_id, agent_id, app_id in rows:
        owner = user_id if lane == PERSONAL else agent_id
        words = fingerprint(text, lane=lane, owner=owner, app_id=app_id)
        others = connection.execute(
            f"SELECT 1 FROM sources WHERE memory = ? AND fingerprint = ? AND packet_id NOT IN ({said}) LIMIT 1",
            (number, words, run_id),
        ).fetchone()
        if others is None:
            yield memory_id, platform


def _condition(whose: Whose) -> tuple[str, tuple[str, ...]]:
    if whose.run_id:
        return "run_id = ?", (whose.run_id,)
    if whose.app_id:
        marks = ", ?" * len(whose.shared)
        return f"app_id = ? AND agent_id IN (''{marks})", (whose.app_id, *whose.shared)
    return "", ()


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(schema.open_store(path)) as connection:
            yield connection
    except PlatformError:
        raise
    except (sqlite3.Error, OSError, schema.NewerSchema) as error:
        raise platform_error(error, path) from error
