"""How a store's tables are brought forward: numbered steps, one transaction each, never backward.

Every store has a version, 0 where it is new, and one step for each version above that. A step is written once and never
changed again, for files that have it exist. What is of a newer version is refused before this is called, by the store.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Step = Callable[[sqlite3.Connection], object]
"""Makes the tables of version N out of those of version N - 1, in the transaction it finds."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a store keeps its version."""

    read: Callable[[sqlite3.Connection], int]
    write: Callable[[sqlite3.Connection, int], object]


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
    connection.execute("BEGIN IMMEDIATE")
    try:
        if mark.read(connection) < number:  # else another process was faster
            step(connection)
            mark.write(connection, number)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
