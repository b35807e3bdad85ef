"""What was forgotten leaves the file: its words the index, where deleted ones stay until its segments are merged, and
its text the write-ahead log. Freed pages are overwritten by themselves (`secure_delete`).
"""

import sqlite3

from memsyncd.platforms.local.schema import BUSY_SECONDS

MERGED_PAGES = 250
"""Of the index, of 4 KB each, merged in one transaction: some 20 ms, for which other processes wait."""

FORGETTING_SECONDS, SWEEPING_SECONDS = 0.5, 2.0
"""How long a call that forgets, and a sweep, goes on merging: enough for some 20 MB of index. Beyond it SQLite's own
merges come to it later; the words stand in no search meanwhile."""

FOLD_SECONDS = 0.25
"""How long folding the log in waits for other processes; the next that folds it does as well."""

_FEWEST_CHANGES = 2
"""A merge that had something to do changes more rows (SQLite's documentation of FTS5)."""


def merge(connection: sqlite3.Connection) -> bool:
    """Merge a part of the index's segments into one, inside the caller's transaction; whether there is more."""
    before = connection.total_changes
    connection.execute("INSERT INTO note_index(note_index, rank) VALUES('merge', ?)", (-MERGED_PAGES,))
    return connection.total_changes - before >= _FEWEST_CHANGES


def fold_log(connection: sqlite3.Connection) -> None:
    """Write the log into the file and cut it to nothing, outside a transaction; where others are at it, they will."""
    connection.execute(f"PRAGMA busy_timeout = {round(FOLD_SECONDS * 1000)}")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")
