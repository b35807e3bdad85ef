"""The whole tree of the evidence store's errors; SQLite's own are mapped to these once, in `database`.

EvidenceError
├── NewerSchema      the file is from a newer version: untouched, its spool is set aside
├── CorruptStore     SQLite says for certain that the file is damaged
├── ReadOnlyStore    a write was asked of a store that is served read-only
├── StoreBusy        another writer held the lock for longer than the busy limit: try later
├── StoreFull        no space or no inodes left: keep the spool's files, try later
└── StoreUnavailable the file cannot be opened, read or written for another reason
"""

import sqlite3
from pathlib import Path

from memsyncd import damaged_file


class EvidenceError(sqlite3.Error):
    """Base of all. The message is fit for a person and holds no evidence.

    It is a `sqlite3.Error`, so that whoever handles databases as such handles this one too.
    """


class NewerSchema(EvidenceError):
    """`PRAGMA user_version` is above ours. The file is byte-equal afterwards."""


class CorruptStore(EvidenceError):
    """SQLITE_CORRUPT or SQLITE_NOTADB. One of ours has been set aside and a new one begun: repeat the call."""


class ReadOnlyStore(EvidenceError):
    """The store's `problem` says why it is not written to."""


class StoreBusy(EvidenceError):
    """Locked for longer than the busy limit; a deferral, never a failure (never-again 43)."""


class StoreFull(EvidenceError):
    """The disk has no room; nothing was written (never-again 54)."""


class StoreUnavailable(EvidenceError):
    """Permission, input/output or any other fault of the file."""


_PRIMARY = 0xFF
"""The low byte of SQLite's extended result codes is the primary code."""


def mapped(error: sqlite3.Error, path: Path) -> EvidenceError:
    """Return the error of the tree that stands for SQLite's `error` on the file at `path`."""
    name, code = path.name, _primary(error)
    if damaged_file.is_damage(error):
        why = damaged_file.unreadable(path)
        return StoreUnavailable(f"{name} cannot be read: {why}") if why else CorruptStore(f"{name} is damaged: {error}")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"{name} is locked by another program")
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"no space left for {name}")
    if code == sqlite3.SQLITE_READONLY:
        return ReadOnlyStore(f"{name} cannot be written: {error}")
    return StoreUnavailable(f"{name} cannot be used: {error}")


def _primary(error: BaseException) -> int:
    code = getattr(error, "sqlite_errorcode", None)
    return code & _PRIMARY if isinstance(code, int) else 0
