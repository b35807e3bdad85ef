"""How a store's tables are brought forward: numbered steps, one transaction each, never backward.

Every store has a version, 0 where it is new, and one step for each version above that. A step is written once and never
changed again, for files that have it exist. What is of a newer version is refused before this is called, by the store.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memsyncd import sqlite_transaction

Step = Callable[[sqlite3.Connection], object]
"""Makes the tables of version N out of those of version N - 1, in the transaction it finds."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a store keeps its version."""

    read: Callable[[sqlite3.Connection], int]
    write: Callable[[sqlite3.Connection, int], object]


TOLD_EVERY_SECONDS = 2.0
"""How often a step that takes long is told of; one that is over by then is not."""

INSTRUCTIONS = 200_000
"""Of SQLite's machine between two looks at the time: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Moving:
    """A store under way to `version` for so many seconds, or there after them: `is_there`. `file` is its path."""

    file: str
    version: int
    seconds: float
    is_there: bool


_watchers: list[Callable[[Moving], object]] = []
"""A step runs wherever a store is opened first, so whoever tells people of it is known to all of this process."""


@contextlib.contextmanager
def watched(watcher: Callable[[Moving], object]) -> Iterator[None]:
    """Tell `watcher` of steps that take long, from whichever thread runs them, until the end of the context."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def _read_user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _write_user_version(connection: sqlite3.Connection, version: int) -> None:
    connection.execute(f"PRAGMA user_version = {version:d}")


USER_VERSION = Mark(_read_user_version, _write_user_version)
"""The file's own, for a store that has a file to itself or comes first in it."""


def sql(*statements: str) -> Step:
    """Return the step that runs `statements`."""

    def step(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return step


def script(text: str) -> Step:
    """Return the step that runs the statements of `text`, each of which ends a line; none may hold another."""
    return sql(*text.split(";\n"))


def forward(connection: sqlite3.Connection, steps: Sequence[Step], mark: Mark = USER_VERSION) -> int:
    """Run the steps that the store behind `connection` (in autocommit) lacks; return its version then.

    A step that fails leaves the store at the version before it. Several processes may come at once: each step is done
    by one of them. Raises sqlite3.Error.
    """
    for number, step in enumerate(steps, start=1):
        if mark.read(connection) < number:
            _run(connection, step, number, mark)
    return mark.read(connection)


def _run(connection: sqlite3.Connection, step: Step, number: int, mark: Mark) -> None:
    with sqlite_transaction.transaction(connection):
        if mark.read(connection) < number:  # else another process was faster
            with _told(connection, number):
                step(connection)
            mark.write(connection, number)


@contextlib.contextmanager
def _told(
    connection: sqlite3.Connection, number: int, monotonic: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Tell the watchers while a step runs, and at its end where they were told before."""
    if not _watchers:
        yield
        return
    file = str(connection.execute("PRAGMA database_list").fetchone()[2])
    began = told_at = monotonic()

    def tell(*, is_there: bool) -> None:
        for watcher in tuple(_watchers):
            watcher(Moving(file, number, monotonic() - began, is_there))

    def look() -> None:
        nonlocal told_at
        if monotonic() - told_at >= TOLD_EVERY_SECONDS:
            told_at = monotonic()
            tell(is_there=False)

    connection.set_progress_handler(look, INSTRUCTIONS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
    if told_at > began:
        tell(is_there=True)
