"""When a pause is over, and how its time is written."""

from pathlib import Path

import pytest

from daemon.pause_state import Moment, NoDuration, Pause, PausedProject, PauseState, duration, encoded, read

HOUR = 3600.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90.0),
        ("90s", 90.0),
        ("15m", 900.0),
        ("2h", 7200.0),
        ("3d", 259_200.0),
        (" 5m ", 300.0),
        ("0000000000000000090", 90.0),
        ("3650d", 315_360_000.0),
    ],
)
def test_durations_are_read_as_the_contract_says(text: str, seconds: float) -> None:
    """A number of seconds, or of what its letter says."""
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["-5", "1.5h", "5 m", "5w", "", "m", "٣"])
def test_what_is_no_duration_is_told_how_to_write_one(text: str) -> None:
    """Nothing is guessed at."""
    with pytest.raises(NoDuration, match="write it like"):
        duration(text)


@pytest.mark.parametrize("text", ["0", "0h", "000", "3651d", "999999999999d", "9" * 5_000])
def test_a_duration_that_is_none_by_its_size_is_told_the_range(text: str) -> None:
    """Its form is right."""
    with pytest.raises(NoDuration, match="from 1s to 3650d"):
        duration(text)


@pytest.mark.parametrize(
    ("pause", "now", "over"),
    [
        (Pause(1000.0), Moment(9e9), False),
        (Pause(1000.0, HOUR), Moment(1000.0 + HOUR - 1), False),
        (Pause(1000.0, HOUR), Moment(1000.0 + HOUR), True),
        (Pause(1000.0, HOUR, "b", 50.0), Moment(1000.0 - 5 * HOUR, "b", 50.0 + HOUR), True),
        (Pause(1000.0, HOUR, "b", 50.0), Moment(1000.0 + 5 * HOUR, "b", 51.0), False),
        (Pause(1000.0, HOUR, "b", 50.0), Moment(1000.0 + HOUR, "other", 1.0), True),
        (Pause(1000.0, HOUR, "b", 50.0), Moment(1000.0 + 1.0, "other", 1.0), False),
        (Pause(1000.0, HOUR, "b", 50.0), Moment(999.0, "other", 1.0), True),
    ],
)
def test_a_jump_of_the_clock_prolongs_no_pause(pause: Pause, now: Moment, over: bool) -> None:
    """Within one boot the time that really passed counts; after another, a clock before the begin ends it."""
    assert pause.is_over(now) is over


def test_what_is_written_is_read_again_and_what_is_torn_holds_everything(tmp_path: Path) -> None:
    """A file that cannot be read must not let anything out that was to be held."""
    file = tmp_path / "pauses.json"
    assert read(file) == PauseState()
    state = PauseState(Pause(1.0, 2.0, "b", 3.0), [PausedProject("r", "/w", Pause(4.0))])
    file.write_bytes(encoded(state))
    assert read(file) == state
    for torn in (b"", b"{", b'{"v": 2, "all": null, "projects": []}', b'{"v": 1}', b"[]"):
        file.write_bytes(torn)
        assert read(file).unreadable
