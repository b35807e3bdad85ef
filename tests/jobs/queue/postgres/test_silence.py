"""A server that stands still keeps its connections and says nothing: no keepalive and no time limit of its own ends that."""

import threading
import time
from collections.abc import Iterator

import pytest

from jobs.job import NewJob
from jobs.outcomes import Snooze
from jobs.queue.errors import QueueUnavailable
from jobs.queue.postgres.patience import Patience, PatientConnection
from tests.fakes.postgres_server import PostgresServer, installed
from tests.jobs.queue.fleet import Fleet
from tests.jobs.queue.postgres.shop import PATIENCE, opened


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Give a server that a test may stop."""
    made = PostgresServer(installed())
    made.start()
    yield made
    made.go_on()
    made.remove()


def test_every_call_ends_in_time_once_the_process_is_about_to_stop(server: PostgresServer) -> None:
    """A call under way ends as unavailable, a later one at once; no connection is begun any more."""
    queue = opened(server.fresh(), "edge")
    queue.enqueue(NewJob("a", "flush"))
    server.stand_still()
    ends: list[str] = []

    def call() -> None:
        try:
            queue.enqueue(NewJob("b", "flush"))
        except QueueUnavailable as error:
            ends.append(str(error))

    begun = [threading.Thread(target=call) for _ in range(2)]
    for each in begun:
        each.start()
    begin = time.monotonic()
    queue.hurry(0.5)
    for each in begun:
        each.join(PATIENCE)
    with pytest.raises(QueueUnavailable):
        queue.counts()
    queue.close()
    assert len(ends) == 2
    assert time.monotonic() - begin < PATIENCE / 2  # two of them may be on their way to a new connection, of 5 s


def test_a_silent_server_is_told_as_one_that_cannot_be_used(server: PostgresServer) -> None:
    """Also where nobody is in a hurry: whoever looks waits for so long and no longer."""
    queue = opened(server.fresh(), "edge")
    queue.enqueue(NewJob("a", "flush"))
    server.stand_still()
    with queue._connections.one() as connection:
        connection.longest = 0.3
        with pytest.raises(Exception, match="does not answer"):
            connection.execute("SELECT 1")
        assert connection.closed
    server.go_on()
    assert queue.get("a") is not None
    queue.close()


def test_a_hurry_is_never_put_off() -> None:
    now = [0.0]
    patience = Patience(lambda: now[0])
    assert not patience.is_over(patience.end_of(9.0))
    patience.hurry(2.0)
    patience.hurry(5.0)
    now[0] = 2.0
    assert patience.is_hurried
    assert patience.is_over(patience.end_of(9.0))


def test_who_is_behind_in_its_lane(fleet: Fleet) -> None:
    """An earlier job that waits, but for the one reason that lets others pass; never a later one, nor another lane's."""
    queue = fleet.machine()
    jobs = ("a", "s"), ("b", "s"), ("c", "t")
    queue.enqueue(*(NewJob(job, "work", lane=lane, destination="x") for job, lane in jobs))
    assert [queue.behind(job, "open") for job, _ in jobs] == [None, 0.0, None]
    first = queue.claim()
    assert first is not None
    queue.finish(first, Snooze(7.0, "looking"))
    assert (queue.behind("a", "open"), queue.behind("b", "open")) == (None, pytest.approx(7.0))
    assert queue.behind("b", "looking") is None
    assert PatientConnection.longest > 60.0


def test_the_databases_time_is_told(fleet: Fleet) -> None:
    queue = fleet.machine()
    before = queue.now()
    fleet.hands.move(90.0)
    assert queue.now() - before == pytest.approx(90.0)
