"""One SQLite transaction as a block: committed at its end, undone by whatever it raises."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """Run the block in one transaction of a connection in autocommit mode.

    `BEGIN IMMEDIATE` takes the write lock before anything is read (facts 2.6). Raises sqlite3.Error, and what the block
    raises; then nothing was changed.
    """
    connection.execute(begin)
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
