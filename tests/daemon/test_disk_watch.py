"""What is seen in the data directory."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.disk_watch import look_at_hook_errors
from daemon.hook_errors import RECENT_SECONDS
from daemon.places import resolve
from daemon.status.findings import Findings
from memsyncd.clock import Clock
from memsyncd.hooks import error_log
from memsyncd.hooks.envelope import Event
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        yield made


def test_a_disk_without_inodes_is_told_of_apart(home: Composed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space alone takes no file (never-again 54); a file system that counts no inodes has enough."""
    room = os.statvfs(home.places.data)
    for files, free, told in ((1_000, 99, True), (1_000, 100, False), (0, 0, False)):
        found = os.statvfs_result((*room[:5], files, free, free, *room[8:]))
        monkeypatch.setattr("os.statvfs", lambda _, found=found: found)
        home.upkeep.tick()
        assert ("inodes-nearly-gone" in home.codes()) == told


def test_what_hooks_could_not_write_in_the_data_directory_is_told_all_the_same(tmp_path: Path) -> None:
    """A hook turns to the session's run-time directory when the disk is full; what another user planted is no word."""
    environ = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    places = resolve(environ, tmp_path, os.geteuid(), "linux")
    places.data.mkdir(parents=True)
    findings, clock = Findings(Clock()), Clock()
    log = tmp_path / "run" / "memsyncd" / "hook-errors.log"

    def is_told() -> bool:
        look_at_hook_errors(places, clock, findings)
        return str(log) in {finding.where for finding in findings.all()}

    assert not is_told()
    log.parent.mkdir(parents=True)
    name = os.fsdecode(error_log.home_word(bytes(places.data)))
    log.write_text(f"2020-01-01T00:00:00.000Z stop claude-code OSError ENOSPC {name}\n")
    assert not is_told()
    log.write_text(f"torn stop claude-code OSError ENOSPC {name}\n")
    assert is_told()
    if os.geteuid() == 0:
        os.chown(log, 4242, 4242)
        assert not is_told()


def test_what_another_home_s_hooks_could_not_do_is_not_told_here(tmp_path: Path) -> None:
    """Of a log that homes share each takes its own lines, by the time they tell; one that names nobody is nobody's."""
    environ = {"XDG_DATA_HOME": str(tmp_path / "da ta"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    places = resolve(environ, tmp_path, os.geteuid(), "linux")
    places.data.parent.mkdir(parents=True)
    other, log = places.data.parent / "other", tmp_path / "run" / "memsyncd" / "hook-errors.log"
    for data in (places.data, other):
        data.touch()  # so that neither takes a log
    findings, clock = Findings(Clock()), Clock()

    def dropped(data: Path | str, seconds_ago: float) -> None:
        event = Event(int((clock.wall() - seconds_ago) * 1e9), "stop", "claude-code", "")
        runtime = {b"XDG_RUNTIME_DIR": os.fsencode(tmp_path / "run")}
        error_log.append(os.fsencode(data), runtime, event, ValueError())

    def is_told() -> bool:
        look_at_hook_errors(places, clock, findings)
        return str(log) in {finding.where for finding in findings.all()}

    dropped(other, 0.0)
    assert log.exists()
    assert not is_told()
    dropped(places.data, RECENT_SECONDS + 10.0)
    dropped(other, 0.0)
    assert not is_told()
    dropped(places.data, 10.0)
    dropped(other, 0.0)
    assert is_told()
    log.unlink()
    assert not is_told()
    dropped("", 0.0)
    assert log.exists() and not is_told()
    dropped(places.data, RECENT_SECONDS + 100.0)
    dropped(places.data, 6840.0)
    dropped(places.data, 5.0)
    assert is_told()
    [finding] = findings.all()
    assert finding.since == pytest.approx(clock.wall() - 6840.0, abs=60.0)
    assert finding.detail.split()[-5:-1] == ["stop", "claude-code", "ValueError", "-"]


@pytest.mark.parametrize("suffix", ["", ".1"])
def test_hooks_that_lost_something_are_told_of_for_a_day(home: Composed, suffix: str) -> None:
    """By the log they left, also where it was renamed since; a log that is old or gone tells nothing."""
    log = Path(f"{home.places.hook_error_log}{suffix}")
    log.write_text("a line\n")
    home.upkeep.tick()
    assert home.codes() == {"hook-errors": str(log)}
    old = home.parts.clock.wall() - RECENT_SECONDS - 1
    log.write_text("a line\n2020-01-01T00:00:00.000Z stop claude-code OSError ENOSPC\n")
    home.upkeep.tick()
    assert home.codes() == {}
    log.write_text("a line\n")
    os.utime(log, (old, old))
    home.upkeep.tick()
    assert home.codes() == {}
    log.write_text("")  # all that a hook could make of it on a full disk
    home.upkeep.tick()
    assert home.codes() == {}
    log.unlink()
    home.upkeep.tick()
    assert home.codes() == {}
