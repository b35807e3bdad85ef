"""Bringing an evidence file under a connection: private from the start, and never a newer one."""

import contextlib
import sqlite3
import struct
from pathlib import Path

from memsyncd import regular_file
from memsyncd.evidence import errors, schema

BUSY_SECONDS = 10.0
"""How long a call waits for another program's lock (facts 16.6)."""

HELD_SECONDS = 1.0
"""As long as it waits while that program is known to hold on: whoever has several files serves the others meanwhile."""

WAL_BYTES = 16 * 1024 * 1024
"""What the write-ahead log is cut back to after a checkpoint (never-again 117)."""

_HEADER = struct.Struct(">16s44xi4xI")
_MAGIC = b"SQLite format 3\x00"


def is_ours(path: Path, *, own: bool) -> bool:
    """Tell whether the file is one of ours: by its place (`own`), or by the mark that our files carry.

    Raises NewerSchema for one of ours from a newer version, before anything could write to it. A plugin's
    `user_version` is its own affair. What cannot be read as SQLite at all is left for `connect` to judge.
    """
    mark, version = _marks(path)
    ours = own or mark == schema.APPLICATION_ID
    if ours and version > schema.VERSION:
        raise errors.NewerSchema(
            f"{path.name} is from a newer version of memsyncd (schema {version}, this one knows {schema.VERSION}): "
            "update memsyncd"
        )
    return ours


def _marks(path: Path) -> tuple[int, int]:
    """Return `application_id` and `user_version`. Where there is a log, a read-only connection is asked, for it never
    moves the log into the file."""
    head = regular_file.content(path, _HEADER.size)
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        return 0, 0
    _, version, mark = _HEADER.unpack(head)
    if version <= schema.VERSION and Path(f"{path}-wal").exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(_look_only(path)) as connection:
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
    return int(mark), int(version)


def _look_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)


def connect(path: Path, *, own: bool) -> sqlite3.Connection:
    """Open an existing file. Ours goes into WAL mode; a plugin's keeps the mode it has.

    The connection is in autocommit and may be used from any thread, one at a time. Raises sqlite3.Error.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        connection.text_factory = _text
        connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()  # says so now if this is no database
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        if own:
            if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only possible before the first page
            connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _text(raw: bytes) -> str:
    """Bytes of another program that are no UTF-8 must not make the row unreadable."""
    return raw.decode("utf-8", "replace")
