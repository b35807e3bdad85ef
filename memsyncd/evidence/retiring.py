"""Deleting evidence whose delivery was confirmed long ago, a packet at a time, and giving its space back.

What is in no packet, in one that is open, or in one that was given up, was not delivered and stays. The session's scope
and how far its transcript was read stay too: a session taken up again after a year is known.
"""

# ruff: noqa: S608  (names of tables and columns are constants; every value is bound)

import sqlite3
from collections.abc import Sequence

from memsyncd.evidence.schema import DELIVERED_SQL

LOGS = (("operations", "created_at"), ("retrievals", "injected_at"), ("subagent_runs", "started_at"))
"""What is only looked back at, with the column that tells its age (never-again 116)."""

ROWS_AT_ONCE = 500

WORTH_REWRITING_BYTES = 16 * 1024 * 1024
"""An older file that cannot shrink is written anew once so much of it, and half of it, is free."""


def due(connection: sqlite3.Connection, before: str, limit: int) -> Sequence[str]:
    """Return the ids of packets confirmed before that time (RFC 3339), the oldest first."""
    rows = connection.execute(
        f"SELECT packet_id FROM flushes WHERE {DELIVERED_SQL} AND updated_at < ? ORDER BY updated_at LIMIT ?",
        (before, limit),
    )
    return [str(name) for (name,) in rows]


def retire(connection: sqlite3.Connection, packet_id: str, before: str) -> int:
    """Delete a packet with its events, if it is still as `due` said; return how many events went."""
    gone = connection.execute(
        f"DELETE FROM flushes WHERE packet_id = ? AND {DELIVERED_SQL} AND updated_at < ?", (packet_id, before)
    ).rowcount
    if not gone:
        return 0
    connection.execute("DELETE FROM memsyncd_posts WHERE packet_id = ?", (packet_id,))
    return connection.execute("DELETE FROM events WHERE flush_id = ?", (packet_id,)).rowcount


def retire_logs(connection: sqlite3.Connection, before: str) -> int:
    """Delete up to ROWS_AT_ONCE lines of each log from before that time; return how many went."""
    return sum(
        connection.execute(
            f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE {column} < ? LIMIT ?)",
            (before, ROWS_AT_ONCE),
        ).rowcount
        for table, column in LOGS
    )


def shrink(connection: sqlite3.Connection, pages: int) -> bool:
    """Give up to `pages` free pages back to the file system; True while there are more. Outside any transaction."""
    free = _free_pages(connection)
    if not free:
        return False
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0]:
        connection.execute(f"PRAGMA incremental_vacuum({pages:d})").fetchall()
        return _free_pages(connection) > 0
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    if free * size >= WORTH_REWRITING_BYTES and free * 2 >= connection.execute("PRAGMA page_count").fetchone()[0]:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("VACUUM")
    return False


def _free_pages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])
