"""One connection under a lock, in short transactions, with SQLite's errors mapped once."""

import contextlib
import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from memsyncd import damaged_file
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence import errors, opening, schema
from memsyncd.private_store import make_private

SET_ASIDE = "evidence_stores_set_aside"
"""The counter of files of ours that were damaged: what they held and nobody had sent is not sent."""

COPIES_DROPPED = "evidence_corrupt_copies_dropped"
"""The counter of older copies of them that made room."""

_NO_FILE = (-1, -1)
_GONE = (0, 0)
"""Device and inode numbers that no file has: of no file served yet, and of a name without a file."""


class Database:
    """An evidence file being served. `read_only` and `problem` may change while it is: a plugin upgrades its own
    file, a damaged file of ours is set aside and begun anew, and what could not be written can be again. `was_replaced`
    tells that another file was found in this one's place."""

    def __init__(self, path: Path, *, own: bool, clock: Clock, counters: Counters) -> None:
        """Open the file; raises EvidenceError, and FileNotFoundError for a plugin's file that is not there."""
        self.path = path
        self.own = own
        self.clock = clock
        self.counters = counters
        self.shape = schema.Shape()
        self.read_only = False
        self.problem = ""
        self.was_replaced = False
        self._lock = threading.RLock()
        self._schema_version = -1
        self._identity = _NO_FILE
        self._is_open = False
        self._is_unwritable = False
        self._is_lost = False
        self._is_closed = False
        self._waits_for: tuple[sqlite3.Connection | None, float] = (None, 0.0)
        self._synced: tuple[sqlite3.Connection | None, bool] = (None, True)
        self._connection = self._open()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection out for reading. Fetch all you ask for inside: an open cursor keeps the log long."""
        with self._lock:
            try:
                self._look()
                yield self._connection
            except errors.EvidenceError:
                raise
            except sqlite3.Error as error:
                raise self._failed(error) from error
            except OSError as error:
                raise errors.StoreUnavailable(f"{self.path.name} cannot be used: {error.strerror}") from error

    @contextlib.contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Give the connection out in an immediate transaction: the write lock is taken before anything is read
        (facts 2.6). Commits at the end, rolls back on any error. Raises ReadOnlyStore where nothing may be written.

        Without `durable` the commit does not wait for the disk: it survives any death of the process, and may be
        forgotten in a power cut together with all that came after it. Only in files of ours, which are in WAL mode.
        """
        with self._lock:
            try:
                self._look()
                if self.read_only:
                    raise errors.ReadOnlyStore(self.problem)
                self._sync(durable or not self.own)
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                    self._wait_for(opening.BUSY_SECONDS)
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
            except errors.EvidenceError:
                raise
            except sqlite3.Error as error:
                raise self._failed(error) from error
            except OSError as error:
                raise errors.StoreUnavailable(f"{self.path.name} cannot be used: {error.strerror}") from error

    def _sync(self, durable: bool) -> None:
        if self._synced != (self._connection, durable):
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._synced = (self._connection, durable)

    def _wait_for(self, seconds: float) -> None:
        """Wait so long for another program's lock from now on."""
        if self._waits_for != (self._connection, seconds):
            self._connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            self._waits_for = (self._connection, seconds)

    def checkpoint(self) -> None:
        """Move the log into the file and cut it back. Waits for nobody; a plugin's log is left its length."""
        with self.reading() as connection:
            if not self.own:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                return
            self._wait_for(0.0)
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._wait_for(opening.BUSY_SECONDS)

    def integrity(self) -> str | None:
        """Return what SQLite's quick check finds, or None if all is well. Reads the whole file, beside the lock."""
        try:
            with contextlib.closing(opening.connect(self.path, own=False)) as connection:
                found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
        except sqlite3.Error as error:
            return str(errors.mapped(error, self.path))
        return None if found == ["ok"] else "; ".join(found)

    def close(self) -> None:
        """Release the file; a later call raises StoreUnavailable."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            connection = self._connect()
        except errors.EvidenceError:
            raise
        except sqlite3.Error as error:
            if not (self.own and damaged_file.is_damage(error) and damaged_file.is_sure(self.path)):
                raise errors.mapped(error, self.path) from error
            self._set_aside()
            connection = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        if self.own:
            make_private(self.path)
        elif not self.path.exists():
            raise FileNotFoundError(errno.ENOENT, "no evidence store", str(self.path))
        self.own = opening.is_ours(self.path, own=self.own)
        connection = opening.connect(self.path, own=self.own)
        try:
            if self.own and schema.version(connection) < schema.VERSION:
                schema.create(connection, first_event=int(self.clock.wall() * 1000))
            self._inspect(connection)
            self._identity = self._identity_now()
            self._is_open = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _inspect(self, connection: sqlite3.Connection) -> None:
        self._schema_version = connection.execute("PRAGMA schema_version").fetchone()[0]
        self.shape = schema.inspect(connection)
        problem, was_unwritable = self.shape.problem, self._is_unwritable
        self._is_unwritable = not problem and not _is_writable(connection)
        if self._is_unwritable:
            problem = f"{self.path.name} or its directory cannot be written"
        self.read_only = bool(problem)
        if problem or was_unwritable or not self.own:
            self.problem = problem

    def _look(self) -> None:
        """Notice what other programs did since: put another file in this one's place, or changed its tables.

        A plugin sets its damaged file aside and begins anew (facts 16.5), and people delete and restore files. What
        is written to a file that has lost its name would be lost without a word.
        """
        if self._is_closed:
            raise errors.StoreUnavailable(f"{self.path.name} has been closed")
        if self._identity not in (_NO_FILE, self._identity_now()):
            self._is_lost, self._identity = True, _NO_FILE
        if self._is_lost or self._is_unwritable or not self._is_open:
            self._is_open = False
            self._connection.close()  # SQLite leaves the log that now lies under the old name alone
            self._connection = self._open()
        if self._is_lost:
            self._is_lost = False
            self.counters.add("evidence_stores_replaced")
            if self.own:
                self.was_replaced = True
                self.problem = f"{self.path.name} was removed or replaced while it was served; the one there is used"
        elif not self.own and self._schema_version_now() != self._schema_version:
            self._inspect(self._connection)

    def _identity_now(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)  # with every transaction: a Path's own takes twice as long
        except OSError:
            return _GONE
        return found.st_dev, found.st_ino

    def _schema_version_now(self) -> int:
        return int(self._connection.execute("PRAGMA schema_version").fetchone()[0])

    def _failed(self, error: sqlite3.Error) -> errors.EvidenceError:
        found = errors.mapped(error, self.path)
        if isinstance(found, errors.StoreBusy):
            self._wait_for(opening.HELD_SECONDS)
        if self.own and damaged_file.is_damage(error):
            self._is_open = False
            self._connection.close()
            with contextlib.suppress(errors.EvidenceError, OSError):  # the next call opens it, or tells why it cannot
                if damaged_file.is_sure(self.path):
                    self._set_aside()
                self._connection = self._open()
        return found

    def _set_aside(self) -> None:
        copy, dropped = damaged_file.set_aside(self.path, self.clock.wall())
        self._identity = _NO_FILE
        self.counters.add(SET_ASIDE)
        self.problem = f"{self.path.name} was damaged: kept as {copy.name}, a new one was begun"
        if dropped:
            self.counters.add(COPIES_DROPPED, dropped)
            self.problem += f", {dropped} older damaged copies were deleted"


def _is_writable(connection: sqlite3.Connection) -> bool:
    """Try a write and take it back: what it may not write SQLite opens all the same, even a write transaction."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(f"PRAGMA user_version = {version}")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
    return True
