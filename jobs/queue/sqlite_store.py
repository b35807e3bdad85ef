"""huey's SQLite storage on our file: its connection, journal and sync settings; claims in place of its deleting."""

import sqlite3
from pathlib import Path

from jobs.queue import schema
from jobs.queue.hueys import SqliteStorage


class ClaimStorage(SqliteStorage):
    """Gives the connections of one queue file. Full sync: what was accepted or finished is on disk.

    huey's own tables do not exist here and its reading and deleting of them is never reached:
    `jobs.queue.claiming_huey` enqueues and dequeues through the queue's claims.
    """

    blocking = True

    def __init__(self, path: Path) -> None:
        """Open `path`, creating it. Raises NewerSchema, QueueUnavailable."""
        schema.prepare(path)
        super().__init__("jobs", str(path), fsync=True, timeout=schema.BUSY_SECONDS, create_tables=False)

    def _create_connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = super()._create_connection()
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA journal_size_limit = {schema.WAL_BYTES}")
        return connection

    def writer(self) -> sqlite3.Connection:
        """Return the one connection that writes."""
        connection: sqlite3.Connection = self.conn
        return connection

    def reader(self) -> sqlite3.Connection:
        """Return a new connection that cannot write."""
        connection = self._create_connection()
        connection.execute("PRAGMA query_only = ON")
        return connection
