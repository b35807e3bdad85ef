"""What the embedded queue tells while its jobs move: each call is of one moment."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jobs.job import JobState
from jobs.queue.reading import Reader
from jobs.queue.sqlite_queue import SqliteQueue
from tests.jobs.queue.queues import World, sqlite_world


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[World]:
    """Give a world on SQLite alone."""
    with sqlite_world(tmp_path) as made:
        yield made


def test_a_job_that_is_claimed_meanwhile_is_listed_once(embedded: World) -> None:
    """Its state is looked up first, and then the jobs of that state: it was in neither."""
    embedded.enqueue("a")
    with closing(reader_that_meets(embedded, embedded.queue.claim)) as reader:
        listed = reader.jobs(state=None, kind="", lane="", limit=10)
    assert [(job.id, job.state) for job in listed] == [("a", JobState.READY)]
    assert [job.state for job in embedded.queue.jobs()] == [JobState.CLAIMED]


def test_counts_are_of_one_moment(embedded: World) -> None:
    """A job that is told as ready has been ready since a time."""
    embedded.enqueue("a")
    embedded.hands.move(5)
    with closing(reader_that_meets(embedded, embedded.queue.claim)) as reader:
        counts = reader.counts(embedded.hands.clock().wall())
    assert (counts.ready, counts.claimed, counts.oldest_ready_seconds) == (1, 0, 5.0)


def reader_that_meets(world: World, event: Callable[[], object]) -> Reader:
    """Return a reader for which `event` happens between the first of a call's questions and the second."""
    assert isinstance(world.queue, SqliteQueue)
    connection = world.queue.storage.reader()
    asked: list[str] = []

    def before(statement: str) -> None:
        if statement.lstrip().startswith("SELECT"):
            asked.append(statement)
            if len(asked) == 2:
                event()

    connection.set_trace_callback(before)
    return Reader(connection)
