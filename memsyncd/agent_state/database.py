"""One SQLite file behind one thread of its own: transactions run there, one after another, in the order asked for.

A thread of its own rather than the loop's shared ones: two hundred waiting calls hold up nobody else's, and no lock is
needed. A call that is cancelled before its turn does nothing; one that is cancelled in the middle is done whole.
"""

import asyncio
import os
import random
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from memsyncd import sqlite_transaction
from memsyncd.agent_state import schema
from memsyncd.agent_state.errors import StoreClosed, StoreUnavailable

BUSY_SECONDS = 30.0
"""How long a call tries to get past other programs' locks before it raises StoreUnavailable."""

RETRY_SECONDS = 0.004
"""The longest pause between two tries, about one transaction of another process; random, so that all get their turn."""

_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)
"""A lock, and the race of many processes that open a file at once."""

Result = TypeVar("Result")
Row = tuple[Any, ...]
_INHERITED: list[sqlite3.Connection] = []
"""Connections that came over a fork. Closing them here would fold the log under the parent's hands."""


class Transaction:
    """What may be done inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement; return how many rows it changed."""
        return self._run(statement, values).rowcount

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""
        return [tuple(map(_from_blob, row)) for row in self._run(statement, values)]

    def one(self, statement: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        row = self._run(statement, values).fetchone()
        return None if row is None else tuple(map(_from_blob, row))

    def _run(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except UnicodeEncodeError:
            return self._connection.execute(statement, [_to_blob(value) for value in values])


class Database:
    """The file at `db_path`, opened at the first call and made where there is none; ":memory:" ends with this object.

    Methods may be awaited on any loop. They raise StoreUnavailable (NewerSchema, StoreClosed), having done nothing.
    """

    def __init__(self, db_path: str | os.PathLike[str]) -> None:
        name = os.fspath(db_path)
        self._path = None if name == ":memory:" else Path(name).absolute()
        self._lock = threading.Lock()
        self._closed = False
        self._owner = os.getpid()
        self._thread: ThreadPoolExecutor | None = None
        self._opened = _Opened()
        weakref.finalize(self, self._opened.close)  # from Python 3.13 a connection nobody closed is a warning

    async def read(self, act: Callable[[Transaction], Result]) -> Result:
        """Run `act` on one state of the file."""
        return await self._run(partial(self._attempt, "BEGIN", act))

    async def write(self, act: Callable[[Transaction], Result]) -> Result:
        """Run `act` and commit to disk; when this returns, neither a crash nor a power cut takes it back."""
        return await self._run(partial(self._attempt, "BEGIN IMMEDIATE", act))

    def close(self) -> None:
        """Let the calls already made end, and release the file. Waits for the disk; later calls raise StoreClosed."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=True)
        self._opened.close()

    async def _run(self, work: Callable[[], Result]) -> Result:
        loop = asyncio.get_running_loop()
        with self._lock:
            waiting = loop.run_in_executor(self._own_thread(), work)
        return await waiting

    def _own_thread(self) -> ThreadPoolExecutor:
        if self._closed:
            raise StoreClosed(f"{self._path or 'the store in memory'} has been closed")
        if self._owner != os.getpid():  # a fork has taken the object along, but neither its thread nor its file locks
            self._owner = os.getpid()
            self._thread = None
            self._opened.leave()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="agent-state")
        return self._thread

    def _attempt(self, begin: str, act: Callable[[Transaction], Result]) -> Result:
        """Run one transaction; while another program holds the file, take it back and try again."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                return self._transact(begin, act)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _PASSING or time.monotonic() > deadline:
                    raise StoreUnavailable(f"{self._path}: {error}") from error
            except (sqlite3.DatabaseError, OSError) as error:
                raise StoreUnavailable(f"{self._path}: {error}") from error
            time.sleep(random.uniform(0, RETRY_SECONDS))

    def _transact(self, begin: str, act: Callable[[Transaction], Result]) -> Result:
        with sqlite_transaction.transaction(self._connection(), begin) as connection:
            return act(Transaction(connection))

    def _connection(self) -> sqlite3.Connection:
        if self._opened.connection is not None and self._opened.file != _identity(self._path):
            self._opened.close()  # somebody deleted or restored the file: what is written to the old one is lost
        if self._opened.connection is None:
            connection = schema.open_in_memory() if self._path is None else schema.open_file(self._path)
            self._opened.connection = connection
            self._opened.file = _identity(self._path)
        return self._opened.connection


class _Opened:
    """The connection, apart from its Database, so that it can be closed when nobody holds that any more."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.file: tuple[int, int] | None = None
        self.owner = os.getpid()

    def close(self) -> None:
        if self.connection is not None and self.owner == os.getpid():
            self.connection.close()
            self.connection = None

    def leave(self) -> None:
        if self.connection is not None:
            _INHERITED.append(self.connection)
        self.connection = None
        self.owner = os.getpid()


def _identity(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _to_blob(value: Any) -> Any:
    """Text with half a surrogate pair is no UTF-8; it is stored as its bytes, and found by them."""
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def _from_blob(value: Any) -> Any:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
