"""The socket's place on disk, and who may come to it."""

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.places import resolve
from daemon.status_socket.client import SocketClient
from tests.daemon.status_socket.serving import (
    GET,
    UID,
    Served,
    ask,
    read_response,
)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_the_socket_is_0600_in_a_0700_directory_whatever_the_umask(short: Path, umask: int) -> None:
    """From the first moment: no file of another mode ever stands there."""
    before = os.umask(umask)
    try:
        running = Served(short / "run/status.sock")
    finally:
        os.umask(before)
    try:
        assert stat.S_IMODE(running.path.lstat().st_mode) == 0o600
        assert stat.S_IMODE(running.path.parent.stat().st_mode) == 0o700
        assert ask(running.path)[0] == 200
    finally:
        running.stop()
    assert list(running.path.parent.iterdir()) == []


def test_a_dead_daemons_socket_is_replaced(short: Path) -> None:
    """Kill -9 leaves the file, and the next start needs no help (never-again 61)."""
    path = short / "status.sock"
    short.chmod(0o700)
    dead = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os,signal,socket,sys; s = socket.socket(1); s.bind(sys.argv[1]); s.listen(); os.kill(os.getpid(), signal.SIGKILL)",
            str(path),
        ],
        check=False,
    )
    assert dead.returncode == -signal.SIGKILL
    assert path.is_socket()
    with socket.socket(socket.AF_UNIX) as torn:  # and one that died between bind and rename
        torn.bind(str(path.with_name(".status.new")))
    running = Served(path)
    assert ask(path)[0] == 200
    running.stop()


@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
def test_what_is_no_socket_is_refused_and_kept(short: Path, kind: str) -> None:
    """The sentence names the path; exit code 78."""
    short.chmod(0o700)
    path = short / "status.sock"
    (short / "kept").write_text("kept")
    match kind:
        case "file":
            path.write_text("mine")
        case "directory":
            path.mkdir()
        case "link":
            path.symlink_to(short / "kept")
        case _:
            os.mkfifo(path)
    before = path.lstat()
    with pytest.raises(ConfigurationError, match="in the way of the socket") as refused:
        Served(path)
    assert refused.value.exit_code == 78
    assert path.lstat() == before
    assert sorted(found.name for found in short.iterdir()) == ["kept", "status.sock"]


@pytest.mark.skipif(UID != 0, reason="only root can give a file away")
def test_another_users_socket_is_refused(short: Path) -> None:
    """It may be somebody's live daemon."""
    short.chmod(0o700)
    path = short / "status.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        os.chown(path, 65534, 65534)
        with pytest.raises(ConfigurationError, match="user 65534"):
            Served(path)
    assert path.is_socket()


def test_a_directory_others_can_write_is_refused(short: Path) -> None:
    """There anybody could put a socket in our place."""
    short.chmod(0o777)
    with pytest.raises(ConfigurationError, match="chmod 700"):
        Served(short / "status.sock")


@pytest.mark.skipif(UID != 0, reason="only root can become another user")
def test_another_user_is_not_answered(short: Path) -> None:
    """Even where the modes would let her in, the kernel's word on the peer does not."""
    running = Served(short / "run/status.sock")
    try:
        for place, mode in ((short, 0o755), (running.path.parent, 0o755), (running.path, 0o777)):
            place.chmod(mode)
        script = (
            "import os,socket,sys; os.setgid(65534); os.setuid(65534)\n"
            "s = socket.socket(1); s.connect(sys.argv[1])\n"
            "try:\n    s.sendall(b'GET /status HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); print(s.recv(99))\n"
            "except OSError as error:\n    print(b'')"
        )
        said = subprocess.run(
            [sys.executable, "-c", script, str(running.path)], capture_output=True, text=True, check=True
        )
        assert said.stdout.strip() == "b''"
        running.until(lambda: running.counted("socket_peers_refused") == 1)
        assert ask(running.path)[0] == 200
    finally:
        running.stop()


def test_a_socket_that_vanished_or_was_replaced_is_noticed_and_made_again(served: Served) -> None:
    """A cleaner of temporary files must not leave a daemon that nobody can reach (never-again 62)."""
    assert served.server.still_ours()
    with served.connect() as kept:
        served.path.unlink()
        served.path.parent.rmdir()
        assert not served.server.still_ours()
        assert served.run(served.server.restart()) == ""
        assert served.server.still_ours()
        assert ask(served.path)[0] == 200
        kept.sendall(GET)
        assert read_response(kept)[0] == 200
    served.path.unlink()
    served.path.write_text("mine")
    assert not served.server.still_ours()
    assert "in the way" in served.run(served.server.restart())
    assert served.path.read_text() == "mine"
    served.path.unlink()
    assert not served.server.still_ours()
    assert served.run(served.server.restart()) == ""
    assert ask(served.path)[0] == 200
    assert served.counted("socket_recreated") == 2


def test_stopping_leaves_a_file_that_is_not_ours(short: Path) -> None:
    """What took the socket's place meanwhile is somebody's."""
    running = Served(short / "run/status.sock")
    running.path.unlink()
    running.path.write_text("mine")
    running.stop()
    assert running.path.read_text() == "mine"


def test_an_inherited_socket_is_served_and_its_file_left(short: Path) -> None:
    """A socket unit made it and keeps it over restarts."""
    path = short / "s"
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
        made.listen()
        running = Served(path, inherited=made)
        assert ask(path)[0] == 200
        assert running.server.still_ours()
        running.stop()
    assert path.is_socket()


def test_a_path_too_long_is_served_at_its_short_one(tmp_path: Path) -> None:
    """In a deep home folder daemon and client meet all the same (never-again 68)."""
    deep = tmp_path / ("d" * 100)
    places = resolve({"MEMSYNCD_HOME": str(deep)}, Path("/home/ada"), UID, sys.platform)
    assert places.socket_is_shortened
    running = Served(places.status_socket)
    try:
        assert SocketClient(places.status_socket).get("/x")["path"] == "/x"
        assert stat.S_IMODE(places.runtime.stat().st_mode) == 0o700
    finally:
        running.stop()
