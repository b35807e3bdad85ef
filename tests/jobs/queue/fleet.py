"""Several machines on one PostgreSQL schema, with one clock of the database that tests move by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import psycopg
from psycopg.rows import dict_row

from jobs.queue.policy import Policy
from jobs.queue.postgres import schema
from jobs.queue.postgres.queue import PostgresQueue
from memsyncd.counters import Counters
from tests.clocks import HandClock
from tests.fakes.postgres_server import PostgresServer, shared_server

LEASE = 60.0


class DatabaseHands(HandClock):
    """Hands that the database's own clock follows too."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute("CREATE TABLE hands (now float8 NOT NULL)")
        self._connection.execute("INSERT INTO hands VALUES (0)")
        self._connection.execute(
            "CREATE OR REPLACE FUNCTION memsyncd_now() RETURNS float8 LANGUAGE sql STABLE AS 'SELECT now FROM hands'"
        )
        super().__init__()

    @property
    def wall_now(self) -> float:
        """What the database's clock shows."""
        return self._now

    @wall_now.setter
    def wall_now(self, now: float) -> None:
        self._now = now
        self._connection.execute("UPDATE hands SET now = %s", (now,))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Fleet:
    """The machines opened so far, and their database."""

    def __init__(self, url: str) -> None:
        self.url = url
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            schema.prepare(connection, "the test's queue")
        self.hands = DatabaseHands(url)
        self.counters = Counters()
        self._opened: list[PostgresQueue] = []

    def machine(self, name: str = "one", url: str = "", **options: Any) -> PostgresQueue:
        """Open the queue as the machine of that name does."""
        given: dict[str, Any] = {
            "host": name,
            "worker": f"{name}/data",
            "clock": self.hands.clock(),
            "policy": Policy(),
            "counters": self.counters,
            "random": Random(1),
            "lease": LEASE,
            "connections": 2,
        }
        queue = PostgresQueue(url or self.url, **{**given, **options})
        self._opened.append(queue)
        return queue

    def statement(self, words: str, *values: Any) -> list[Any]:
        """Run a statement as an administrator would; return its rows, if it has any."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(words, values)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Close all."""
        for queue in self._opened:
            queue.close()
        self.hands.close()


@contextmanager
def a_fleet(server: PostgresServer | None = None) -> Iterator[Fleet]:
    """Give a fleet on a fresh schema."""
    made = Fleet((server or shared_server()).fresh())
    try:
        yield made
    finally:
        made.close()
