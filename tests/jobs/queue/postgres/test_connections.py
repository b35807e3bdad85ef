"""A machine that has nothing to say holds no connection."""

from jobs.job import NewJob
from jobs.queue.postgres.connections import Connections
from jobs.queue.postgres.storage import SharedStorage
from tests.jobs.queue.fleet import Fleet


def test_unused_connections_are_let_go_and_come_back(fleet: Fleet) -> None:
    """The server has few for many; the next call opens one."""
    now = [0.0]
    opened = []

    def connect() -> object:
        opened.append(SharedStorage(fleet.url).connect())
        return opened[-1]

    connections = Connections(connect, 2, lambda: now[0])  # type: ignore[arg-type]
    with connections.one():
        pass
    now[0] = 9.0
    connections.drop_unused(10.0)
    assert not opened[0].closed
    now[0] = 10.0
    connections.drop_unused(10.0)
    assert opened[0].closed
    with connections.one() as again:
        assert again is opened[1]
    connections.close()
    queue = fleet.machine()
    queue.enqueue(NewJob("a", "flush"))
    queue.rest(0.0)
    assert queue.enqueue(NewJob("b", "flush")) == 1
