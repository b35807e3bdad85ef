"""Waking idle workers: by a ring, by one timer, else not at all."""

import queue
import threading
from collections.abc import Iterator

import pytest

from jobs.queue.doorbell import SAFETY_SECONDS, Doorbell
from tests.clocks import HandClock


class Waits:
    """Makes conditions that tell of each wait's time-out before it begins; no wait ends by itself."""

    def __init__(self) -> None:
        self.begun: queue.Queue[float | None] = queue.Queue()

    def condition(self, lock: threading.Lock) -> threading.Condition:
        """Return such a condition."""
        begun = self.begun

        class Told(threading.Condition):
            def wait(self, timeout: float | None = None) -> bool:
                begun.put(timeout)
                return super().wait()

        return Told(lock)


class Idlers:
    """Worker threads that wait at a bell, look again when woken, and find nothing until told to."""

    def __init__(self) -> None:
        self.hands = HandClock()
        self.waits = Waits()
        self.bell = Doorbell(self.hands.clock().monotonic, self.waits.condition)
        self.delay: float | None = None
        self.woken: queue.Queue[str] = queue.Queue()
        self.over = False
        self.threads: list[threading.Thread] = []

    def add(self) -> float | None:
        """Add one and return its time-out."""
        thread = threading.Thread(target=self._idle, args=(f"worker-{len(self.threads)}",))
        self.threads.append(thread)
        thread.start()
        return self.begun()

    def begun(self) -> float | None:
        """Return the time-out of the next wait that begins."""
        timeout = self.waits.begun.get(timeout=60)
        assert self.bell.waiting  # takes the lock, which the waiting thread gives up only once it waits
        return timeout

    def _idle(self, name: str) -> None:
        while not self.over:
            ticket = self.bell.ticket()
            self.bell.wait(ticket, self.delay)
            self.woken.put(name)

    def stop(self) -> None:
        """End them all."""
        self.over = True
        self.bell.wake_all()
        for thread in self.threads:
            thread.join()


@pytest.fixture
def idlers() -> Iterator[Idlers]:
    """Give a bell with nobody at it."""
    made = Idlers()
    yield made
    made.stop()


def test_of_idle_workers_one_is_the_timer_and_the_rest_wait_untimed(idlers: Idlers) -> None:
    """Four workers with nothing to do wake up once in the safety time, together."""
    assert [idlers.add() for _ in range(4)] == [SAFETY_SECONDS, None, None, None]
    assert idlers.bell.waiting == 4
    assert idlers.woken.empty()


def test_the_timer_waits_for_what_is_due_next(idlers: Idlers) -> None:
    """Its time-out is the time that is left, at most the safety time."""
    idlers.delay = 2.5
    assert idlers.add() == pytest.approx(2.5)
    idlers.stop()


def test_a_far_wait_is_cut_to_the_safety_time(idlers: Idlers) -> None:
    """Another process may have written without a ring."""
    idlers.delay = 3600
    assert idlers.add() == SAFETY_SECONDS


def test_a_ring_wakes_as_many_as_there_are_jobs(idlers: Idlers) -> None:
    """One job wakes one worker, and not the timer, whose place would have to be filled."""
    for _ in range(3):
        idlers.add()
    idlers.bell.ring(1)
    assert idlers.woken.get(timeout=60) != "worker-0"
    assert idlers.begun() is None
    assert idlers.woken.empty()
    idlers.bell.ring(2)
    assert {idlers.woken.get(timeout=60), idlers.woken.get(timeout=60)} == {"worker-1", "worker-2"}


def test_a_ring_for_more_jobs_wakes_the_timer_too(idlers: Idlers) -> None:
    """With work for all, nobody is left waiting."""
    idlers.add()
    idlers.add()
    idlers.bell.ring(5)
    assert {idlers.woken.get(timeout=60), idlers.woken.get(timeout=60)} == {"worker-0", "worker-1"}


def test_a_ring_for_nothing_wakes_nobody(idlers: Idlers) -> None:
    """A commit that made no work is not heard."""
    idlers.add()
    ticket = idlers.bell.ticket()
    idlers.bell.ring(0)
    idlers.bell.ring(-1)
    assert idlers.bell.ticket() == ticket


def test_a_ring_between_looking_and_waiting_is_not_lost(idlers: Idlers) -> None:
    """The wait returns at once if the bell rang since the ticket."""
    ticket = idlers.bell.ticket()
    idlers.bell.ring(1)
    idlers.bell.wait(ticket, None)
    assert idlers.waits.begun.empty()


def test_something_due_earlier_wakes_the_timer_alone(idlers: Idlers) -> None:
    """It looks again and waits for the nearer time; something due later changes nothing."""
    idlers.delay = 10
    idlers.add()
    idlers.add()
    idlers.bell.due_in(12)
    assert idlers.woken.empty()
    idlers.delay = 3
    idlers.bell.due_in(3)
    assert idlers.woken.get(timeout=60) == "worker-0"
    assert idlers.begun() == pytest.approx(3)
    assert idlers.woken.empty()


def test_a_worker_that_knows_of_something_earlier_tells_the_timer(idlers: Idlers) -> None:
    """Whoever comes idle with a nearer time makes the timer look again, whichever becomes the timer then."""
    idlers.delay = 10
    idlers.add()
    idlers.delay = 2
    idlers.add()
    assert idlers.woken.get(timeout=60) == "worker-0"
    assert idlers.begun() == pytest.approx(2)


def test_a_timer_that_found_work_hands_its_place_on(idlers: Idlers) -> None:
    """Without a timer, one of the others is woken and becomes it; with one, nobody is."""
    idlers.add()
    idlers.bell.hand_on()
    assert idlers.woken.empty()
    waiting = threading.Thread(target=lambda: idlers.bell.wait(idlers.bell.ticket(), None))
    waiting.start()
    assert idlers.begun() is None
    idlers.over = True  # the timer will not come back
    idlers.bell.due_in(-1)
    assert idlers.woken.get(timeout=60) == "worker-0"
    idlers.bell.hand_on()
    waiting.join(timeout=60)
    assert not waiting.is_alive()
