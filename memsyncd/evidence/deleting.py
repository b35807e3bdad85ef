"""Deleting what belongs to a session or to a repository from every table, so that neither its bytes nor its events
come back.

Of each deleted event a fingerprint stays, in a file of ours: the same event told again is known, and not stored again.
"""

# ruff: noqa: S608  (names of tables and columns come from this file and `schema` alone; every value is bound)

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memsyncd.evidence.event import NewEvent
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.schema import UNCONFIRMED_SQL, Shape

KEPT_FINGERPRINTS = 200_000
"""The newest so many; older events are told by the time they were captured at (daemon/forgetting)."""

FORGOTTEN = "memsyncd_forgotten"

_FORGOTTEN_SQL = f"CREATE TABLE IF NOT EXISTS {FORGOTTEN}(number INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE)"

_TABLES = ("events", "session_scopes", "flushes", "retrievals", "operations", "subagent_runs")
"""Facts 14.11."""

_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose evidence: a session's, a repository's (its identity), or where both are empty nobody's."""

    session_id: str = ""
    repo_id: str = ""


@dataclass(frozen=True, slots=True)
class Belongings:
    """What a file holds of somebody: sessions, packets, those of them whose delivery is open, and rows by table."""

    sessions: Sequence[str] = ()
    packets: Sequence[str] = ()
    open_packets: Sequence[str] = ()
    rows: dict[str, int] = field(default_factory=dict)


def belongings(connection: sqlite3.Connection, shape: Shape, whose: Whose) -> Belongings:
    """Return what there is of somebody."""
    sessions = _sessions(connection, shape, whose)
    packets: list[str] = []
    open_packets: list[str] = []
    for condition, values in _conditions(shape, "flushes", whose, sessions):
        rows = connection.execute(
            f"SELECT packet_id, {UNCONFIRMED_SQL} FROM flushes WHERE {condition}", values
        ).fetchall()
        packets += [str(name) for name, _ in rows]
        open_packets += [str(name) for name, is_open in rows if is_open]
    counts = {}
    for table in _TABLES:
        number = 0
        for condition, values in _conditions(shape, table, whose, sessions):
            number += connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}", values).fetchone()[0]
        if number:
            counts[table] = number
    return Belongings(sessions, packets, open_packets, counts)


def delete(connection: sqlite3.Connection, shape: Shape, whose: Whose, *, own: bool) -> dict[str, int]:
    """Delete all of it in the caller's transaction; return how many rows of each table went."""
    found = belongings(connection, shape, whose)
    if own:
        connection.execute(_FORGOTTEN_SQL)
        _remember(connection, shape, whose, found.sessions)
    if shape.has("memsyncd_posts"):
        connection.executemany("DELETE FROM memsyncd_posts WHERE packet_id = ?", [(name,) for name in found.packets])
    deleted: dict[str, int] = {}
    for table in _TABLES:
        for condition, values in _conditions(shape, table, whose, found.sessions):
            number = connection.execute(f"DELETE FROM {table} WHERE {condition}", values).rowcount
            if number:
                deleted[table] = deleted.get(table, 0) + number
    return deleted


def count_shown(connection: sqlite3.Connection, shape: Shape, memory_ids: Sequence[str], but: Whose) -> int:
    """Return how often memories were shown to others than somebody, whose own are told by `belongings`."""
    count = "SELECT count(*) FROM retrievals WHERE session_id IS NOT ? AND repo_id IS NOT ? AND"
    others = (but.session_id or None, but.repo_id or None)
    return sum(
        int(connection.execute(f"{count} {condition}", (*others, *part)).fetchone()[0])
        for condition, part in _shown(shape, memory_ids)
    )


def delete_shown(connection: sqlite3.Connection, shape: Shape, memory_ids: Sequence[str]) -> int:
    """Delete the words that memories were shown in, whatever session it was; return how many rows went. That the
    session had its recall stays: it stands with the operations."""
    return sum(
        connection.execute(f"DELETE FROM retrievals WHERE {condition}", part).rowcount
        for condition, part in _shown(shape, memory_ids)
    )


def give_back_space(connection: sqlite3.Connection) -> None:
    """Write the file anew without what was deleted, and cut its log to nothing. Outside any transaction.

    Not even a page that was given up, or the rest of one, keeps a byte. Raises sqlite3.Error where another program
    is at the file; then it may be tried again.
    """
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute("VACUUM")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("another program is reading the file: its log is cut back later")


def has_forgotten(connection: sqlite3.Connection) -> bool:
    """Tell whether anything was ever deleted from this file."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (FORGOTTEN,)).fetchone() is not None


def is_forgotten(connection: sqlite3.Connection, event: NewEvent, handoff_id: str) -> bool:
    """Tell whether this very event was deleted; only where `has_forgotten`."""
    names = _fingerprints(clean(event.session_id), clean(event.duplicate_key), handoff_id)
    marks = ", ".join("?" * len(names))
    found = connection.execute(f"SELECT 1 FROM {FORGOTTEN} WHERE fingerprint IN ({marks}) LIMIT 1", names).fetchone()
    return found is not None


def _remember(connection: sqlite3.Connection, shape: Shape, whose: Whose, sessions: Sequence[str]) -> None:
    columns = shape.select("events", ("session_id", "duplicate_key", "handoff_id"))
    for condition, values in _conditions(shape, "events", whose, sessions):
        rows = connection.execute(f"SELECT {columns} FROM events WHERE {condition}", values).fetchall()
        names = [(name,) for row in rows for name in _fingerprints(*(str(value or "") for value in row))]
        connection.executemany(f"INSERT OR IGNORE INTO {FORGOTTEN}(fingerprint) VALUES (?)", names)
    connection.execute(
        f"DELETE FROM {FORGOTTEN} WHERE number <= (SELECT max(number) FROM {FORGOTTEN}) - ?", (KEPT_FINGERPRINTS,)
    )


def _fingerprints(session_id: str, duplicate_key: str, handoff_id: str) -> list[str]:
    told = ([f"event\0{session_id}\0{duplicate_key}"] if duplicate_key else []) + (
        [f"handoff\0{handoff_id}"] if handoff_id else []
    )
    return [hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32] for name in told]


def _sessions(connection: sqlite3.Connection, shape: Shape, whose: Whose) -> Sequence[str]:
    if whose.session_id:
        return [whose.session_id]
    if not whose.repo_id or not (shape.has("session_scopes", "repo_id") and shape.has("session_scopes", "session_id")):
        return []
    rows = connection.execute("SELECT session_id FROM session_scopes WHERE repo_id = ?", (whose.repo_id,))
    return [str(name) for (name,) in rows]


def _shown(shape: Shape, memory_ids: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    is_kept = all(shape.has("retrievals", name) for name in ("memory_id", "session_id", "repo_id"))
    names = [clean(name) for name in memory_ids if name] if is_kept else []
    for start in range(0, len(names), _ROWS_AT_ONCE):
        part = names[start : start + _ROWS_AT_ONCE]
        yield f"memory_id IN ({', '.join('?' * len(part))})", part


def _conditions(
    shape: Shape, table: str, whose: Whose, sessions: Sequence[str]
) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield conditions that together choose the rows of a table, each row once."""
    by_repo = bool(whose.repo_id) and shape.has(table, "repo_id")
    if by_repo:
        yield "repo_id = ?", (whose.repo_id,)
    if not shape.has(table, "session_id"):
        return
    but = " AND repo_id IS NOT ?" if by_repo else ""
    for start in range(0, len(sessions), _ROWS_AT_ONCE):
        part = sessions[start : start + _ROWS_AT_ONCE]
        yield (
            f"session_id IN ({', '.join('?' * len(part))}){but}",
            (*part, *((whose.repo_id,) if by_repo else ())),
        )
