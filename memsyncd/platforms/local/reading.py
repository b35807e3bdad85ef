"""The embedded platform's memories without a daemon: read from the file, which stays as it is."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from memsyncd.platforms.local import schema, searching
from memsyncd.platforms.local.faults import platform_error
from memsyncd.platforms.platform import Memory, Query

WAIT_SECONDS = 2.0
"""For another process that holds the whole file: somebody waits for the answer."""


def search(path: Path, query: Query, *, now: float) -> Sequence[Memory]:
    """Find memories, best first, as LocalPlatform.search; none where there is no file yet. Raises PlatformError."""
    if not path.exists():
        return []
    try:
        with closing(_opened(path)) as connection:
            return searching.search(connection, query, now=now)
    except (sqlite3.Error, OSError, UnicodeError, schema.NewerSchema) as error:
        raise platform_error(error) from error


def _opened(path: Path) -> sqlite3.Connection:
    schema.refuse_newer(path)
    connection = schema.look_only(path, timeout=WAIT_SECONDS)
    try:
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection
