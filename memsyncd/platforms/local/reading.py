"""The embedded platform's memories without a daemon: read from the file, which stays as it is."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
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
    with looked_at(path) as connection:
        return searching.search(connection, query, now=now)


@contextmanager
def looked_at(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that reads the file as it is, of this version or an earlier one. Raises PlatformError."""
    try:
        with closing(schema.look_only(path, timeout=WAIT_SECONDS)) as connection:
            schema.known_version(connection, path)
            connection.execute("PRAGMA query_only = ON")
            yield connection
    except (sqlite3.Error, OSError, UnicodeError, schema.NewerSchema) as error:
        raise platform_error(error, path) from error
