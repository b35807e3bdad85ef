"""Noticing that the wall clock was set, or that the machine slept."""

from daemon.clock_watch import ClockWatch, Gap
from tests.clocks import HandClock


def test_time_passing_is_no_gap() -> None:
    """All clocks moving alike is time passing."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.move(3600)
    assert not watch.look()


def test_a_clock_that_is_set_is_told_once_with_its_size() -> None:
    """A clock set back or forward is told by how much, and then is the new normal."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.wall_now -= 7200
    assert watch.look() == Gap(set=-7200)
    assert not watch.look()
    hands.wall_now += 86400
    assert watch.look() == Gap(set=86400)


def test_a_sleep_is_told_from_a_clock_that_is_set() -> None:
    """In a sleep waits stand still, and nothing is wrong with the clock; both may come at once."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.sleep(28_800)
    assert watch.look() == Gap(slept=28_800)
    hands.sleep(60)
    hands.wall_now += 3600
    assert watch.look() == Gap(set=3600, slept=60)
    assert not watch.look()


def test_slewing_is_no_gap() -> None:
    """A clock that is corrected little by little disturbs nothing."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.wall_now += 2
    assert not watch.look()
