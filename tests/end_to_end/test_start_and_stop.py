"""Starting, refusing to start, and stopping."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home


def test_a_second_daemon_is_told_who_runs_and_exits_4(home: Home) -> None:
    """One daemon for a data directory."""
    first = home.start()
    second = home.run("run")
    assert second.returncode == 4
    assert str(first.pid) in second.stderr
    assert home.status()["pid"] == first.pid


def test_a_socket_left_by_a_killed_daemon_is_replaced(home: Home) -> None:
    """Debris of a kill -9 stops nobody."""
    home.start()
    home.stop(signal.SIGKILL)
    assert home.places.status_socket.exists()
    home.start()
    assert home.status()["state"] == "ok"


def test_a_regular_file_in_the_sockets_place_is_refused_and_kept(home: Home) -> None:
    """What is not our socket is never removed: a sentence and 78."""
    home.places.runtime.mkdir(parents=True, mode=0o700)
    home.places.status_socket.write_text("precious")
    done = home.run("run")
    assert done.returncode == 78
    assert str(home.places.status_socket) in done.stderr
    assert home.places.status_socket.read_text() == "precious"


def test_a_directory_others_can_write_is_refused(home: Home) -> None:
    """A data directory in which others could plant files is named with what to change."""
    home.places.data.mkdir(mode=0o777)
    home.places.data.chmod(0o777)
    done = home.run("run")
    assert done.returncode == 78
    assert "chmod" in done.stderr


@pytest.mark.parametrize("name", ["queue.sqlite3", "memory.sqlite3"])
def test_a_database_of_a_newer_version_is_left_byte_equal(home: Home, name: str) -> None:
    """An older program refuses a newer database with 78 and does not touch a byte of it."""
    home.places.data.mkdir(mode=0o700)
    path = home.places.data / name
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9999")
        connection.execute("CREATE TABLE later (a)")
        connection.commit()
    before = path.read_bytes()
    done = home.run("run")
    assert done.returncode == 78, done.stderr
    assert path.read_bytes() == before


def test_everything_made_is_private_whatever_the_umask(home: Home) -> None:
    """Files are 0600 and directories 0700, under a umask of 0."""
    before = os.umask(0)
    try:
        home.start()
        home.exchange("s", 1)
        home.end("s")
        home.until_quiet()
    finally:
        os.umask(before)
    for path in [home.places.data, *home.places.data.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode & 0o077 == 0, f"{path} is {mode:o}"


def test_a_wrong_setting_is_named_with_the_nearest_known_one(home: Home) -> None:
    """A misspelt key stops the start with 78 and says what was meant."""
    home.places.data.mkdir(mode=0o700)
    home.places.config_file.write_text("[platfrom]\nkind = 'local'\n")
    done = home.run("run")
    assert done.returncode == 78
    assert "platform" in done.stderr


def test_sigterm_with_nothing_to_do_ends_with_0(home: Home) -> None:
    """A clean stop removes the socket and says so in the log."""
    home.start()
    assert home.stop() == 0
    assert not home.places.status_socket.exists()


def test_the_log_is_json_without_anybodys_text(home: Home) -> None:
    """Every line of the log is one JSON object, and no prompt or answer is in it."""
    home.start()
    home.exchange("s", 1, prompt="a very private prompt indeed", answer="a very private answer indeed")
    home.end("s")
    home.until_quiet()
    home.stop()
    import json

    lines = [json.loads(line) for line in home.logged().splitlines() if line.startswith("{")]
    assert any(line["event"] == "job" for line in lines)
    assert "very private" not in home.logged()


def test_a_path_too_long_for_a_socket_falls_back(home: Home, tmp_path: Path) -> None:
    """A deep home works: the socket is at a short private place that every command finds."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    environ = {**home.environ, "MEMSYNCD_HOME": str(deep / "m")}
    daemon = subprocess.Popen([sys.executable, "-m", "daemon", "run"], env=environ, stderr=subprocess.PIPE)
    try:

        def status() -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                [sys.executable, "-m", "daemon", "status", "--json"],
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )

        home.until(lambda: status().returncode == 0, "no status over the short socket")
    finally:
        daemon.terminate()
        daemon.wait()
        assert daemon.stderr is not None
        daemon.stderr.close()
