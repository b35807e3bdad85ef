"""Threads that take turns, and what none of them can do to the others."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsyncd import turn
from memsyncd.turn import Turn

LONG = 30.0


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def test_one_computes_at_a_time(beside: ThreadPoolExecutor) -> None:
    """However many there are, as long as nobody's patience ends."""
    shared = Turn(patience=LONG)
    inside: list[int] = []
    most: list[int] = []

    def run(number: int) -> None:
        for _ in range(50):
            with shared.taken():
                inside.append(number)
                most.append(len(inside))
                time.sleep(0)
                inside.remove(number)

    for done in [beside.submit(run, number) for number in range(8)]:
        done.result()
    assert (len(most), max(most)) == (400, 1)


def test_one_that_waits_leaves_its_turn(beside: ThreadPoolExecutor) -> None:
    """And has it again before it goes on."""
    shared = Turn(patience=LONG)
    came, goes_on = threading.Event(), threading.Event()

    def other() -> None:
        with shared.taken():
            came.set()
            assert goes_on.wait(LONG)

    with shared.taken():
        with shared.away():
            done = beside.submit(other)
            assert came.wait(LONG)
            goes_on.set()
        done.result()
        assert not beside.submit(_gets, shared, 0.01).result()
    assert beside.submit(_gets, shared, LONG).result()


def test_one_that_never_comes_to_an_end_holds_up_nobody(beside: ThreadPoolExecutor) -> None:
    """Its turn is not given to others, who go on without; with its end it is there again."""
    shared = Turn(patience=0.01)
    ends, began = threading.Event(), threading.Event()

    def stuck() -> None:
        with shared.taken():
            began.set()
            assert ends.wait(LONG)

    done = beside.submit(stuck)
    assert began.wait(LONG)
    with shared.taken(), shared.away():
        pass
    ends.set()
    done.result()
    assert _gets(shared, LONG)


@pytest.mark.parametrize("patience", [LONG, 0.01])
def test_the_turn_is_given_back_after_an_error(patience: float, beside: ThreadPoolExecutor) -> None:
    """From whatever depth, and also where one block is within another of its kind."""
    shared = Turn(patience)
    with pytest.raises(ZeroDivisionError), shared.taken(), shared.taken(), shared.away(), shared.away():
        raise ZeroDivisionError
    assert beside.submit(_gets, shared, LONG).result()


def test_a_wait_outside_a_turn_is_just_a_wait(beside: ThreadPoolExecutor) -> None:
    """Other threads use the network too."""
    shared = Turn(patience=LONG)
    with shared.away():
        assert beside.submit(_gets, shared, LONG).result()
    assert beside.submit(_gets, shared, LONG).result()


def test_one_that_waits_for_a_lock_leaves_its_turn(beside: ThreadPoolExecutor) -> None:
    """To whoever holds that lock, who could not go on otherwise."""
    shared, lock = Turn(patience=LONG), threading.Lock()
    locked = threading.Event()

    def holder() -> None:
        with lock:
            locked.set()
            with shared.taken():
                pass

    with shared.taken():
        done = beside.submit(holder)
        assert locked.wait(LONG)
        with shared.locked(lock):
            assert shared.has()
        done.result()
    assert lock.acquire(blocking=False)


def test_the_process_has_one() -> None:
    """There is one interpreter, for workers and network alike."""
    assert turn.taken.__self__ is turn.away.__self__  # type: ignore[attr-defined]


def _gets(shared: Turn, seconds: float) -> bool:
    """Tell whether the turn can be had within some seconds; it is given back."""
    if not shared._lock.acquire(timeout=seconds):
        return False
    shared._lock.release()
    return True
