"""Tables are brought forward a step at a time, each whole or not at all."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd import schema_steps
from memsyncd.schema_steps import Mark, forward, script, sql

STEPS = (
    sql("CREATE TABLE things(name TEXT)", "INSERT INTO things VALUES('kept')"),
    script("ALTER TABLE things ADD COLUMN size INTEGER;\nUPDATE things SET size = 7"),
)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "x", isolation_level=None)) as opened:
        yield opened


def test_from_nothing_and_from_each_version(connection: sqlite3.Connection) -> None:
    """Only the steps that are missing are run, and once."""
    assert forward(connection, STEPS[:1]) == 1
    connection.execute("INSERT INTO things VALUES('mine')")
    assert forward(connection, STEPS) == 2
    assert forward(connection, STEPS) == 2
    assert connection.execute("SELECT * FROM things").fetchall() == [("kept", 7), ("mine", 7)]


def test_a_step_that_fails_leaves_the_version_before_it(connection: sqlite3.Connection) -> None:
    """What it had done is undone, what came before it stays."""
    broken = (STEPS[0], sql("ALTER TABLE things ADD COLUMN size INTEGER", "SELECT nothing"))
    with pytest.raises(sqlite3.OperationalError):
        forward(connection, broken)
    assert not connection.in_transaction
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT * FROM things").fetchall() == [("kept",)]
    assert forward(connection, STEPS) == 2


def test_a_newer_store_is_left(connection: sqlite3.Connection) -> None:
    """No step is run on what is beyond them all; the store's owner refuses it."""
    connection.execute("PRAGMA user_version = 9")
    assert forward(connection, STEPS) == 9
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_two_at_once_do_each_step_once(tmp_path: Path) -> None:
    """Who comes second, between the look and the lock, finds the step done."""
    with (
        closing(sqlite3.connect(tmp_path / "x", isolation_level=None)) as first,
        closing(sqlite3.connect(tmp_path / "x", isolation_level=None)) as second,
    ):
        looks = 0

        def read(connection: sqlite3.Connection) -> int:
            nonlocal looks
            looks += 1
            found = schema_steps.USER_VERSION.read(connection)
            if looks == 1:
                forward(second, STEPS)
            return found

        assert forward(first, STEPS, Mark(read, schema_steps.USER_VERSION.write)) == 2
        assert first.execute("SELECT count(*) FROM things").fetchone() == (1,)


def test_a_long_step_is_told_of(connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it runs, and once at its end; a short one is not, and after the context nobody is told."""
    long = sql(
        "CREATE TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n"
    )
    heard: list[schema_steps.Moving] = []
    monkeypatch.setattr(schema_steps, "TOLD_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(schema_steps, "INSTRUCTIONS", 1_000)
    with schema_steps.watched(heard.append):
        forward(connection, (long,))
    assert [each.is_there for each in heard[-2:]] == [False, True]
    assert {each.version for each in heard} == {1}
    assert all(each.file.endswith("/x") for each in heard)
    assert [each.seconds for each in heard] == sorted(each.seconds for each in heard)
    count = len(heard)
    forward(connection, (long, STEPS[0]))
    assert len(heard) == count
    monkeypatch.setattr(schema_steps, "TOLD_EVERY_SECONDS", 60.0)
    with schema_steps.watched(heard.append):
        forward(connection, (long, STEPS[0], sql("CREATE TABLE short(i)")))
    assert len(heard) == count
