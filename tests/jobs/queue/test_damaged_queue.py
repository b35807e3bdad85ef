"""A queue's file that is damaged: known for certain, kept aside, and begun anew by whoever opens it next."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jobs.queue import schema
from jobs.queue.errors import NewerSchema, QueueDamaged
from jobs.queue.sqlite_queue import SqliteQueue
from tests.jobs.queue.queues import World, sqlite_world

PAGE = 4096


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with sqlite_world(tmp_path) as made:
        yield made


@pytest.fixture
def path(world: World, tmp_path: Path) -> Path:
    """Give the file of a queue that was closed with some jobs in it."""
    world.enqueue(*(f"j{number}" for number in range(100)))
    world.queue.close()
    return tmp_path / "queue.sqlite3"


def overwrite(path: Path, first: int = 0) -> bytes:
    """Overwrite every page from the `first` on; return what is there now."""
    with path.open("r+b") as file:
        for start in range(first * PAGE, path.stat().st_size, PAGE):
            file.seek(start)
            file.write(os.urandom(PAGE))
    return path.read_bytes()


@pytest.mark.parametrize("first", [0, 1], ids=["all of it", "all but its head"])
def test_a_damaged_file_is_kept_and_a_new_one_begun(world: World, path: Path, first: int) -> None:
    """Under a name of its own, whole; the new queue takes jobs."""
    damaged = overwrite(path, first)
    kept = schema.set_aside_damaged(path, 1_796_000_000.0)
    assert path.with_name(kept).read_bytes() == damaged
    world.reopen()
    assert world.enqueue("j1") == 1


def test_a_sound_file_and_none_are_left_alone(path: Path) -> None:
    """Nothing is set aside, and nothing is made."""
    before = path.read_bytes()
    assert schema.set_aside_damaged(path, 0.0) == ""
    assert path.read_bytes() == before
    path.unlink()
    assert schema.set_aside_damaged(path, 0.0) == ""
    assert not path.exists()


def test_a_damaged_file_of_a_newer_version_is_its_own_business(path: Path) -> None:
    """It is refused like a sound one, and byte-equal afterwards (never-again 52)."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = overwrite(path, 1)
    with pytest.raises(NewerSchema):
        schema.set_aside_damaged(path, 0.0)
    assert path.read_bytes() == before


def test_damage_is_looked_for_once_sqlite_has_called_it_so(world: World, tmp_path: Path) -> None:
    """Not before, for that reads the whole file; and what SQLite only seemed to say is forgotten."""
    world.enqueue(*(f"j{number}" for number in range(100)))
    queue = world.queue
    assert isinstance(queue, SqliteQueue)
    with closing(sqlite3.connect(tmp_path / "queue.sqlite3")) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    sound = (tmp_path / "queue.sqlite3").read_bytes()
    overwrite(tmp_path / "queue.sqlite3", 1)
    assert not queue.is_damaged()
    with pytest.raises(QueueDamaged):
        queue.counts()
    assert queue.is_damaged()
    with pytest.raises(QueueDamaged):
        queue.counts()
    (tmp_path / "queue.sqlite3").write_bytes(sound)
    assert not queue.is_damaged()
