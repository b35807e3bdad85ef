"""SQLite's errors in the words of the platform's tree: mapped once, here."""

import sqlite3
from pathlib import Path

from memsyncd import damaged_file
from memsyncd.platforms.local.schema import NewerSchema
from memsyncd.platforms.platform import Busy, DestinationError, NeedsPerson, PlatformError, Rejected, Unreachable

_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
"""The second: no room for the memory that processes share beside the file."""


AGAIN_SECONDS = 10.0
"""A file of this machine is tried again so soon, for a look costs nothing, and there is room or no lock any more."""


class DamagedStore(NeedsPerson):
    """`memory.sqlite3` is no sound database. Nothing is read from it or written to it until somebody acts."""


class StoreFull(DestinationError):
    """No space left for the store; nothing was stored, and it resumes by itself when there is room."""


def platform_error(error: Exception, path: Path) -> PlatformError:
    """Return what an error of the store at `path` means for the delivery. Only the error's kind is told, never a value.

    A read that the disk refused is no damage, though SQLite calls it so: nobody is to move a sound file aside.
    """
    if isinstance(error, NewerSchema):
        return NeedsPerson(str(error))
    if isinstance(error, UnicodeError):
        return Rejected("an id or a text holds half a character")
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error, path)
    return Unreachable(f"the memory store cannot be opened: {getattr(error, 'strerror', '') or type(error).__name__}")


def _of_sqlite(error: sqlite3.Error, path: Path) -> PlatformError:
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if code in _CORRUPT:
        why = damaged_file.unreadable(path)
        if why:
            return Unreachable(f"the memory store cannot be read: {why}")
        return DamagedStore("the memory store is damaged: move memory.sqlite3 aside, or restore it from a backup")
    if code in _LOCKED:
        return Busy("the memory store is in use by another process", retry_after=AGAIN_SECONDS)
    if code in _FULL or extended in _FULL:
        return StoreFull("no space left for the memory store", retry_after=AGAIN_SECONDS)
    if isinstance(error, sqlite3.OperationalError):
        return Unreachable(f"the memory store cannot be used: {error}")
    return DamagedStore(f"the memory store does not answer as it should: {error}")
