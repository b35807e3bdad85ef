"""A connection to `memory.sqlite3` behind a lock, its errors mapped to the platform's tree."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memsyncd import sqlite_transaction
from memsyncd.platforms.local import schema
from memsyncd.platforms.local.faults import DamagedStore, platform_error
from memsyncd.platforms.platform import Cancelled, PlatformError


class Door:
    """One connection to the file at `path`, opened on first use, for one thread at a time.

    It is opened again after a failure to open, and where the file was damaged, moved away or replaced: what a person
    puts in its place is used at once, and nothing is written to a file that has lost its name.
    """

    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection], *, begin: str) -> None:
        self._path = path
        self._connect = connect
        self._begin = begin
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._cancelled = False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction, its SQLite errors mapped to the tree."""
        with self._lock:
            try:
                self._refuse_cancelled()
                with sqlite_transaction.transaction(self._opened(), self._begin) as connection:
                    yield connection
            except PlatformError:
                raise
            except (sqlite3.Error, OSError, UnicodeError, schema.NewerSchema) as error:
                self._refuse_cancelled()
                found = platform_error(error, self._path)
                if isinstance(found, DamagedStore):
                    self._drop()
                raise found from error

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
                self._drop()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._identity != _identity(self._path):
            self._drop()
        if self._connection is None:
            self._connection = self._connect(self._path)
            self._identity = _identity(self._path)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _refuse_cancelled(self) -> None:
        if self._cancelled:
            raise Cancelled("the embedded platform is being stopped")


def _identity(path: Path) -> tuple[int, int]:
    """Return what tells a file from any other that is there while it is open."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino
