"""The shared queue's tables: how they are brought forward, who can work on them, and what is refused."""

from collections.abc import Sequence
from pathlib import Path

import psycopg

from jobs.queue.errors import NewerSchema, NotSetUp
from jobs.queue.postgres.storage import Connection

STEPS = Path(__file__).with_name("steps")
"""`0001.sql` makes the tables, `0002.sql` changes them, and so on. A step is written once and never changed again, for
databases that have it exist."""

ROLES = Path(__file__).with_name("roles.sql")
"""The roles with the least rights, for whoever administers the database."""

_LOCK = (1835365235, 2_000_000)
"""The advisory lock of who changes the tables: of our space, and no lane's."""


def steps() -> Sequence[Path]:
    """Return the steps in order."""
    return sorted(STEPS.glob("[0-9]*.sql"))


VERSION = 1
"""Of a database this program writes: who knows it can work on it. It rises with a step that an older program cannot
live with, and with no other, so that a fleet's machines may be updated one after the other."""


def prepare(connection: Connection, place: str) -> None:
    """Bring the tables at `place` forward to our last step; whoever comes first does it.

    Raises NewerSchema before anything is changed, NotSetUp where tables are missing and we may not make them, and
    psycopg.Error.
    """
    if taken(connection, place) >= len(steps()):
        return
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", _LOCK)
            _forward(connection, taken(connection, place))
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidSchemaName) as error:
        raise NotSetUp(
            f"{place}: the queue's tables are missing or too old, and cannot be made as this user ({error}). Let their "
            f"owner start the newest memsyncd once on it; {ROLES} makes the roles and the schema."
        ) from error


def taken(connection: Connection, place: str) -> int:
    """Return how many steps the tables have taken, 0 where there are none. Raises NewerSchema."""
    there = connection.execute(
        "SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'memsyncd_schema'"
    ).fetchone()
    if there is None:
        return 0
    row = connection.execute(
        "SELECT version, coalesce((to_jsonb(s) ->> 'steps')::int, version) AS steps FROM memsyncd_schema AS s"
    ).fetchone()
    if row is None:
        return 0
    if row["version"] > VERSION:
        raise NewerSchema(place, row["version"], VERSION)
    return int(row["steps"])


def _forward(connection: Connection, found: int) -> None:
    if found == 0:
        connection.execute("CREATE TABLE memsyncd_schema (version integer NOT NULL)")
        connection.execute("INSERT INTO memsyncd_schema VALUES (0)")
    for step in steps()[found:]:
        connection.execute(step.read_bytes())
    connection.execute("ALTER TABLE memsyncd_schema ADD COLUMN IF NOT EXISTS steps integer NOT NULL DEFAULT 0")
    connection.execute("UPDATE memsyncd_schema SET version = %s, steps = %s", (VERSION, len(steps())))
