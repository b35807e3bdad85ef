"""A hook looks for the socket where the daemon has put it."""

import os
from pathlib import Path

import pytest

from daemon import places
from daemon.lock import DaemonLock
from memsyncd.hooks import socket_place, spool

UID = os.geteuid()


@pytest.mark.parametrize("platform", ["linux", "darwin", "freebsd13"])
@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"MEMSYNCD_HOME": "{0}/m"},
        {"MEMSYNCD_HOME": "{0}/m/", "XDG_RUNTIME_DIR": "{0}"},
        {"MEMSYNCD_HOME": "{0}/" + "long/" * 30 + "m"},
        {"MEMSYNCD_HOME": "{0}//" + "long/./" * 30},
        {"XDG_RUNTIME_DIR": "{0}"},
        {"XDG_RUNTIME_DIR": "{0}/missing"},
        {"XDG_RUNTIME_DIR": "relative"},
        {"XDG_RUNTIME_DIR": "/root-of-another"},
        {"XDG_DATA_HOME": "{0}/data", "XDG_RUNTIME_DIR": "/"},
        {"XDG_DATA_HOME": "{0}/" + "d" * 90, "XDG_RUNTIME_DIR": "{0}/missing"},
    ],
    ids=range(11),
)
def test_hook_and_daemon_agree(environ: dict[str, str], platform: str, tmp_path: Path) -> None:
    """Whatever the environment says, short fallback included."""
    environ = {name: value.format(tmp_path) for name, value in environ.items()}
    whole = {**environ, "HOME": str(tmp_path)}
    wanted = places.resolve(environ, tmp_path, UID, platform)
    raw = {os.fsencode(name): os.fsencode(value) for name, value in whole.items()}
    data = spool.data_directory(raw, platform)
    is_whole_home = "MEMSYNCD_HOME" in environ
    found = socket_place.socket_path(data, raw, platform, is_whole_home=is_whole_home)
    assert os.fsdecode(found) == str(wanted.status_socket)


def test_both_draw_the_line_at_the_same_length() -> None:
    """The budgets are one number."""
    assert socket_place.BUDGET == places.SOCKET_BUDGET


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ('{"pid": 7, "run_id": "r", "socket": "/run/memsyncd/status.sock"}', b"/run/memsyncd/status.sock"),
        ('{"pid": 7, "run_id": "r"}', b""),
        ('{"pid": 7, "socket": "run/status.sock"}', b""),
        ('{"pid": 7, "socket": "/run/\\u00fc/status.sock"}', b""),
        ("", b""),
        ("\0" * 9, b""),
    ],
)
def test_a_daemon_tells_where_a_manager_has_put_it(tmp_path: Path, note: str, told: bytes) -> None:
    """As the note in its lock says; what makes no sense is nowhere."""
    (tmp_path / "daemon.lock").write_text(note)
    assert socket_place.told_path(os.fsencode(tmp_path)) == told


def test_what_lies_in_a_locks_place_holds_no_hook_up(tmp_path: Path) -> None:
    """A pipe that nobody writes, a link, a directory, nothing: an error at most, and at once."""
    os.mkfifo(tmp_path / "pipe")
    for number, kind in enumerate(("pipe", "link", "directory", "none")):
        place = tmp_path / str(number)
        place.mkdir()
        lock = place / "daemon.lock"
        if kind == "pipe":
            os.mkfifo(lock)
            assert socket_place.told_path(os.fsencode(place)) == b""
            continue
        if kind == "link":
            lock.symlink_to(tmp_path / "pipe")
        if kind == "directory":
            lock.mkdir()
        with pytest.raises(OSError):
            socket_place.told_path(os.fsencode(place))


def test_a_lock_tells_what_a_hook_understands(tmp_path: Path) -> None:
    """Daemon and hook agree on the note's form."""
    held = DaemonLock.acquire(tmp_path / "daemon.lock", pid=7, run_id="r", socket="/run/memsyncd/status.sock")
    try:
        assert socket_place.told_path(os.fsencode(tmp_path)) == b"/run/memsyncd/status.sock"
    finally:
        held.release()
