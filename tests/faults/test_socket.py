"""The status socket: another user at it, taken away, and something else in its place."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from memsyncd.hooks.recalling import TOTAL_SECONDS
from tests.end_to_end.conftest import Home
from tests.faults.conftest import need_root
from tests.faults.seen import plain, problem, session, until_delivered
from tests.standing_still import stand_still

STRANGER = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
connected = socket.socket(socket.AF_UNIX)
connected.settimeout(60)
try:
    connected.connect(sys.argv[1])
    connected.sendall(b"GET /status HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    sys.stdout.write(repr(connected.recv(4096)))
except OSError as error:
    sys.stdout.write(type(error).__name__)
"""


def asked_by_another(path: Path) -> str:
    """Return what another user of the machine is told."""
    done = subprocess.run([sys.executable, "-c", STRANGER, path], capture_output=True, text=True, check=True, cwd="/")
    return done.stdout


def doctored(home: Home, name: str) -> dict[str, str]:
    checks = json.loads(home.run("doctor", "--json").stdout)["checks"]
    return next(check for check in checks if check["name"] == name)


def prompted(home: Home) -> float:
    """Run a prompt's hook; return how many seconds the agent waited for it."""
    began = time.monotonic()
    home.hook("user-prompt", {"session_id": "s", "cwd": str(home.project), "prompt": "Which port does staging use?"})
    return time.monotonic() - began


def test_a_daemon_that_hangs(hosted: Home) -> None:
    """One prompt waits for it, and those after it do not; a command that waits for as long as it takes says what to do;
    and once it goes on it is asked again."""
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    stand_still(daemon.pid)
    try:
        assert prompted(hosted) > TOTAL_SECONDS - 0.2
        assert any(prompted(hosted) < TOTAL_SECONDS / 2 for _ in range(10))  # others may have the processor
        flushed = hosted.run("flush", "--wait")
        assert flushed.returncode == 1
        assert f"kill -9 {daemon.pid}" in " ".join(flushed.stderr.split())
    finally:
        daemon.send_signal(signal.SIGCONT)
    hosted.until(lambda: not (hosted.places.data / "unanswered").exists(), "it is not asked again")
    hosted.end("s")
    until_delivered(hosted, "before", "s")


def test_another_user_at_a_socket_that_was_opened_to_all(hosted: Home) -> None:
    """The kernel's word counts where modes were opened by mistake: no answer, one count, and the owner is served; the
    doctor names what is open and how to close it."""
    need_root()
    hosted.start()
    socket = hosted.places.status_socket
    assert asked_by_another(socket) == "PermissionError"
    opened = [hosted.root, hosted.places.data, socket.parent]
    for directory in opened:
        directory.chmod(0o755)
    socket.chmod(0o666)
    assert asked_by_another(socket) in ("b''", "ConnectionResetError", "BrokenPipeError")
    assert hosted.status()["counters"]["socket_peers_refused"] == 1
    session(hosted, "beside")
    until_delivered(hosted, "beside")
    found = doctored(hosted, "modes")
    assert not found["ok"]
    assert f"chmod 700 {hosted.places.data}" in found["remedy"]
    for directory in opened:
        directory.chmod(0o700)
    assert asked_by_another(socket) == "PermissionError"
    assert doctored(hosted, "modes")["ok"]


def test_a_socket_that_was_removed(hosted: Home) -> None:
    """It is there again at the next round; work goes on without it, and a command says meanwhile that nobody answers."""
    hosted.start()
    hosted.places.status_socket.unlink()
    session(hosted, "s")
    hosted.until(lambda: hosted.status()["counters"].get("socket_recreated"), "not made again")
    until_delivered(hosted, "s")
    hosted.until(lambda: hosted.status()["state"] == "ok", "it is not well again")


def test_something_else_in_the_sockets_place(hosted: Home) -> None:
    """It is kept as it is, and the work goes on; `status` tells it from the files, with what to type, and once it is
    moved away the daemon answers again."""
    hosted.start()
    socket = hosted.places.status_socket
    socket.unlink()
    socket.write_text("a letter")
    session(hosted, "s")
    assert hosted.api is not None
    hosted.api.wait_for(lambda fake: fake.accepted_batches())
    done = hosted.run("status")
    assert done.returncode == 1
    assert "does not answer" in plain(done.stdout)
    assert str(socket) in done.stdout
    assert socket.read_text() == "a letter"
    socket.unlink()
    until_delivered(hosted, "s")
    hosted.until(lambda: not problem(hosted, "socket-foreign"), "it is told still")
