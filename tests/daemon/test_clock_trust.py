"""Whether a clock is believed before anything is deleted by it."""

import json
import os
from pathlib import Path

import pytest

from daemon.clock_trust import DAY_SECONDS, KEPT_SECONDS, NAME, ClockTrust, Seen, after_look
from tests.clocks import HandClock

NOW = 1_796_083_200.0
YEARS = 3_652 * DAY_SECONDS


@pytest.mark.parametrize(
    ("seen", "now", "passed", "believed"),
    [
        (None, NOW, 0.0, True),
        (Seen(NOW), NOW + DAY_SECONDS, 0.0, True),
        (Seen(NOW), NOW + 6 * DAY_SECONDS, 0.0, True),
        (Seen(NOW), NOW + 8 * DAY_SECONDS, 0.0, False),
        (Seen(NOW), NOW + 30 * DAY_SECONDS, 30 * DAY_SECONDS, True),
        (Seen(NOW), NOW + YEARS, 0.0, False),
        (Seen(NOW), NOW - DAY_SECONDS, 0.0, True),
        (Seen(NOW), 0.0, 0.0, False),
        (Seen(NOW, doubted=NOW + YEARS, last=NOW + YEARS), NOW + DAY_SECONDS, 0.0, True),
        (Seen(NOW, doubted=NOW + YEARS, last=NOW + YEARS), NOW + YEARS + DAY_SECONDS, 0.0, False),
        (Seen(NOW, doubted=NOW + YEARS, last=NOW + YEARS + DAY_SECONDS), NOW + YEARS + 3 * DAY_SECONDS, 0.0, True),
        (Seen(NOW, doubted=NOW + YEARS, last=NOW + YEARS), NOW + 2 * YEARS, 0.0, False),
    ],
    ids=[
        "the first look",
        "a day without a daemon",
        "six days without one",
        "a long holiday",
        "a month asleep in a bag",
        "in ten years",
        "a day back",
        "a clock that begins at 1970",
        "right again",
        "a day of doubt",
        "three days of it",
        "another step",
    ],
)
def test_a_clock_is_believed_where_it_goes_on(seen: Seen | None, now: float, passed: float, believed: bool) -> None:
    """What says something quite other than before is doubted for three days, or until it is right again."""
    assert after_look(seen, now, passed).is_believed is believed


def test_a_doubt_that_steps_again_begins_again() -> None:
    """Three days of one step prove nothing about the next."""
    seen = after_look(Seen(NOW), NOW + YEARS)
    seen = after_look(seen, NOW + 2 * YEARS)
    assert not after_look(seen, NOW + 2 * YEARS + 3 * DAY_SECONDS - 1).is_believed
    assert after_look(seen, NOW + 2 * YEARS + 3 * DAY_SECONDS).is_believed


def test_an_earlier_run_is_remembered(tmp_path: Path) -> None:
    """A daemon started under a wrong clock doubts it from the first moment, and the doubt outlives a restart."""
    hands = HandClock(NOW)
    ClockTrust(tmp_path / NAME, hands.clock()).look()
    hands.wall_now += YEARS
    for _ in range(2):
        trust = ClockTrust(tmp_path / NAME, hands.clock())
        assert not trust.is_believed
        trust.look()
    hands.wall_now += 3 * DAY_SECONDS
    assert ClockTrust(tmp_path / NAME, hands.clock()).is_believed
    hands.wall_now -= YEARS
    trust = ClockTrust(tmp_path / NAME, hands.clock())
    trust.look()
    assert trust.is_believed


def test_a_running_daemon_doubts_a_clock_that_is_set(tmp_path: Path) -> None:
    """Time that passes, awake or asleep, is no step; and the right time ends the doubt at once."""
    hands = HandClock(NOW)
    trust = ClockTrust(tmp_path / NAME, hands.clock())
    hands.sleep(40 * DAY_SECONDS)
    trust.look()
    assert trust.is_believed
    hands.wall_now += YEARS
    trust.look()
    assert not trust.is_believed
    assert trust.seen.told().startswith("3,652 days after")
    hands.wall_now -= YEARS
    trust.look()
    assert trust.is_believed


def test_little_is_written(tmp_path: Path) -> None:
    """Once an hour, or where there is news; private, and whole."""
    hands = HandClock(NOW)
    trust = ClockTrust(tmp_path / NAME, hands.clock())
    trust.look()
    first = (tmp_path / NAME).stat()
    assert first.st_mode & 0o777 == 0o600
    for _ in range(10):
        hands.move(KEPT_SECONDS / 11)
        trust.look()
    assert (tmp_path / NAME).stat().st_ino == first.st_ino
    hands.move(KEPT_SECONDS)
    trust.look()
    assert json.loads((tmp_path / NAME).read_text())["believed"] == hands.wall_now
    assert os.listdir(tmp_path) == [NAME]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"believed": "x"}', '{"believed": 1e300}', '{"b": 1}', "\0" * 9]
)
def test_what_makes_no_sense_is_no_earlier_look(tmp_path: Path, content: str) -> None:
    """A torn file, or another version's, is begun anew."""
    (tmp_path / NAME).write_text(content)
    trust = ClockTrust(tmp_path / NAME, HandClock(NOW).clock())
    trust.look()
    assert trust.is_believed
    assert json.loads((tmp_path / NAME).read_text())["believed"] == NOW


def test_a_file_that_cannot_be_written_costs_no_look(tmp_path: Path) -> None:
    """The error is told, and the clock is judged all the same."""
    hands = HandClock(NOW)
    trust = ClockTrust(tmp_path / "gone" / NAME, hands.clock())
    hands.wall_now += YEARS
    with pytest.raises(OSError):
        trust.look()
    assert not trust.is_believed
