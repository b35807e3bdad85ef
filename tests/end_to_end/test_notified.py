"""A real daemon under a service manager that the test plays: its messages, its socket, its reload."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from daemon.status_socket.client import SocketClient
from tests.end_to_end.conftest import Home


class Manager:
    """Receives what a daemon tells, in order."""

    def __init__(self, home: Home) -> None:
        self.address = str(home.root / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.address)
        self.socket.settimeout(60)

    def until(self, line: str) -> list[str]:
        """Return the messages up to the first with this line."""
        seen: list[str] = []
        while not seen or line not in seen[-1].splitlines():
            seen.append(self.socket.recv(4096).decode())
        return seen


@pytest.fixture
def manager(home: Home) -> Iterator[Manager]:
    made = Manager(home)
    home.environ |= {"NOTIFY_SOCKET": made.address, "WATCHDOG_USEC": "1500000"}
    yield made
    made.socket.close()


def test_ready_alive_reloaded_and_stopping_are_told(home: Home, manager: Manager) -> None:
    """READY=1 comes once the spools have been looked at, signs of life after it; SIGHUP takes new settings in the same
    process and announces both ends of it; wrong settings are told in the status, and the old ones stay in effect."""
    daemon = home.start()
    manager.until("READY=1")
    first, second = manager.until("WATCHDOG=1"), manager.until("WATCHDOG=1")
    assert "STATUS=Nothing waits" in (first + second)[-1]

    home.places.config_file.write_text('[log]\nlevel = "debug"\n')
    daemon.send_signal(signal.SIGHUP)
    told = manager.until("READY=1")
    assert any(message.startswith("RELOADING=1") for message in told)
    assert not any("STOPPING=1" in message for message in told)
    assert home.status()["pid"] == daemon.pid

    home.places.config_file.write_text("[lgo]\n")
    daemon.send_signal(signal.SIGHUP)
    home.until(lambda: home.status()["problems"], "wrong settings are not told")
    assert [problem["code"] for problem in home.status()["problems"]] == ["config-wrong"]
    assert home.stop() == 0
    assert manager.until("STOPPING=1")


def test_without_a_manager_a_hangup_ends_it(home: Home) -> None:
    """A terminal that is closed takes the daemon in it along."""
    home.start()
    assert home.stop(signal.SIGHUP) == 0


def test_a_socket_that_was_handed_over_is_served_and_kept(home: Home) -> None:
    """Who asked before the daemon was there is answered; commands find that socket; at the end its file stays, for it
    is the manager's."""
    path = home.root / "handed"
    script = (
        "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); "
        "os.set_inheritable(3, True); os.execv(sys.executable, [sys.executable, '-m', 'daemon', 'run'])"
    )
    with socket.socket(socket.AF_UNIX) as listener, home.log.open("ab") as log:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen()
        given = listener.fileno()
        words = [sys.executable, "-c", script, str(given)]
        home.daemon = subprocess.Popen(words, env=home.environ, stderr=log, pass_fds=[given])
    first = SocketClient(path).get("/status", seconds=60)
    assert first["pid"] == home.daemon.pid
    found = json.loads(home.run("status", "--json").stdout)
    assert found["pid"] == first["pid"]
    assert home.stop() == 0
    assert path.is_socket()


def test_a_stop_beats_a_reload(home: Home, manager: Manager) -> None:
    """Whoever asks for both at once gets the end."""
    daemon = home.start()
    manager.until("READY=1")
    daemon.send_signal(signal.SIGHUP)
    assert home.stop() == 0
