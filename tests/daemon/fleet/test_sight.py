"""A status tells the shared queue as it is when it is asked for, waits for that no longer than a moment, and costs little."""

import threading
from collections.abc import Callable

import pytest

from daemon.fleet import sight
from daemon.fleet.sight import TIMES, Seen, Sight
from jobs.queue.errors import QueueUnavailable
from tests.clocks import HandClock

PATIENCE = 60.0


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take its time."""
    monkeypatch.setattr(sight, "WAIT_SECONDS", PATIENCE)


def seen(dead: int) -> Callable[[], Seen]:
    return lambda: Seen(packets_dead=dead)


def test_it_is_wanted_at_first_and_when_somebody_asked_after_the_last_look() -> None:
    hands = HandClock()
    made = Sight(lambda: False, hands.clock().monotonic)
    assert made.is_wanted
    hands.move(1.0)
    made.look(seen(1))
    assert not made.is_wanted
    hands.move(1.0)
    assert made.asked().packets_dead == 1  # nobody looks: what was seen last, and at once
    assert made.is_wanted


def test_who_asks_is_told_what_is_seen_after_the_question() -> None:
    """A look under way at that moment may have missed what the asker has just done."""
    hands = HandClock()
    begun, may_end = threading.Event(), threading.Event()

    def again() -> bool:
        may_end.set()
        return True

    made = Sight(again, hands.clock().monotonic)

    def held() -> Seen:
        begun.set()
        assert may_end.wait(PATIENCE)
        return Seen(packets_dead=1)

    def looking() -> None:
        made.look(held)
        if made.is_wanted:
            made.look(seen(2))

    looker = threading.Thread(target=looking)
    looker.start()
    assert begun.wait(PATIENCE)
    hands.move(1.0)
    assert made.asked().packets_dead == 2
    looker.join()


def test_a_look_that_takes_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sight, "WAIT_SECONDS", 0.01)
    hands = HandClock()
    made = Sight(lambda: True, hands.clock().monotonic)
    made.look(seen(1))
    hands.move(1.0)
    assert made.asked().packets_dead == 1


def test_a_look_that_cost_much_holds_for_longer() -> None:
    """However often a status is asked for, a queue of millions is counted in a tenth of the time."""
    hands = HandClock()
    asked: list[float] = []

    def again() -> bool:
        asked.append(hands.clock().monotonic())
        return False

    made = Sight(again, hands.clock().monotonic)

    def slowly() -> Seen:
        hands.move(3.0)
        return Seen(packets_dead=1)

    made.look(slowly)
    hands.move(TIMES * 3.0 - 0.1)
    made.asked()
    assert not asked
    assert not made.is_wanted
    hands.move(0.2)
    made.asked()
    assert asked


def test_a_look_that_fails_leaves_what_was_seen() -> None:
    made = Sight(lambda: False, HandClock().clock().monotonic)
    made.look(seen(1))

    def failing() -> Seen:
        raise QueueUnavailable("away")

    with pytest.raises(QueueUnavailable):
        made.look(failing)
    assert made.seen.packets_dead == 1
