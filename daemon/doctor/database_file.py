"""Looking at a database without changing a byte of it: its versions, and whether its structure is whole."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from daemon.status import snapshot
from memsyncd.platforms.local.schema import look_only

WAIT_SECONDS = 2.0
"""For another process that holds the whole file."""

STEPS = 20_000
"""SQLite's own steps between two looks at the time."""

ReadVersions = Callable[[sqlite3.Connection], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Looked:
    """`versions` are those found, by the part of the file they are of. `faults` is what SQLite finds wrong with its
    structure, empty if nothing; `is_whole` tells whether all of it was looked at in time. `error` is why the file is no
    database, or `unreadable` why it could not be looked at."""

    path: str
    exists: bool = True
    bytes: int = 0
    log_bytes: int = 0
    versions: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    is_whole: bool = True
    error: str = ""
    unreadable: str = ""


def look(
    path: Path, versions: ReadVersions, *, is_served: bool, within: float, monotonic: Callable[[], float]
) -> Looked:
    """Look at the file for about `within` seconds. `is_served` tells that a daemon has it open."""
    told = _found(path, is_served=is_served)
    if not told.exists or told.error or told.unreadable:
        return told
    end = monotonic() + within
    try:
        with _opened(path, is_served=is_served) as connection:
            connection.set_progress_handler(lambda: monotonic() > end, STEPS)
            return _inspected(connection, versions, told)
    except snapshot.NotADatabaseError as error:
        return _judged(error.__cause__, told, str(error))
    except sqlite3.Error as error:
        return _judged(error, told, str(error))
    except OSError as error:
        return replace(told, unreadable=error.strerror or str(error))


def _found(path: Path, *, is_served: bool) -> Looked:
    """Return the file's sizes, or why it is not to be opened."""
    log = Path(f"{path}-wal")
    try:
        found = path.stat()
        log_bytes = log.stat().st_size if log.exists() else 0
    except FileNotFoundError:
        return Looked(str(path), exists=False)
    except OSError as error:
        return Looked(str(path), unreadable=error.strerror or str(error))
    told = Looked(str(path), bytes=found.st_size, log_bytes=log_bytes)
    if not stat.S_ISREG(found.st_mode):
        return replace(told, error="it is no regular file")
    if not os.access(path, os.R_OK):
        return replace(told, unreadable="you may not read it")
    if log_bytes and not is_served and found.st_size + log_bytes > snapshot.COPY_LIMIT:
        return replace(told, unreadable="it is too large to be looked at while no daemon runs")
    return told


def _inspected(connection: sqlite3.Connection, versions: ReadVersions, told: Looked) -> Looked:
    told = replace(told, versions=dict(versions(connection)))
    try:
        answers = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return replace(told, is_whole=False)
        raise
    return replace(told, faults=() if answers == ["ok"] else tuple(answers))


def _judged(error: BaseException | None, told: Looked, sentence: str) -> Looked:
    """Only a definite word of SQLite's is a damage (never-again 50)."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF
    if code == sqlite3.SQLITE_INTERRUPT:
        return replace(told, is_whole=False)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return replace(told, error=sentence)
    return replace(told, unreadable=sentence)


@contextmanager
def _opened(path: Path, *, is_served: bool) -> Iterator[sqlite3.Connection]:
    """Open for reading. Where others may have it open, by its locks and with them; else as it lies there, for opening
    one with a log would write beside it."""
    snapshot.user_version(path)  # raises for what is no database, before anything is opened
    if is_served or Path(f"{path}-shm").exists():
        with closing(look_only(path, timeout=WAIT_SECONDS)) as connection:
            yield connection
        return
    with snapshot.connected(path) as connection:
        yield connection
