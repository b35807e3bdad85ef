"""What else lies in a spool: bad lines, odd files, leftovers, and their bounds."""

import fcntl
import math
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from memsyncd.platforms.platform import (
    Unreachable,
)
from memsyncd.telemetry.claims import DAY_SECONDS, KEPT_SECONDS
from memsyncd.telemetry.drain import MAX_PARKED, Drained
from memsyncd.telemetry.posthog import Wire
from tests.memsyncd.telemetry.spooling import Spooling, line, lines, uuid_of

OFFLINE = Unreachable("no connection")


@pytest.fixture
def spool(tmp_path: Path) -> Spooling:
    return Spooling(tmp_path)


@pytest.mark.parametrize("content", [b"not json\n", b"\xff\xfe\x00rubbish", b"[1, 2]\n{\n", b"\n\n"])
def test_what_holds_no_event_is_kept_aside_whole(spool: Spooling, content: bytes) -> None:
    """It becomes `.corrupt`, and the run goes on to the next (facts 12.19, 20.7)."""
    spool.park(content)
    spool.park(line(7), name="telemetry-9-00000001.sending", age=150.0)
    assert spool.run() == Drained(delivered=1)
    assert spool.only(".corrupt").read_bytes() == content
    assert spool.files() == spool.files(".corrupt")
    assert spool.counted("telemetry_corrupt") > 0
    assert spool.age(spool.only(".corrupt")) == pytest.approx(0.0, abs=0.01)


def test_bad_lines_are_kept_aside_and_their_neighbours_sent(spool: Spooling) -> None:
    """A line that is no event, or one the endpoint would drop in silence, is never sent and never lost."""
    bad = [b"{torn\n", line(90, uuid="1234"), line(91, event=None), line(92, event=" ")]
    spool.record(b"\n".join([line(1).strip(), b"", b"".join(bad).strip(), line(2)]))
    assert spool.run() == Drained(delivered=2)
    assert spool.only(".corrupt").read_bytes() == b"".join(bad)
    assert spool.counted("telemetry_corrupt") == 1
    assert spool.counted("telemetry_incomplete") == 3


def test_a_torn_end_is_sent_if_it_is_whole_after_all(spool: Spooling) -> None:
    """A recorder without a lock may be in the middle of its line: its end is part of the rest."""
    whole = line(2)
    path = spool.record(line(1) + whole[:20])

    with path.open("ab") as recorder:

        def finish(batch: Sequence[Wire]) -> None:
            recorder.write(whole[20:])
            recorder.flush()
            spool.on_post = lambda _: None

        spool.on_post = finish
        assert spool.run() == Drained(delivered=2)
    assert spool.files() == []


def test_what_a_recorder_appends_meanwhile_is_sent(spool: Spooling) -> None:
    """One that opened the spool before it was claimed and writes after it was read loses nothing."""
    path = spool.record(lines(range(3)))
    with path.open("ab") as recorder:

        def append(batch: Sequence[Wire]) -> None:
            recorder.write(line(3))
            recorder.flush()
            spool.on_post = lambda _: None

        spool.on_post = append
        assert spool.run() == Drained(delivered=4)
    assert len(spool.posted) == 2


def test_a_last_torn_line_is_kept_aside(spool: Spooling) -> None:
    """What a crash left of a line is nobody's event, but is kept."""
    spool.record(line(1) + line(2)[:-10])
    assert spool.run() == Drained(delivered=1)
    assert spool.only(".corrupt").read_bytes() == line(2)[:-10] + b"\n"


def test_empty_claims_are_removed(spool: Spooling) -> None:
    """Nothing is sent for them (facts 12.19)."""
    spool.park(b"")
    assert spool.run() == Drained()
    assert spool.files() == []


def test_what_is_too_large_is_no_spool(spool: Spooling) -> None:
    """It is kept aside whole and unread; the neighbours go."""
    spool.record(line(1))
    path = spool.park(b"")
    os.truncate(path, 9 * 1024 * 1024)
    spool.touch(path, 200.0)
    assert spool.run() == Drained(more=True)
    assert spool.run() == Drained(delivered=1)
    assert spool.only(".corrupt").stat().st_size == 9 * 1024 * 1024


def test_what_is_no_file_is_left_alone(spool: Spooling, tmp_path: Path) -> None:
    """No link is followed, no FIFO waited for, no directory touched."""
    elsewhere = tmp_path.parent / f"{tmp_path.name}-private"
    elsewhere.write_bytes(line())
    (spool.directory / "telemetry.jsonl").symlink_to(elsewhere)
    (spool.directory / "telemetry-9-00000001-a0.sending").symlink_to(elsewhere)
    os.mkfifo(spool.directory / "telemetry-9-00000002-a0.sending")
    (spool.directory / "telemetry-9-00000003-a0.sending").mkdir()
    before = spool.files()
    spool.hands.move(1e9)
    assert spool.run() == Drained()
    assert spool.files() == before
    assert elsewhere.read_bytes() == line()


def test_a_recorder_at_its_line_is_waited_for(spool: Spooling) -> None:
    """Its lock is held for microseconds; one that is stopped with it costs no more than the claim's lease."""
    path = spool.record(line())
    with path.open("ab") as recorder:
        fcntl.flock(recorder, fcntl.LOCK_SH)
        spool.drain._door.disk.pause = lambda: None  # type: ignore[method-assign]
        assert spool.run() == Drained()
        assert spool.only(".sending").read_bytes() == line()
    spool.hands.move(120.0)
    assert spool.run().delivered == 1


def test_leftovers_are_swept(spool: Spooling) -> None:
    """Unfinished copies after two minutes, what was set aside after a week (facts 12.20, 20.10)."""
    week, minutes = KEPT_SECONDS, 120.0
    for name, age in {
        "telemetry-9-00000001-a0.partial": minutes,
        "telemetry-9-00000002-a0.partial": minutes - 1,
        "telemetry-9-00000003.corrupt": week,
        "telemetry-9-00000004-a0.corrupt": week - 1,
        "telemetry-9-00000005-a0.rejected": week,
        "telemetry-9-00000006-a3.expired": week,
        "notes.partial": week,
    }.items():
        spool.park(b"x\n", name=name, age=age)
    spool.run()
    assert spool.files() == [
        "notes.partial",
        "telemetry-9-00000002-a0.partial",
        "telemetry-9-00000004-a0.corrupt",
    ]
    assert spool.counted("telemetry_swept") == 3


def test_what_cannot_be_sent_may_be_kept_for_ever(spool: Spooling) -> None:
    """Old claims and events are tried, and what was set aside stays within its bounds."""
    spool.drain = spool.new_drain(kept_seconds=math.inf)
    spool.park(line(1), age=3 * KEPT_SECONDS)
    spool.park(b"x\n", name="telemetry-9-00000003.corrupt", age=3 * KEPT_SECONDS)
    spool.hands.move(3 * KEPT_SECONDS)
    spool.answers = [OFFLINE]
    spool.run()
    assert len(spool.files(".sending")) == len(spool.files(".corrupt")) == 1
    assert spool.run().delivered == 1


def test_what_cannot_be_sent_may_be_kept_for_less(spool: Spooling) -> None:
    """By the settings' days, for claims and for what was set aside alike."""
    spool.drain = spool.new_drain(kept_seconds=DAY_SECONDS)
    spool.park(line(1), age=DAY_SECONDS)
    spool.park(b"x\n", name="telemetry-9-00000003.corrupt", age=DAY_SECONDS)
    assert spool.run().delivered == 0
    assert (spool.counted("telemetry_expired"), len(spool.files(".expired")), spool.files(".corrupt")) == (1, 1, [])


def test_what_is_set_aside_has_a_bound(spool: Spooling) -> None:
    """The oldest goes first, and is counted."""
    for number in range(3):
        path = spool.park(b"", name=f"telemetry-9-0000000{number}-a0.rejected")
        os.truncate(path, 3 * 1024 * 1024)
        spool.touch(path, 100.0 - number)
    spool.run()
    assert spool.files() == ["telemetry-9-00000001-a0.rejected", "telemetry-9-00000002-a0.rejected"]
    assert spool.counted("telemetry_swept") == 1


def test_what_is_parked_has_a_bound(spool: Spooling) -> None:
    """In a long outage the live spool stays where it is, so its own bound and its counter hold."""
    for number in range(MAX_PARKED):
        spool.park(line(number), name=f"telemetry-9-{number:08x}-a0.sending", age=200.0)
    spool.record(line(1000))
    spool.answers = [OFFLINE]
    spool.run()
    assert "telemetry.jsonl" in spool.files()
    assert len(spool.files(".sending")) == MAX_PARKED
    runs = 0
    while spool.run().more:
        runs += 1
    assert runs == pytest.approx(MAX_PARKED / 3, abs=3)
    assert sorted(spool.delivered) == sorted(uuid_of(number) for number in [*range(MAX_PARKED), 1000])
