"""The server crashes, restarts, or gives way to a standby, in the midst of the work: no job is lost, none done twice."""

import itertools
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Done, Outcome
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueUnavailable
from jobs.queue.postgres.queue import PostgresQueue
from tests.fakes.postgres_server import PostgresServer, installed
from tests.jobs.queue.postgres.shop import PATIENCE, Shop, opened

JOBS = 150


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Give what closes what a test opened."""
    with ExitStack() as made:
        yield made


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Give a server that a test may break."""
    made = PostgresServer(installed())
    made.start()
    yield made
    made.remove()


class Slowly:
    """Works at a third of the jobs, and holds what comes then until the server is gone: there is work in hand then, and
    of two machines each has had some."""

    def __init__(self) -> None:
        self.is_gone = threading.Event()
        self._numbers = itertools.count()

    def __call__(self, context: JobContext) -> Outcome:
        context.stopping.wait(0.005)
        if next(self._numbers) > JOBS // 3:
            self.is_gone.wait(PATIENCE)
        return Done()


def patiently(queue: PostgresQueue, *jobs: NewJob) -> None:
    """Enqueue as a caller does that is told when it cannot be done."""
    for _ in range(int(PATIENCE / 0.05)):
        try:
            queue.enqueue(*jobs)
        except QueueUnavailable:
            threading.Event().wait(0.05)
        else:
            return
    raise AssertionError("the queue did not come back")


def all_done(shops: list[Shop], jobs: int) -> Counter[str]:
    """Wait until that many ends were told; return how often each job's was."""
    told: Counter[str] = Counter()
    for _ in range(int(PATIENCE / 0.01)):
        for shop in shops:
            while not shop.told.empty():
                job, _, _ = shop.told.get()
                told[job.id] += job.state is JobState.DONE
        if len(told) == jobs:
            return told
        threading.Event().wait(0.01)
    raise AssertionError(f"{len(told)} of {jobs} jobs were done")


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGINT], ids=["crash", "restart"])
def test_a_server_that_goes_and_comes_back(server: PostgresServer, stack: ExitStack, how: signal.Signals) -> None:
    """The machines say so, try again, find out what had been committed, and go on by themselves."""
    edge = opened(server.fresh(), "edge")
    stack.callback(edge.close)
    url = edge.storage.dsn
    edge.enqueue(*(NewJob(f"j{n}", "work", lane=f"s{n % 20}" if n % 2 else "") for n in range(JOBS)))
    handlers = Slowly(), Slowly()
    shops = [Shop(url, f"shop-{n}", handler=handler) for n, handler in enumerate(handlers)]
    for shop in shops:
        stack.callback(shop.close)
    for shop in shops:
        shop.ran.get(timeout=PATIENCE)
    server.stop(how)
    for handler in handlers:
        handler.is_gone.set()
    for shop in shops:
        shop.wait(lambda: bool(shop.workers.fault()))  # noqa: B023  (called before the next turn)
    with pytest.raises(QueueUnavailable):
        edge.enqueue(NewJob("meanwhile", "work"))
    server.start()
    patiently(edge, NewJob("afterwards", "work"))
    told = all_done(shops, JOBS + 1)
    assert set(told.values()) == {1}
    assert edge.counts().done == JOBS + 1
    assert all(job.crashes == 0 for job in edge.jobs(limit=2 * JOBS))
    for shop in shops:
        shop.wait(lambda: not shop.workers.fault() and shop.queue.is_listening)  # noqa: B023  (as above)
        assert shop.queue.dead_threads() == shop.workers.dead_threads() == ()


def test_a_standby_takes_over(server: PostgresServer, stack: ExitStack) -> None:
    """The URL names both servers; the first dies, the second is promoted, and the machines go on there."""
    schema = server.fresh().rpartition("%3D")[2]
    standby = server.standby()
    stack.callback(standby.remove)
    url = server.url(schema, host=f"{server.directory},{standby.directory}")
    edge = opened(url, "edge")
    stack.callback(edge.close)
    edge.enqueue(*(NewJob(f"j{n}", "work", lane=f"s{n % 20}" if n % 2 else "") for n in range(JOBS)))
    handlers = Slowly(), Slowly()
    shops = [Shop(url, f"shop-{n}", handler=handler) for n, handler in enumerate(handlers)]
    for shop in shops:
        stack.callback(shop.close)
    for shop in shops:
        shop.ran.get(timeout=PATIENCE)
    server.stop(signal.SIGQUIT)
    for handler in handlers:
        handler.is_gone.set()
    standby.promote()
    patiently(edge, NewJob("afterwards", "work"))
    told = all_done(shops, JOBS + 1)
    assert set(told.values()) == {1}
    assert edge.counts().done == JOBS + 1


def wait_until_read_only(queue: PostgresQueue) -> None:
    """Wait until the queue's connections have heard of the new setting."""
    for _ in range(int(PATIENCE / 0.05)):
        if queue._reader.rows("SHOW default_transaction_read_only")[0]["default_transaction_read_only"] == "on":
            return
        threading.Event().wait(0.05)
    raise AssertionError("the setting did not come")


def test_a_server_that_becomes_a_standby_is_left(server: PostgresServer, stack: ExitStack) -> None:
    """A connection to one that takes no writes any more is no use: it is given up, and nothing happened."""
    queue = opened(server.fresh(), "edge")
    stack.callback(queue.close)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.execute("SELECT pg_reload_conf()")
    wait_until_read_only(queue)
    with pytest.raises(QueueUnavailable, match="read-only"):
        queue.enqueue(NewJob("a", "work"))
    with psycopg.connect(server.url(options="-cdefault_transaction_read_only%3Doff"), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = off")
        connection.execute("SELECT pg_reload_conf()")
    patiently(queue, NewJob("a", "work"))


def wait_until_ended(queue: PostgresQueue, backend: int) -> None:
    """Wait until the server has ended a connection."""
    for _ in range(int(PATIENCE / 0.05)):
        if not queue._reader.rows("SELECT FROM pg_stat_activity WHERE pid = %s", (backend,)):
            return
        threading.Event().wait(0.05)
    raise AssertionError("it did not end")


def test_a_stalled_transaction_does_not_stand_in_the_way(server: PostgresServer, stack: ExitStack) -> None:
    """A process stopped in the midst of taking a job holds locks; the server undoes its transaction, others go on."""
    url = server.fresh()
    queue = opened(url, "living")
    stack.callback(queue.close)
    queue.enqueue(NewJob("a", "work", lane="s1"))
    stalled = opened(url, "stalled")
    stack.callback(stalled.close)
    with ExitStack() as held:
        connection = held.enter_context(stalled._connections.one())
        connection.execute("SET idle_in_transaction_session_timeout = '5s'")
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM memsyncd_claim('x', 'stalled', 60, '', false)")
        assert queue.claim() is None
        assert queue.seconds_to_next() == pytest.approx(1.0)
        wait_until_ended(queue, connection.info.backend_pid)
        claim = queue.claim()
        assert claim is not None
        assert claim.job.id == "a"
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            connection.execute("COMMIT")
    assert stalled.claim() is None
