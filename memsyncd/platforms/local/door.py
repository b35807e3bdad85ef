"""A connection to `memory.sqlite3` behind a lock, its errors mapped to the platform's tree."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from memsyncd import sqlite_transaction
from memsyncd.platforms.local import schema
from memsyncd.platforms.local.faults import platform_error
from memsyncd.platforms.platform import Cancelled, PlatformError


class Door:
    """One connection, opened on first use and again after a failure to open, for one thread at a time."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], *, begin: str) -> None:
        self._connect = connect
        self._begin = begin
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._cancelled = False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction, its SQLite errors mapped to the tree."""
        with self._lock:
            try:
                self._refuse_cancelled()
                if self._connection is None:
                    self._connection = self._connect()
                with sqlite_transaction.transaction(self._connection, self._begin) as connection:
                    yield connection
            except PlatformError:
                raise
            except (sqlite3.Error, OSError, UnicodeError, schema.NewerSchema) as error:
                self._refuse_cancelled()
                raise platform_error(error) from error

    def cancel(self) -> None:
        """Interrupt what runs, and refuse what comes."""
        self._cancelled = True
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        """Close the connection, the log folded into the file; a call that runs is waited for."""
        with self._lock:
            self._cancelled = True
            if self._connection is not None:
                with suppress(sqlite3.Error):  # the log stays, whole, for the next opening
                    schema.fold_log(self._connection)
                self._connection.close()
                self._connection = None

    def _refuse_cancelled(self) -> None:
        if self._cancelled:
            raise Cancelled("the embedded platform is being stopped")
