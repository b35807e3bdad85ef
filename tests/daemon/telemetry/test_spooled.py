"""What lies in telemetry spools: counted, read and discarded by what is there."""

import os
from pathlib import Path

from daemon.telemetry.spooled import Spooled, contents, counted, discard
from memsyncd.telemetry import lifecycle, recorder
from memsyncd.telemetry.claims import ClaimName, parse
from tests.daemon.telemetry.switched_on import line

CLAIM = ClaimName("9-deadbeef", 2).file()


def test_events_files_and_drops_are_counted_over_all_spools(tmp_path: Path) -> None:
    """By the sender's own names; a torn last line is an event of its own, a blank one none."""
    assert parse(CLAIM) is not None
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (one / "telemetry.jsonl").write_bytes(line() + b"\n" + line() + b'{"torn')
    (one / CLAIM).write_bytes(line())
    (one / "telemetry-9-deadbeef-a1.rejected").write_bytes(line())
    (two / recorder.DROPPED_NAME).write_bytes(b"...")
    assert counted([one, two, tmp_path / "nowhere"]) == Spooled(events=4, parked=1, dropped=3, aside=1)


def test_the_live_spool_comes_first(tmp_path: Path) -> None:
    """As it is sent first (facts 12.18)."""
    (tmp_path / CLAIM).write_bytes(b"second\n")
    (tmp_path / "telemetry.jsonl").write_bytes(b"first\n")
    assert list(contents([tmp_path])) == [b"first\n", b"second\n"]


def test_what_is_no_file_is_neither_followed_nor_waited_for(tmp_path: Path) -> None:
    """A link, a pipe or a directory in a spool's place counts for nothing."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(line())
    for number, make in enumerate((lambda path: path.symlink_to(elsewhere), os.mkfifo, os.mkdir)):
        place = tmp_path / str(number)
        place.mkdir()
        make(place / "telemetry.jsonl")
        make(place / CLAIM)
        assert counted([place]) == Spooled()


def test_discarding_leaves_nothing_but_which_version_was_told_of(tmp_path: Path) -> None:
    """Events, claims, what was set aside, the salt and the id go; a link goes itself and not what it points to."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"not ours")
    spool = tmp_path / "spool"
    spool.mkdir()
    names = ["telemetry.jsonl", CLAIM, "telemetry-9-a-a1.corrupt", "telemetry-9-a-a1.partial", "telemetry-salt"]
    for name in [*names, recorder.DROPPED_NAME, "telemetry-identity.json", "evidence.sqlite3"]:
        (spool / name).write_bytes(b"x")
    for name in (lifecycle.NAME, f"{lifecycle.SENTINEL_PREFIX}1.0"):
        (spool / name).write_bytes(b"x")
    (spool / "telemetry-link").symlink_to(elsewhere)
    (spool / "telemetry-directory").mkdir()
    assert discard([spool, tmp_path / "nowhere"]) == 8
    left = {path.name for path in spool.iterdir()}
    assert left == {
        "evidence.sqlite3",
        lifecycle.NAME,
        f"{lifecycle.SENTINEL_PREFIX}1.0",
        "telemetry-directory",
    }
    assert elsewhere.read_bytes() == b"not ours"
