"""What can go wrong with the queue itself, and how SQLite's own errors are mapped to it.

QueueError
├── NewerSchema        the file or database is from a newer version; nothing was written to it
├── NotSetUp           the shared queue's driver, tables or rights are missing: a person must act
└── QueueUnavailable   the store cannot be used now: disk full, locked for too long, closed
    ├── NotLetIn       the shared queue's database refuses the login, its password or name
    └── QueueDamaged   SQLite calls the file damaged, or the disk does not give it
"""

import sqlite3
from pathlib import Path

from memsyncd import damaged_file


class QueueError(Exception):
    """Base of all."""


class NewerSchema(QueueError):
    """The queue's file or database has a schema version above ours. The daemon ends with exit code 78 (CONTRACT)."""

    def __init__(self, place: Path | str, found: int, known: int) -> None:
        super().__init__(f"{place} has schema version {found}, this program knows up to {known}: use the newer version")
        self.found = found
        self.known = known


class NotSetUp(QueueError):
    """The shared queue cannot be used before a person has done what the sentence says. Exit code 78, as above."""


class QueueUnavailable(QueueError):
    """The store cannot be used at the moment; the transaction did not happen and may be tried again."""


class NotLetIn(QueueUnavailable):
    """The database is there and does not let this machine in. It is tried again all the same: its keeper may."""


class QueueDamaged(QueueUnavailable):
    """Whether it is for certain, a look at the whole file tells (`memsyncd.damaged_file`)."""


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
    kind = QueueDamaged if damaged_file.is_damage(error) else QueueUnavailable
    return kind(f"the queue cannot be used: {error}" + (f" ({name})" if name else ""))
