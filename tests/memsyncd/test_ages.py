"""How old something is, whatever became of the clock."""

import pytest

from tests.clocks import HandClock

HOUR, DAY = 3_600.0, 86_400.0


def test_without_a_gap_the_clock_tells() -> None:
    """Time that passes makes older; what is in the future is not there yet."""
    hands = HandClock()
    clock = hands.clock()
    began = hands.wall_now
    assert clock.age(began - DAY) == DAY
    hands.move(60.0)
    assert clock.age(began) == pytest.approx(60.0)
    assert clock.age(hands.wall_now + HOUR) == pytest.approx(-HOUR)


@pytest.mark.parametrize("gap", [8 * DAY, HOUR, -6 * HOUR])
@pytest.mark.parametrize("asleep", [False, True])
def test_neither_a_sleep_nor_a_clock_that_is_set_makes_older(gap: float, asleep: bool) -> None:
    """What came before it is as old as without it, and what comes after it is young."""
    hands = HandClock()
    clock = hands.clock()
    clock.look()
    hands.move(100.0)
    before = hands.wall_now
    hands.move(10.0)
    if asleep:
        hands.sleep(abs(gap))
    else:
        hands.wall_now += gap
    assert clock.age(before) == pytest.approx(10.0)
    hands.move(20.0)
    after = hands.wall_now
    hands.move(30.0)
    assert clock.age(after) == pytest.approx(30.0)
    assert clock.age(before) == pytest.approx(60.0)


def test_many_nights_do_not_make_younger_than_the_days_between() -> None:
    """Only the nights since something came are left out of its age."""
    hands = HandClock()
    clock = hands.clock()
    clock.look()
    began = hands.wall_now
    for _ in range(100):
        hands.move(16 * HOUR)
        hands.sleep(8 * HOUR)
        clock.look()
    middle = hands.wall_now - 10 * DAY
    assert clock.age(middle) == pytest.approx(10 * 16 * HOUR)
    assert clock.age(began) >= 60 * 16 * HOUR


def test_slewing_is_part_of_the_time() -> None:
    """A clock that is corrected by a second makes no second account."""
    hands = HandClock()
    clock = hands.clock()
    clock.look()
    came = hands.wall_now
    hands.wall_now += 1.0
    assert clock.age(came) == pytest.approx(0.0)
