"""A damaged SQLite file of ours: told for certain, and kept aside whole, so that a new one can take its place."""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

KEPT_COPIES = 3
"""Damaged files kept beside a store, the newest ones (never-again 49)."""

BUSY_SECONDS = 10.0

COMPANIONS = ("-wal", "-shm")
MARK = ".corrupt-"
"""The name of a copy is `<file>.corrupt-<epoch seconds>` (facts 16.5)."""

_AT_ONCE = 1024 * 1024
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY = 0xFF
"""The low byte of SQLite's extended result codes is the primary code."""


def is_damage(error: BaseException) -> bool:
    """Tell whether SQLite calls the file damaged. It does so where the disk refused a read too (EIO): `unreadable`
    tells that apart."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & _PRIMARY in _DAMAGE


def unreadable(path: Path) -> str:
    """Return why the system does not give all bytes of the file and its log, empty where it does."""
    for name in (path, Path(f"{path}-wal")):
        try:
            with name.open("rb", buffering=0) as file:
                while file.read(_AT_ONCE):
                    pass
        except FileNotFoundError:
            continue
        except OSError as error:
            return error.strerror or str(error)
    return ""


def is_sure(path: Path) -> bool:
    """Tell whether a fresh look at the file, all of which can be read, ends in a definite word of corruption
    (never-again 50)."""
    if unreadable(path):
        return False
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as connection:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return is_damage(error)
    return answer is None or answer[0] != "ok"


def set_aside(path: Path, now: float) -> tuple[Path, int]:
    """Rename a damaged file and its companions; return its new name and how many older copies were dropped.

    No connection may be open on it. Raises OSError.
    """
    kept = copies(path)
    number = max(int(now), *(epoch(copy) + 1 for copy in kept)) if kept else int(now)
    target = path.with_name(f"{path.name}{MARK}{number}")
    for suffix in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{suffix}").rename(f"{target}{suffix}")
    path.rename(target)
    dropped = [*kept, target][:-KEPT_COPIES]
    for copy in dropped:
        for name in (copy, *(Path(f"{copy}{suffix}") for suffix in COMPANIONS)):
            name.unlink(missing_ok=True)
    return target, len(dropped)


def copies(path: Path) -> Sequence[Path]:
    """Return the damaged copies beside `path`, oldest first; none where it has no directory. Raises OSError."""
    found = path.parent.glob(f"{path.name}{MARK}*")
    return sorted((copy for copy in found if copy.name.rpartition("-")[2].isdecimal()), key=epoch)


def epoch(copy: Path) -> int:
    """Return when a copy was set aside, in Unix seconds."""
    return int(copy.name.rpartition("-")[2])
