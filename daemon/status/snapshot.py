"""Reading an SQLite file that nobody serves without changing a byte of it, or of its log, or making a file beside it.

Opening one with a log writes to it even in `mode=ro` (the shared-memory file), so such a file is copied with its log
into a private directory first; one without a log is opened as immutable where it lies.
"""

import contextlib
import shutil
import sqlite3
import stat
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

COPY_LIMIT = 512 * 1024 * 1024
"""Bytes beyond which a file is not copied just to be looked at."""

_HEADER = struct.Struct(">16s44xI")
_MAGIC = b"SQLite format 3\x00"


class NotADatabaseError(Exception):
    """The file is there and cannot be looked at; the message says why."""


def user_version(path: Path) -> int:
    """Return `PRAGMA user_version` from the file's header (SQLite file format 1.3, offset 60), its log not asked.

    Raises NotADatabaseError; OSError where it cannot be read. An empty file is a database of version 0.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
        raise NotADatabaseError("it is no regular file")
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
    if not head:
        return 0
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        raise NotADatabaseError("it is no SQLite database")
    return int(_HEADER.unpack(head)[1])


@contextlib.contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Give a private copy of the file and its log, gone afterwards; for code that opens by path.

    Raises NotADatabaseError, and OSError where it cannot be read.
    """
    user_version(path)
    log = _log(path)
    size = path.stat().st_size + (log.stat().st_size if log else 0)
    if size > COPY_LIMIT:
        raise NotADatabaseError(f"it is too large to be looked at beside the daemon ({size >> 20} MB)")
    with tempfile.TemporaryDirectory(prefix="memsyncd-") as directory:
        copy = Path(directory, path.name)
        shutil.copyfile(path, copy)
        if log:
            shutil.copyfile(log, f"{copy}-wal")
        yield copy


@contextlib.contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection for reading. Raises NotADatabaseError, also for SQLite's own errors; OSError as above."""
    with contextlib.ExitStack() as stack:
        user_version(path)
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        if _log(path):
            uri = f"{stack.enter_context(copied(path)).as_uri()}?mode=ro"
        try:
            yield stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True)))
        except sqlite3.Error as error:
            raise NotADatabaseError(str(error)) from error


def _log(path: Path) -> Path | None:
    """Return the write-ahead log if it holds anything."""
    log = path.with_name(f"{path.name}-wal")
    try:
        return log if log.stat().st_size else None
    except FileNotFoundError:
        return None
