"""A commit whose answer was lost: it is looked up, and neither done twice nor forgotten."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Done, Retry, Snooze
from jobs.queue.claims import Claim
from jobs.queue.errors import QueueUnavailable
from jobs.queue.postgres.queue import PostgresQueue
from tests.fakes.postgres_proxy import PostgresProxy
from tests.fakes.postgres_server import shared_server
from tests.jobs.queue.fleet import Fleet


@pytest.fixture
def proxy() -> Iterator[PostgresProxy]:
    """Give a line to the server that breaks when told."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:  # pytest's own is too long a path for a socket
        made = PostgresProxy(Path(directory), shared_server().directory)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def queue(fleet: Fleet, proxy: PostgresProxy) -> PostgresQueue:
    """Give a machine that has only this line to the server."""
    return fleet.machine("far", url=proxy.url(fleet.url))


def claimed(queue: PostgresQueue) -> Claim:
    claim = queue.claim()
    assert claim is not None
    return claim


LOSSES = pytest.mark.parametrize("loss", ["answers_to_lose", "commits_to_lose"])
"""Lost on its way back, after the server has committed; or on its way there."""


@LOSSES
def test_a_finish_counts_once(queue: PostgresQueue, proxy: PostgresProxy, fleet: Fleet, loss: str) -> None:
    """The job stands as the run left it, with one attempt, and the worker is told so."""
    queue.enqueue(NewJob("a", "flush"))
    claim = claimed(queue)
    setattr(proxy, loss, 1)
    job = queue.finish(claim, Retry("422"))
    assert proxy.lost.is_set()
    assert job is not None
    assert (job.state, job.attempts, len(job.errors)) == (JobState.WAITING, 1, 1)
    assert job == queue.get("a")
    assert queue.finish(claim, Done()) is None
    assert fleet.counters.snapshot()["claims_lost"] == 1


@LOSSES
def test_a_claim_is_taken_once(queue: PostgresQueue, proxy: PostgresProxy, loss: str) -> None:
    """The same claim takes one job, not a second one beside the first. It may be the next one, where the server has
    not yet seen that who held the first is gone."""
    queue.enqueue(NewJob("a", "flush"), NewJob("b", "flush"))
    setattr(proxy, loss, 1)
    claim = claimed(queue)
    assert proxy.lost.is_set()
    assert claim.job.id in {"a", "b"}
    assert (queue.counts().claimed, queue.renew()) == (1, 1)
    assert queue.finish(claim, Done()) is not None


@LOSSES
def test_a_finish_with_a_claim_is_both_once(queue: PostgresQueue, proxy: PostgresProxy, loss: str) -> None:
    """The end counts and the next job is taken, in the one commit that was in doubt."""
    queue.enqueue(NewJob("a", "flush", lane="s1"), NewJob("b", "flush", lane="s1"), NewJob("c", "flush"))
    claim = claimed(queue)
    setattr(proxy, loss, 1)
    job, following = queue.finish_and_claim(claim, Snooze(60, "sent"))
    assert proxy.lost.is_set()
    assert job is not None
    assert job.state is JobState.WAITING
    assert following is not None
    assert (following.job.id, queue.counts().claimed) == ("b", 1)


@LOSSES
def test_an_enqueued_job_is_there_once(queue: PostgresQueue, proxy: PostgresProxy, loss: str) -> None:
    """Its id is what it is known by."""
    setattr(proxy, loss, 1)
    queue.enqueue(NewJob("a", "flush"))
    assert proxy.lost.is_set()
    assert [job.id for job in queue.jobs()] == ["a"]


def test_a_finish_that_stays_in_doubt_is_looked_up_when_it_is_tried_again(
    queue: PostgresQueue, proxy: PostgresProxy, fleet: Fleet
) -> None:
    """While there is no way to the server it says so; the next call finds that it has happened."""
    queue.enqueue(NewJob("a", "flush"))
    claim = claimed(queue)
    proxy.answers_to_lose, proxy.goes_down = 1, True
    with pytest.raises(QueueUnavailable, match="cannot be used"):
        queue.finish(claim, Retry("422"))
    with pytest.raises(QueueUnavailable):
        queue.finish(claim, Retry("422"))
    proxy.is_down = False
    job = queue.finish(claim, Retry("422"))
    assert job is not None
    assert (job.attempts, job.errors[0].why) == (1, "422")
    assert fleet.counters.snapshot().get("claims_lost", 0) == 0


def test_a_claim_that_stays_in_doubt_is_the_next_that_is_taken(queue: PostgresQueue, proxy: PostgresProxy) -> None:
    """It is neither left to run out nor renewed without a worker."""
    queue.enqueue(NewJob("a", "flush"), NewJob("b", "flush"))
    proxy.answers_to_lose, proxy.goes_down = 1, True
    with pytest.raises(QueueUnavailable):
        queue.claim()
    proxy.is_down = False
    assert queue.counts().claimed == 1
    assert [claimed(queue).job.id for _ in range(2)] == ["a", "b"]
    assert queue.claim() is None
    assert queue.counts().claimed == 2


def test_a_connection_that_broke_while_idle_is_replaced(queue: PostgresQueue, proxy: PostgresProxy) -> None:
    """Neither a read nor a write minds."""
    queue.enqueue(NewJob("a", "flush"))
    proxy.break_all()
    assert queue.counts().ready == 1
    proxy.break_all()
    assert queue.enqueue(NewJob("b", "flush")) == 1
