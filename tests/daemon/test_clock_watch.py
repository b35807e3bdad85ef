"""Noticing that the wall clock jumped."""

from daemon.clock_watch import ClockWatch
from tests.clocks import HandClock


def test_time_passing_is_no_jump() -> None:
    """Both clocks moving alike is time passing."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.move(3600)
    assert watch.jumped() == 0.0


def test_a_jump_is_told_once_with_its_size() -> None:
    """A clock set back or forward is told by how much, and then is the new normal."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.wall_now -= 7200
    assert watch.jumped() == -7200
    assert watch.jumped() == 0.0
    hands.wall_now += 86400
    assert watch.jumped() == 86400


def test_slewing_is_no_jump() -> None:
    """A clock that is corrected little by little disturbs nothing."""
    hands = HandClock()
    watch = ClockWatch(hands.clock())
    hands.wall_now += 2
    assert watch.jumped() == 0.0
