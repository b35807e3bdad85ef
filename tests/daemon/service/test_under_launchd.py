"""The daemon under launchd: starts counted on disk, its own watchdog, a log with a bound."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.places import Places, resolve
from daemon.service.failed_starts import MOST, STEADY_SECONDS, WITHIN_SECONDS, Failed, FailedStarts, begun
from daemon.service.launchd_manager import HELD_SECONDS, WATCHDOG_SECONDS, LaunchdManager
from daemon.service.log_cap import cap


@pytest.fixture
def places() -> Iterator[Places]:
    with tempfile.TemporaryDirectory(dir="/tmp") as root:
        found = resolve({"MEMSYNCD_HOME": f"{root}/m"}, Path(root), os.getuid(), "darwin")
        found.data.mkdir(mode=0o700)
        yield found


@pytest.mark.parametrize(
    ("starts", "now", "kept"),
    [
        ([], 100.0, [100.0]),
        ([90.0], 100.0, [90.0, 100.0]),
        ([100.0 - WITHIN_SECONDS, 99.0], 100.0, [99.0, 100.0]),
        ([500.0], 100.0, [100.0]),
        ([1.0] * MOST, 2.0, [*[1.0] * MOST, 2.0]),
        ([1.0] * (MOST + 1), 2.0, [*[1.0] * MOST, 2.0]),
    ],
)
def test_which_starts_count(starts: list[float], now: float, kept: list[float]) -> None:
    """The recent ones; those of a clock that was ahead do not, and the list does not grow."""
    assert begun(Failed(starts), now).starts == kept


@given(st.lists(st.floats(0, 1e10), max_size=30))
def test_however_starts_come_the_record_is_bounded(times: list[float]) -> None:
    """No order of times makes it longer or keeps a start for ever."""
    failed = Failed()
    for now in times:
        failed = begun(failed, now)
        assert 1 <= len(failed.starts) <= MOST + 1
    assert begun(failed, 1e11).starts == [1e11]


def test_the_sixth_start_in_five_minutes_stays_down(places: Places) -> None:
    """With 0 at once where nothing waits; held for a while where launchd would start it again for a handoff; and it
    tries again later, or when a person says so."""
    manager = LaunchdManager(places)
    assert [manager.begin(float(second)) for second in range(0, 50, 10)] == [None] * 5
    assert manager.begin(50.0) == 0.0
    pending = places.spools / "codex/pending"
    pending.mkdir(parents=True)
    (pending / "x.json").touch()
    assert manager.begin(60.0) == HELD_SECONDS
    assert FailedStarts(places.data).read().stays_down
    assert manager.begin(51.0 + WITHIN_SECONDS) is None
    FailedStarts(places.data).forget()
    assert not FailedStarts(places.data).read().starts


def test_a_broken_record_stops_no_start(places: Places) -> None:
    """Whatever is in the file."""
    for content in ("", "[]", '{"starts": ["x"], "why": ""}', "\xff"):
        (places.data / "failed-starts.json").write_text(content)
        assert LaunchdManager(places).begin(1.0) is None
    assert (places.data / "failed-starts.json").stat().st_mode & 0o777 == 0o600


def test_a_steady_minute_forgets_earlier_failures(places: Places) -> None:
    """Not the first sign of life: a daemon that dies soon after each start has failed to start too."""
    now = [0.0]
    manager = LaunchdManager(places, monotonic=lambda: now[0])
    manager.begin(1.0)
    manager.ready()
    try:
        manager.alive("")
        assert FailedStarts(places.data).read().starts
        now[0] = STEADY_SECONDS
        manager.alive("")
        assert not FailedStarts(places.data).read().starts
    finally:
        manager.stopping()
    manager.begin(2.0)
    manager.ended(0)
    assert not FailedStarts(places.data).read().starts


def test_a_daemon_without_progress_ends_itself(places: Places) -> None:
    """With a code that has launchd start it again; nothing happens while signs of life come."""
    now, ended = [0.0], list[int]()
    manager = LaunchdManager(places, monotonic=lambda: now[0], end=ended.append)
    assert manager.alive_seconds is not None
    assert manager.alive_seconds < WATCHDOG_SECONDS
    now[0] = WATCHDOG_SECONDS
    manager.alive("")
    now[0] += WATCHDOG_SECONDS
    manager.stuck("")
    manager.look()
    assert not ended
    now[0] += 1
    manager.look()
    assert ended == [1]


def test_the_log_begins_anew_over_its_bound(tmp_path: Path) -> None:
    """Emptied in place, for launchd holds it open; its end is kept beside it, and the next line is the first."""
    path = tmp_path / "daemon.log"
    with path.open("wb") as log:
        log.write(b"old\n" * 100)
        log.flush()
        assert not cap(log.fileno(), path, max_bytes=400)
        assert not cap(log.fileno(), tmp_path / "another.log", max_bytes=10)
        assert cap(log.fileno(), path, max_bytes=40)
        log.write(b"new\n")
    assert path.read_bytes() == b"new\n"
    kept = tmp_path / "daemon.log.1"
    assert kept.read_bytes() == b"old\n" * 10
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_broken_configuration_does_not_spin(places: Places) -> None:
    """Real starts, as launchd makes them: five end with 78, the sixth with 0 and the reason on disk."""
    places.config_file.write_text("[lgo]\n")
    failed = FailedStarts(places.data)
    for _ in range(MOST - 1):
        failed.begin(time.time())
    environ = {**os.environ, "MEMSYNCD_HOME": str(places.data)}
    words = [sys.executable, "-P", "-m", "daemon", "run", "--under", "launchd"]
    codes = [subprocess.run(words, env=environ, capture_output=True, check=False).returncode for _ in range(2)]
    assert codes == [78, 0]
    assert "lgo" in json.loads((places.data / "failed-starts.json").read_bytes())["why"]
