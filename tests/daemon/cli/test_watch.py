"""`status --watch` and colours on a real pseudo-terminal, against a real socket."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.status_socket.socket_file import listen

ROOT = Path(__file__).parents[3]
DEADLINE = 20.0
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command on a pseudo-terminal of 100 by 40."""

    def __init__(self, home: Path, *words: str, **environ: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        given = {"HOME": str(home), "MEMSYNCD_HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", **environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "daemon", *words],
            cwd=ROOT, env=given, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def until(self, text: str) -> None:
        """Read until `text` has come, colours left out."""
        end = time.monotonic() + DEADLINE
        while text not in CONTROL.sub("", self.seen):
            ready, _, _ = select.select([self.master], [], [], max(end - time.monotonic(), 0.0))
            assert ready, f"{text!r} did not come: {self.seen[-2000:]!r}"
            try:
                self.seen += os.read(self.master, 65536).decode()
            except OSError:
                pytest.fail(f"it ended before {text!r} came: {self.seen[-2000:]}")

    def rest(self) -> str:
        """Read to the end, which a terminal tells by an error."""
        with contextlib.suppress(OSError):
            while chunk := os.read(self.master, 65536):
                self.seen += chunk.decode()
        return self.seen

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)
        os.close(self.master)


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


@contextlib.contextmanager
def terminal(home: Path, *words: str, **environ: str) -> Iterator[Terminal]:
    opened = Terminal(home, *words, **environ)
    try:
        yield opened
    finally:
        opened.close()


SERVER = """
import asyncio, sys
from pathlib import Path
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from daemon.status.report import StatusParts, status_document

class View:
    def status(self):
        return status_document(StatusParts(version=sys.argv[2], now=1.8e9, pid=7, started_at=1.8e9))

async def serve():
    listening = HttpSocket(Path(sys.argv[1]), routes(View()))
    await listening.start()
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(serve())
"""


@contextlib.contextmanager
def daemon(home: Path, version: str) -> Iterator[None]:
    """Run a process that answers /status as a daemon of that version."""
    (home / "run").mkdir(mode=0o700, exist_ok=True)
    socket = str(home / "run/status.sock")
    process = subprocess.Popen([sys.executable, "-c", SERVER, socket, version], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


def test_watch_survives_the_daemon_going_and_coming(home: Path) -> None:
    """The screen follows the daemon down and up again; Ctrl-C ends it with 0, quietly, the cursor back."""
    with terminal(home, "status", "--watch") as screen:
        screen.until("The daemon is not running")
        with daemon(home, "1.1.1"):
            screen.until("1.1.1, pid 7")
            screen.seen = ""
        screen.until("The daemon is not running")
        with daemon(home, "2.2.2"):
            screen.until("2.2.2, pid 7")
        screen.process.send_signal(signal.SIGINT)
        assert screen.process.wait(DEADLINE) == 0
        left = screen.rest()
    assert "Traceback" not in left
    assert left.rstrip().endswith("\x1b[?25h")


def test_watch_ended_by_a_signal_gives_the_cursor_back(home: Path) -> None:
    """SIGTERM ends the watching as cleanly as Ctrl-C."""
    with terminal(home, "status", "--watch") as screen:
        screen.until("Ctrl-C ends")
        screen.process.send_signal(signal.SIGTERM)
        assert screen.process.wait(DEADLINE) == 0
        assert screen.rest().rstrip().endswith("\x1b[?25h")


def test_watch_fits_the_terminal(home: Path) -> None:
    """No line is drawn wider than the 100 columns."""
    with terminal(home, "status", "--watch", MEMSYNCD_HOME=str(home / ("x" * 60) / ("y" * 60))) as screen:
        screen.until("Ctrl-C ends")
    assert max(len(line) for line in CONTROL.sub("", screen.seen).splitlines()) <= 100


def test_colours_only_where_wanted(home: Path) -> None:
    """A terminal gets colour; NO_COLOR, a dumb terminal and a pipe get none."""
    with terminal(home, "status") as screen:
        assert "\x1b[31m" in screen.rest()
        assert screen.process.wait(DEADLINE) == 3
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with terminal(home, "status", **environ) as screen:
            assert "\x1b" not in screen.rest()
    piped = subprocess.run(
        [sys.executable, "-m", "daemon", "status"],
        cwd=ROOT, env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, capture_output=True, timeout=DEADLINE, check=False,
    )  # fmt: skip
    assert b"\x1b" not in piped.stdout


def test_an_encoding_without_our_marks(home: Path) -> None:
    """Where the terminal's encoding has no bullet and no arrow, plain ones stand in."""
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "status"],
        cwd=ROOT,
        env={"HOME": str(home), "MEMSYNCD_HOME": str(home), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert ended.stdout.startswith(b"! down: The daemon is not running")


def test_watch_without_a_terminal(home: Path) -> None:
    """Without a terminal --watch is wrong use; with --json it prints a line at a time until it is ended."""
    words = [sys.executable, "-m", "daemon", "status", "--watch"]
    environ = {"HOME": str(home), "MEMSYNCD_HOME": str(home)}
    ended = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, timeout=DEADLINE, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"--json" in ended.stderr
    with subprocess.Popen([*words, "--json"], cwd=ROOT, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline())["state"] for _ in range(2)] == ["down", "down"]
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0


def test_a_silent_socket_does_not_hang_the_status(home: Path) -> None:
    """A socket that was left behind by a killed daemon is no daemon: exit 3 at once."""
    (home / "run").mkdir(mode=0o700)
    listen(home / "run/status.sock", uid=os.geteuid()).close()
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "status", "--json"],
        cwd=ROOT, env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, capture_output=True, timeout=DEADLINE, check=False,
    )  # fmt: skip
    assert ended.returncode == 3
    assert json.loads(ended.stdout)["state"] == "down"


def test_status_loads_only_what_it_needs(home: Path) -> None:
    """With a daemon that answers, `status` loads no queue, database, event loop, settings or rich."""
    script = (
        "import sys; from daemon.__main__ import main; code = main(['status']);"
        "heavy = {'rich', 'huey', 'sqlite3', 'asyncio', 'httpx', 'msgspec', 'structlog', 'daemon.status.offline'};"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    with daemon(home, "1.1.1"):
        ended = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT, env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, capture_output=True, timeout=DEADLINE, check=True,
        )  # fmt: skip
    assert ended.stdout.decode().endswith("\n0 []\n")
