"""The tree of what can go wrong with the notes; SQLite's own errors are mapped to it once, in `database`.

NoteError
├── NoteRefused          the note or the request is not acceptable as it is; the message says what would be
│   └── TooManyNotes     the store holds as many as it takes
├── NoteMissing          there is no such note, or it has expired
├── StoreBusy            another process held the lock for longer than the busy limit: try again; nothing was stored
├── StoreFull            no space left on the disk; nothing was stored
├── StoreDamaged         SQLite says for certain that the file is damaged; nothing is read from it or written to it
├── StoreNewer           the file was written by a newer version; it is left as it is
└── StoreUnavailable     the file cannot be opened, read or written for another reason

No message holds a value, a file's path or SQLite's own words (hooks-and-apis.md section 6, defect 7).
"""

import sqlite3

from memsyncd.platforms.local.schema import NewerSchema

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
"""The second: no room for the memory that processes share beside the file."""

_PRIMARY = 0xFF
"""The low byte of SQLite's extended result codes is the primary code."""


class NoteError(Exception):
    """Base of all. The message is fit for a model and for a person."""


class NoteRefused(NoteError):
    """Repeating the same request gives the same answer."""


class TooManyNotes(NoteRefused):
    """Nothing was stored."""


class NoteMissing(NoteError):
    """Nothing was changed."""


class StoreBusy(NoteError):
    """A deferral, never a failure (never-again 43)."""


class StoreFull(NoteError):
    """It resumes by itself when there is room (never-again 54)."""


class StoreDamaged(NoteError):
    """Never answered as an empty store (never-again 48)."""


class StoreNewer(NoteError):
    """Update memsyncd."""


class StoreUnavailable(NoteError):
    """Permission, input/output or any other fault of the file."""


def mapped(error: Exception) -> NoteError:
    """Return what an error of SQLite or of the file system means for a note."""
    if isinstance(error, NewerSchema):
        return StoreNewer("the memory store was written by a newer version of memsyncd: update memsyncd")
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error)
    reason = getattr(error, "strerror", "") or type(error).__name__
    return StoreUnavailable(f"the memory store cannot be opened: {reason}")


def _of_sqlite(error: sqlite3.Error) -> NoteError:
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & _PRIMARY
    if code in _DAMAGED:
        return StoreDamaged("the memory store is damaged: move memory.sqlite3 aside, or restore it from a backup")
    if code in _LOCKED:
        return StoreBusy("the memory store is in use by another process and nothing was changed: try again")
    if code in _FULL or extended in _FULL:
        return StoreFull("no space left for the memory store; nothing was changed")
    if code == sqlite3.SQLITE_READONLY:
        return StoreUnavailable("the memory store cannot be written; nothing was changed")
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    return StoreUnavailable(f"the memory store cannot be used ({name}): `memsyncd doctor` tells more")
