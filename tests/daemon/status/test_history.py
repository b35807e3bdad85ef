"""The last day's samples, in memory and in a file of fixed size."""

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.status.history import (
    MINUTE_SECONDS,
    MINUTES,
    NAME,
    RING_BYTES,
    History,
    Sample,
    from_file,
    history_document,
    joined,
)

NOON = 30_000_000
NOW = NOON * MINUTE_SECONDS + 30.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME


def test_what_is_kept_is_told_oldest_first_also_after_a_restart(path: Path) -> None:
    """A day's chart must not begin anew with every start of the machine."""
    history = History(path)
    samples = [Sample(NOON - ago, pending=ago, delivered=1, waited_seconds=0.5) for ago in (2, 1, 0)]
    for sample in samples:
        history.keep(sample)
    assert list(history.last(MINUTES, NOW)) == samples
    assert list(History(path).last(MINUTES, NOW)) == samples
    assert list(from_file(path, 1, NOW)) == samples[1:]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_never_grows_and_yesterday_is_overwritten(path: Path) -> None:
    """A place for each minute of a day, and no more."""
    history = History(path)
    for minute in range(NOON - MINUTES - 5, NOON + 1):
        history.keep(Sample(minute, queued=minute % 7))
    assert path.stat().st_size <= RING_BYTES < 100_000
    found = history.last(MINUTES, NOW)
    assert [found[0].minute, found[-1].minute, len(found)] == [NOON - MINUTES + 1, NOON, MINUTES]


def test_a_minute_with_a_restart_in_it_is_one_sample(path: Path) -> None:
    """Counts add up, the longest times stay, and the rest is as it stood at the end."""
    History(path).keep(Sample(NOON, pending=9, taken=3, recalls=1, run_seconds=2.0))
    again = History(path)
    again.keep(Sample(NOON, pending=1, taken=4, run_seconds=0.5, waited_seconds=0.25))
    expected = Sample(NOON, pending=1, taken=7, recalls=1, run_seconds=2.0, waited_seconds=0.25)
    assert list(again.last(1, NOW)) == [expected]
    assert joined(expected, replace(expected, minute=NOON)).taken == 14


def test_the_longest_times_are_those_since_the_last_sample(path: Path) -> None:
    """Each belongs to one minute."""
    history = History(path)
    for seconds in (0.25, 4.0, 1.0):
        history.ran(seconds)
        history.delivered(seconds * 2)
    history.keep(Sample(NOON - 1))
    history.keep(Sample(NOON))
    assert [(s.run_seconds, s.delivery_seconds) for s in history.last(2, NOW)] == [(4.0, 8.0), (0.0, 0.0)]


@pytest.mark.parametrize("damage", [b"", b"x", b"SQLite format 3\0" * 9_000, os.urandom(RING_BYTES)])
def test_a_file_of_another_kind_is_no_history_and_is_written_over(path: Path, damage: bytes) -> None:
    """A chart is not worth a failed start."""
    path.write_bytes(damage)
    history = History(path)
    assert list(history.last(MINUTES, NOW)) == []
    history.keep(Sample(NOON, dead=1))
    assert list(from_file(path, 1, NOW)) == [Sample(NOON, dead=1)]


def test_one_torn_sample_costs_no_other(path: Path) -> None:
    """Each has its own checksum."""
    history = History(path)
    for minute in (NOON - 1, NOON):
        history.keep(Sample(minute, taken=5))
    content = bytearray(path.read_bytes())
    content[-1] ^= 0xFF
    path.write_bytes(content)
    assert len(from_file(path, MINUTES, NOW)) == 1


def test_a_clock_set_back_shows_no_future(path: Path) -> None:
    """Its minutes are overwritten when they come."""
    history = History(path)
    history.keep(Sample(NOON + 50))
    history.keep(Sample(NOON))
    assert [sample.minute for sample in history.last(MINUTES, NOW)] == [NOON]


def test_a_file_that_cannot_be_written_leaves_the_memory(tmp_path: Path) -> None:
    """The caller is told, and the chart of this run is whole."""
    history = History(tmp_path / "gone" / NAME)
    with pytest.raises(FileNotFoundError):
        history.keep(Sample(NOON, taken=1))
    assert [sample.taken for sample in history.last(1, NOW)] == [1]


def test_a_link_or_a_pipe_in_its_place_is_not_followed_or_waited_for(tmp_path: Path, path: Path) -> None:
    """What another has put there is left alone."""
    other = tmp_path / "other"
    other.write_bytes(b"theirs")
    path.symlink_to(other)
    with pytest.raises(OSError):
        History(path).keep(Sample(NOON))
    assert other.read_bytes() == b"theirs"
    path.unlink()
    os.mkfifo(path)
    assert list(History(path).last(MINUTES, NOW)) == []


def test_the_document_has_times_people_can_read() -> None:
    """And numbers no longer than they are exact."""
    told = history_document([Sample(NOON, taken=2, run_seconds=0.123456)], NOW)
    assert told["minute_seconds"] == 60
    (sample,) = told["samples"]
    assert (sample["at"], sample["taken"], sample["run_seconds"]) == ("2027-01-15T08:00:00.000Z", 2, 0.123)
    assert "minute" not in sample
