"""A database that does not let us in is told apart from one that is not there: another remedy helps."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import psycopg
import pytest

from jobs.queue.errors import NotLetIn, QueueUnavailable
from jobs.queue.policy import Policy
from jobs.queue.postgres import errors
from jobs.queue.postgres.queue import PostgresQueue
from jobs.queue.shared_queue import UNUSABLE
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from tests.fakes.postgres_server import PostgresServer, installed

RULES = "local all edges scram-sha-256\nlocal all stranger reject\nlocal all all trust\n"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Give one that asks some for a password, and lets some in by no means."""
    made = PostgresServer(installed())
    try:
        (Path(made.data) / "pg_hba.conf").write_text(RULES)
        made.start()
        with psycopg.connect(made.url(), autocommit=True) as connection:
            connection.execute("CREATE ROLE edges LOGIN PASSWORD 'right'")
            connection.execute("CREATE ROLE walker NOLOGIN")
        yield made
    finally:
        made.remove()


def opened(url: str) -> PostgresQueue:
    return PostgresQueue(
        url, host="h", worker="w", clock=Clock(), policy=Policy(), counters=Counters(), random=Random(1)
    )


@pytest.mark.parametrize(
    ("login", "words"),
    [
        ({"user": "edges", "password": "wrong"}, "password authentication failed"),
        ({"user": "edges"}, "no password supplied"),
        ({"user": "ghost"}, 'role "ghost" does not exist'),
        ({"user": "walker"}, "not permitted to log in"),
        ({"user": "stranger"}, "pg_hba.conf"),
        ({"dbname": "nowhere"}, 'database "nowhere" does not exist'),
    ],
)
def test_who_is_not_let_in_is_told_why(server: PostgresServer, login: dict[str, str], words: str) -> None:
    with pytest.raises(NotLetIn) as refused:
        opened(server.url(**login))
    told = str(refused.value)
    assert words in told
    assert told.startswith(UNUSABLE)
    assert told.count("failed: ") <= 1
    assert "wrong" not in told


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:9/q", "postgresql:///q?host=/tmp/no-such-directory"])
def test_one_that_is_not_there_is_no_refusal(url: str) -> None:
    with pytest.raises(QueueUnavailable) as away:
        opened(url)
    assert not isinstance(away.value, NotLetIn)


@pytest.mark.parametrize(
    ("kind", "is_refused"),
    [
        (psycopg.errors.InsufficientPrivilege, True),
        (psycopg.errors.InvalidPassword, True),
        (psycopg.errors.InvalidCatalogName, True),
        (psycopg.errors.TooManyConnections, False),
        (psycopg.errors.AdminShutdown, False),
        (psycopg.errors.DiskFull, False),
    ],
)
def test_what_a_server_says_later_counts_too(kind: type[psycopg.Error], is_refused: bool) -> None:
    """A right may be taken back while a worker runs."""
    assert isinstance(errors.unavailable(kind("so it is")), NotLetIn) is is_refused
