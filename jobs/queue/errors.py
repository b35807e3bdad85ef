"""What can go wrong with the queue itself, mapped once from SQLite's own errors.

QueueError
├── NewerSchema        the file is from a newer version; nothing was written to it
└── QueueUnavailable   the store cannot be used now: disk full, locked for too long, damaged, closed
"""

import sqlite3
from pathlib import Path


class QueueError(Exception):
    """Base of the two."""


class NewerSchema(QueueError):
    """The queue's file has a schema version above ours. The daemon ends with exit code 78 (CONTRACT)."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(f"{path} has schema version {found}, this program knows up to {known}: use the newer version")
        self.path = path
        self.found = found
        self.known = known


class QueueUnavailable(QueueError):
    """The store cannot be used at the moment; the transaction did not happen and may be tried again."""


_STORE_CODES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
"""SQLite's primary result codes that speak of the file and not of the statement."""

_PRIMARY = 0xFF
"""An extended result code keeps its primary code in the lowest byte (SQLite, "Result and Error Codes")."""


def is_store_error(error: sqlite3.Error) -> bool:
    """Say whether `error` is about the file or disk (True) or about one statement (False)."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by the sqlite3 module itself: a connection that is closed
        return isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
    return int(code) & _PRIMARY in _STORE_CODES


def unavailable(error: sqlite3.Error) -> QueueUnavailable:
    """Return our error for SQLite's, naming its code."""
    name = getattr(error, "sqlite_errorname", "")
    return QueueUnavailable(f"the queue cannot be used: {error}" + (f" ({name})" if name else ""))
