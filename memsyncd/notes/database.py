"""Connections to the notes, their errors told in the words of our own tree."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from memsyncd import sqlite_transaction
from memsyncd.notes import errors, schema
from memsyncd.platforms.local.schema import NewerSchema


class Reader:
    """Reads a file as it is at that moment, each transaction on a connection of its own: what may be there only later,
    or be written by others only later, is seen then. Safe from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction. Raises NoteError, and what the block raises."""
        if self._closed:
            raise _closed()
        try:
            with closing(schema.open_to_read(self._path)) as opened, sqlite_transaction.transaction(opened, "BEGIN"):
                yield opened
        except (sqlite3.Error, OSError, NewerSchema) as error:
            raise errors.mapped(error) from error

    def close(self) -> None:
        """Refuse what comes."""
        self._closed = True


class Writer:
    """A connection opened on first use, and again after a failure to open. A transaction takes the lock as it begins:
    it never has to give up half way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction. Raises NoteError, and what the block raises; then nothing was changed."""
        with self._opened() as connection, sqlite_transaction.transaction(connection):
            yield connection

    def outside(self, act: Callable[[sqlite3.Connection], None]) -> None:
        """Run `act` outside any transaction. Raises NoteError."""
        with self._opened() as connection:
            act(connection)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._closed:
                    raise _closed()
                if self._connection is None:
                    self._connection = schema.open_notes(self._path)
                yield self._connection
            except (sqlite3.Error, OSError, NewerSchema) as error:
                raise errors.mapped(error) from error

    def close(self) -> None:
        """Close the connection for good; a transaction that runs is waited for."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _closed() -> errors.StoreUnavailable:
    return errors.StoreUnavailable("the memory store is closed: the program is stopping")
