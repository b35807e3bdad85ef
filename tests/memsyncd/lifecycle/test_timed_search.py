"""A search never holds up its host."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator

import pytest

from memsyncd.lifecycle.lifecycle import MemoryLifecycle
from memsyncd.lifecycle.recall import Outcome
from memsyncd.lifecycle.timed_search import MAX_IN_THE_AIR
from memsyncd.platforms.platform import Memory

PROMPT = "how do the tests run here"
A = Memory("a", "Tests run with make")
QUICKEST_OF = 30
"""Another process may have the processor in most of them."""


class Stuck:
    """A search that answers only once released, and counts its calls."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.begun = threading.Semaphore(0)
        self.back = threading.Semaphore(0)
        self.calls = 0

    def __call__(self, _query: str) -> list[Memory]:
        self.calls += 1
        self.begun.release()
        self.released.wait(60)
        self.back.release()
        return [A]


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    search = Stuck()
    yield search
    search.released.set()
    for _ in range(search.calls):
        assert search.back.acquire(timeout=60)


def test_a_search_that_never_comes_back_costs_its_time_limit(stuck: Stuck) -> None:
    """Facts 18.2: with 5 ms, an empty text in under 100 ms, and nothing counts as shown."""
    for _ in range(QUICKEST_OF):
        lifecycle = MemoryLifecycle(timeout_seconds=0.005)
        begun = time.monotonic()
        recall = lifecycle.recall(PROMPT, stuck, delivered=lambda _: True)
        took = time.monotonic() - begun
        if took < 0.1:
            break
    assert took < 0.1
    assert (recall.text, recall.outcome, recall.reason) == (
        "",
        Outcome.TIMED_OUT,
        "TimeoutError: no answer within 0.005 s",
    )
    assert lifecycle.shown == frozenset()


def test_a_late_search_does_not_use_up_the_sessions_chance(stuck: Stuck) -> None:
    """The next prompt is searched for."""
    lifecycle = MemoryLifecycle(timeout_seconds=2.0, once_per_session=True)
    assert lifecycle.recall(PROMPT, stuck).outcome is Outcome.TIMED_OUT
    assert lifecycle.recall(PROMPT, lambda _: [A]).outcome is Outcome.FOUND


def test_searches_that_hang_do_not_pile_up(stuck: Stuck) -> None:
    """A platform that never answers costs a few threads, not one for each prompt; when it is back, so is recall."""
    lifecycle = MemoryLifecycle(timeout_seconds=0.005)
    outcomes = [lifecycle.recall(PROMPT, stuck).outcome for _ in range(MAX_IN_THE_AIR + 2)]
    assert outcomes == [Outcome.TIMED_OUT] * MAX_IN_THE_AIR + [Outcome.FAILED] * 2
    for _ in range(MAX_IN_THE_AIR):
        assert stuck.begun.acquire(timeout=60)
    assert stuck.calls == MAX_IN_THE_AIR
    stuck.released.set()
    for thread in threading.enumerate():
        if thread.name == "memsyncd-recall":
            thread.join(60)
    lifecycle.recall(PROMPT, stuck)
    assert stuck.begun.acquire(timeout=60)
    assert stuck.calls == MAX_IN_THE_AIR + 1


@pytest.mark.parametrize("error", [ValueError("x"), TimeoutError("its own"), SystemExit(1), KeyboardInterrupt()])
def test_nothing_a_search_raises_reaches_the_host(error: BaseException) -> None:
    """Not even an exit, which would be the host's."""

    def search(_query: str) -> list[Memory]:
        raise error

    assert MemoryLifecycle().recall(PROMPT, search).text == ""


def test_the_search_sees_the_callers_context() -> None:
    """Request ids, traces and the like are context variables."""
    who = contextvars.ContextVar("who", default="nobody")
    who.set("ada")
    assert "ada" in MemoryLifecycle().recall(PROMPT, lambda _: [Memory("a", who.get())]).text


def test_an_asynchronous_search_given_to_a_blocking_recall_is_told() -> None:
    """A mistake with a name, not a warning at the end of the program."""

    async def search(_query: str) -> list[Memory]:
        return [A]

    recall = MemoryLifecycle().recall(PROMPT, search)  # type: ignore[arg-type]
    assert recall.outcome is Outcome.FAILED
    assert "recall_async" in recall.reason


def test_a_generator_is_no_asynchronous_search() -> None:
    """It is told as what it is, which is no list."""
    recall = MemoryLifecycle().recall(PROMPT, lambda _: (each for each in [A]))  # type: ignore[arg-type, return-value]
    assert recall.outcome is Outcome.FAILED
    assert "no list of memories but generator" in recall.reason


def test_an_asynchronous_host_gets_the_same() -> None:
    """One object, one set of shown memories, whichever way it is asked."""

    async def search(query: str) -> list[Memory]:
        await asyncio.sleep(0)
        return [Memory("q", query), A]

    async def host() -> None:
        lifecycle = MemoryLifecycle()
        first = await lifecycle.recall_async(PROMPT, search, delivered=lambda _: True)
        assert [memory.id for memory in first.memories] == ["q", "a"]
        assert (await lifecycle.recall_async(PROMPT, search)).outcome is Outcome.NOTHING_NEW
        assert (await asyncio.to_thread(lifecycle.recall, PROMPT, lambda _: [A])).outcome is Outcome.NOTHING_NEW
        assert (await lifecycle.recall_async(" ", search)).outcome is Outcome.NOT_ASKED

    asyncio.run(host())


def test_an_asynchronous_search_is_cancelled_when_it_is_late_even_if_it_resists() -> None:
    """Under 100 ms for 5 ms, and what it says later is nobody's unhandled error."""

    async def host() -> None:
        noticed = asyncio.Event()

        async def search(_query: str) -> list[Memory]:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                noticed.set()
            raise ConnectionError("after all")

        complaints: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, told: complaints.append(told))
        for _ in range(QUICKEST_OF):
            begun = time.monotonic()
            recall = await MemoryLifecycle(timeout_seconds=0.005).recall_async(PROMPT, search)
            took = time.monotonic() - begun
            if took < 0.1:
                break
        assert took < 0.1
        assert recall.outcome is Outcome.TIMED_OUT
        await asyncio.wait_for(noticed.wait(), 60)
        await asyncio.sleep(0)
        assert complaints == []

    asyncio.run(host())


def test_a_cancelled_host_cancels_its_search() -> None:
    """The host's own cancellation goes through, and leaves nothing running."""

    async def host() -> None:
        asked, cancelled = asyncio.Event(), asyncio.Event()

        async def search(_query: str) -> list[Memory]:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return []

        task = asyncio.ensure_future(MemoryLifecycle(timeout_seconds=60).recall_async(PROMPT, search))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(cancelled.wait(), 60)

    asyncio.run(host())


def test_a_search_that_was_cancelled_inside_is_a_failed_one() -> None:
    """It is not taken for the host's own cancellation; nor is one that cannot be awaited."""

    async def search(_query: str) -> list[Memory]:
        raise asyncio.CancelledError

    async def host() -> None:
        lifecycle = MemoryLifecycle()
        assert (await lifecycle.recall_async(PROMPT, search)).outcome is Outcome.FAILED
        assert (await lifecycle.recall_async(PROMPT, lambda _: [A])).outcome is Outcome.FAILED  # type: ignore[arg-type,return-value]

    asyncio.run(host())
