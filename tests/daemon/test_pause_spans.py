"""When a project was paused, by a wall clock that may have been set meanwhile."""

import math

import pytest

from daemon.pause_spans import closed_spans, covers, open_span
from daemon.pause_state import Moment, Pause

HOUR = 3_600.0
DAY = 24 * HOUR
NOON = 1_800_000_000.0
ENDLESS = Pause(NOON, None, "b", 100.0)
HOURLY = Pause(NOON, HOUR, "b", 100.0)


def later(seconds: float, *, clock_set: float = 0.0) -> Moment:
    """So long after noon in the same boot, with the wall clock set by so much since."""
    return Moment(NOON + seconds + clock_set, "b", 100.0 + seconds)


@pytest.mark.parametrize(
    ("pause", "now", "paused", "not_paused"),
    [
        (ENDLESS, later(HOUR), [0.0, HOUR - 0.001], [-0.002, HOUR]),
        (HOURLY, later(60.0), [0.0, 59.9], [-0.002, 60.0]),
        (HOURLY, later(5 * HOUR), [0.0, HOUR - 0.001], [-0.002, HOUR, 5 * HOUR]),
        # set forward by ten hours, back by ten hours
        (ENDLESS, later(HOUR, clock_set=10 * HOUR), [0.0, 60.0, 10 * HOUR + 60.0], [-1.0, 5 * HOUR, 11 * HOUR]),
        (ENDLESS, later(HOUR, clock_set=-10 * HOUR), [0.0, 60.0, -10 * HOUR + 60.0], [-5 * HOUR, -11 * HOUR, HOUR]),
        (HOURLY, later(3 * HOUR, clock_set=-10 * HOUR), [0.0, 60.0, -10 * HOUR + 60.0], [-9 * HOUR, -7 * HOUR]),
        # in another boot, and where the system tells none
        (ENDLESS, Moment(NOON + DAY, "c", 5.0), [0.0, HOUR, DAY - 1.0], [-1.0, DAY]),
        (HOURLY, Moment(NOON + DAY, "c", 5.0), [0.0, 60.0], [-1.0, HOUR, DAY - 1.0]),
        (HOURLY, Moment(NOON + 60.0, "c", 5.0), [0.0, 59.0], [-1.0, 60.0]),
        (ENDLESS, Moment(NOON - 5 * DAY, "c", HOUR), [0.0, HOUR, -5 * DAY - 60.0], [-5 * DAY, -4 * DAY, 2 * DAY]),
        (HOURLY, Moment(NOON - 5 * DAY, "c", HOUR), [0.0, 60.0], [HOUR, -5 * DAY - 60.0]),
        (Pause(NOON), Moment(NOON + HOUR), [0.0, 60.0], [-1.0, HOUR]),
        (Pause(NOON), Moment(NOON - DAY), [0.0, 60.0], [-DAY, 2 * DAY]),
    ],
)
def test_what_an_ended_pause_covers(pause: Pause, now: Moment, paused: list[float], not_paused: list[float]) -> None:
    """By the clock of its begin, and by that of its end; seconds from noon."""
    spans = closed_spans(pause, now)
    assert [covers(spans, NOON + each) for each in paused] == [True] * len(paused)
    assert [covers(spans, NOON + each) for each in not_paused] == [False] * len(not_paused)
    assert all(math.isfinite(each) for span in spans for each in span)


@pytest.mark.parametrize(
    ("pause", "now", "begin"),
    [
        (ENDLESS, later(HOUR), 0.0),
        (ENDLESS, later(HOUR, clock_set=10 * HOUR), 0.0),
        (ENDLESS, later(HOUR, clock_set=-10 * HOUR), -10 * HOUR),
        (ENDLESS, Moment(NOON + DAY, "c", 5.0), 0.0),
        (ENDLESS, Moment(NOON - DAY, "c", 5.0), -DAY - 5.0),
        (Pause(NOON), Moment(NOON + HOUR), 0.0),
        (Pause(NOON), Moment(NOON - HOUR), -math.inf),
    ],
)
def test_what_a_pause_covers_that_goes_on(pause: Pause, now: Moment, begin: float) -> None:
    """Everything since its begin, whatever became of the clock; what was captured before it is not lost."""
    assert open_span(pause, now) == (pytest.approx(NOON + begin, abs=0.01), math.inf)
