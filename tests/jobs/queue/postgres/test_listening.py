"""Idle workers are woken by other machines at once; and where a wake-up is lost they look by themselves."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from jobs.job import NewJob
from jobs.outcomes import Done
from jobs.queue import doorbell
from tests.fakes.postgres_proxy import PostgresProxy
from tests.fakes.postgres_server import shared_server
from tests.jobs.queue.postgres.shop import PATIENCE, Shop, opened

AT_ONCE = 30.0
"""Seconds: far below what an idle worker sleeps here that nobody wakes, and far above what a busy machine needs."""


@pytest.fixture(autouse=True)
def sleepy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let idle workers look for themselves so rarely that what starts at once was told of."""
    monkeypatch.setattr(doorbell, "SAFETY_SECONDS", 3 * AT_ONCE)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Give what closes what a test opened."""
    with ExitStack() as made:
        yield made


def test_a_job_of_another_machine_starts_at_once(stack: ExitStack) -> None:
    """Nobody polls for it."""
    url = shared_server().fresh()
    shop = Shop(url)
    stack.callback(shop.close)
    edge = opened(url, "edge")
    stack.callback(edge.close)
    shop.wait_until_idle()
    edge.enqueue(NewJob("a", "work"))
    assert shop.ran.get(timeout=AT_ONCE) == "a"


def test_a_job_put_off_by_another_machine_starts_when_it_is_due(stack: ExitStack) -> None:
    """A sleeper that would sleep longer learns of it; hastening does the same."""
    url = shared_server().fresh()
    shop = Shop(url)
    stack.callback(shop.close)
    edge = opened(url, "edge")
    stack.callback(edge.close)
    shop.wait_until_idle()
    edge.enqueue(NewJob("a", "work", delay=0.3), NewJob("b", "work", delay=3600))
    assert shop.ran.get(timeout=AT_ONCE) == "a"
    edge.hasten("b", 0.2)
    assert shop.ran.get(timeout=AT_ONCE) == "b"


def test_a_lane_that_another_machine_frees_goes_on_here(stack: ExitStack) -> None:
    """What waits behind another's job starts with that one's end, at a machine that has nothing else to do."""
    url = shared_server().fresh()
    other = opened(url, "other")
    stack.callback(other.close)
    other.enqueue(NewJob("first", "work", lane="s1"), NewJob("second", "work", lane="s1"))
    claim = other.claim()
    assert claim is not None
    shop = Shop(url)
    stack.callback(shop.close)
    shop.wait_until_idle()
    other.finish(claim, Done())
    assert shop.ran.get(timeout=AT_ONCE) == "second"


def test_after_a_lost_connection_it_listens_again_and_has_missed_nothing(stack: ExitStack) -> None:
    """What was enqueued while nothing could be heard starts as soon as the line is back."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        server = shared_server()
        url = server.fresh()
        proxy = PostgresProxy(Path(directory), server.directory)
        stack.callback(proxy.close)
        shop = Shop(proxy.url(url))
        stack.callback(shop.close)
        edge = opened(url, "edge")
        stack.callback(edge.close)
        shop.wait_until_idle()
        proxy.is_down = True
        proxy.break_all()
        shop.wait(lambda: not shop.queue.is_listening)
        edge.enqueue(NewJob("a", "work"))
        proxy.is_down = False
        assert shop.ran.get(timeout=AT_ONCE) == "a"
        shop.wait_until_idle()
        edge.enqueue(NewJob("b", "work"))
        assert shop.ran.get(timeout=AT_ONCE) == "b"
        assert shop.queue.dead_threads() == ()


def test_a_wake_up_that_never_comes_is_made_good_by_a_look(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is ready without a word (a backup played in, a server that lost a notification) waits for a bounded
    time."""
    monkeypatch.setattr(doorbell, "SAFETY_SECONDS", 1.0)
    url = shared_server().fresh()
    shop = Shop(url)
    stack.callback(shop.close)
    edge = opened(url, "edge")
    stack.callback(edge.close)
    edge.enqueue(NewJob("a", "work", delay=3600))
    shop.wait_until_idle()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE memsyncd_jobs SET state = 'ready', head = true, not_before = NULL")
    assert shop.ran.get(timeout=PATIENCE) == "a"


def test_a_dead_machines_job_is_taken_when_its_claim_runs_out(stack: ExitStack) -> None:
    """An idle machine knows when the next claim of another ends, and looks then: not a safety's time later."""
    url = shared_server().fresh()
    with closing(opened(url, "dying", lease=0.5)) as dying:
        dying.enqueue(NewJob("a", "work"))
        assert dying.claim() is not None
    shop = Shop(url)
    stack.callback(shop.close)
    begin = time.monotonic()
    assert shop.ran.get(timeout=PATIENCE) == "a"
    assert time.monotonic() - begin < AT_ONCE


def test_a_machine_that_does_not_listen_has_no_thread(stack: ExitStack) -> None:
    """An edge or a command enqueues and looks, and closes at once."""
    edge = opened(shared_server().fresh(), "edge")
    stack.callback(edge.close)
    assert not edge.is_listening
    assert edge.dead_threads() == ()
