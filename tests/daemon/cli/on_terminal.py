"""A command on a pseudo-terminal, as a person has it, and a process that answers as a daemon would."""

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
DEADLINE = 60.0
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command that has a pseudo-terminal as its controlling one, 100 columns by 40 rows unless told otherwise."""

    def __init__(
        self, home: Path, *words: str, columns: int = 100, rows: int = 40, program: str = "", **environ: str
    ) -> None:
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(slave)
        given = {"HOME": str(home), "MEMSYNCD_HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", **environ}
        self.process = subprocess.Popen(
            [sys.executable, *(("-c", program) if program else ("-m", "daemon")), *words],
            cwd=ROOT, env=given, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  (one system call)
        )  # fmt: skip
        self.slave = slave
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may come in two pieces
        self.is_hung_up = False

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size, of which the command is told."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self.master, keys.encode())

    def until(self, text: str, *, raw: bool = False) -> None:
        """Read until `text` has come: without what steers a terminal, or `raw`, with it."""
        end = time.monotonic() + DEADLINE
        while text not in (self.seen if raw else self.plain()):
            ready, _, _ = select.select([self.master], [], [], max(end - time.monotonic(), 0.0))
            assert ready, f"{text!r} did not come: {self.seen[-2000:]!r}"
            self._take()

    def plain(self) -> str:
        """Return what was seen, without what steers a terminal."""
        return CONTROL.sub("", self.seen)

    def forget(self) -> None:
        """Begin to look anew."""
        self.seen = ""

    def ended(self) -> int:
        """Wait for the command's end; return its code. What it wrote is in `seen`."""
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it did not end: {self.seen[-2000:]!r}"
            self._read(0.05)
        self._read(0.0)
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether the terminal's modes are those it had."""
        return bool(termios.tcgetattr(self.slave) == self.modes)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.slave)
        os.close(self.master)
        self.is_hung_up = True

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)
        if not self.is_hung_up:
            self.hang_up()

    def _read(self, seconds: float) -> None:
        while select.select([self.master], [], [], seconds)[0]:
            self._take()

    def _take(self) -> None:
        self.seen += self._decoder.decode(os.read(self.master, 65536))


@contextlib.contextmanager
def terminal(home: Path, *words: str, **given: Any) -> Iterator[Terminal]:
    opened = Terminal(home, *words, **given)
    try:
        yield opened
    finally:
        opened.close()


SERVER = """
import asyncio, sys, time
from pathlib import Path
from daemon.status.given_up import GivenUp
from daemon.status.report import StatusParts, status_document
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from jobs.queue.contract import QueueCounts
from memsyncd.clock import rfc3339

DEAD = {"id": "flush:codex:p", "kind": "flush", "state": "dead", "reason": "refused"}

class View:
    paused, dead, silent, asked = False, 1, "silent" in sys.argv, -1

    def status(self):
        if self.silent:
            time.sleep(60)
        View.asked += 1
        counters = {"packets_delivered": 5, "remote_memories_forgotten": 2 * self.asked}
        counts = QueueCounts(ready=3, waiting=0, claimed=0, done=0, dead=self.dead, cancelled=0, oldest_ready_seconds=0)
        return status_document(StatusParts(
            version=sys.argv[2], now=time.time(), pid=7, run_id=sys.argv[2], started_at=1.8e9, jobs=counts,
            given_up=GivenUp(packets=self.dead), paused=self.paused, counters=counters))

    def health(self):
        return "ill" not in sys.argv, ["The platform refuses the key."]

    def history(self, minutes):
        now = time.time()
        sample = {"at": rfc3339(now - 120), "pending": 41, "delivered": 7, "delivery_seconds": 1.5}
        return {"at": rfc3339(now), "minute_seconds": 60, "samples": [sample]}

    def jobs(self, state, kind, limit):
        return [DEAD] if self.dead else []

    def retry(self, job_id):
        View.dead = 0
        return "done"

    async def flush(self, session, cwd, wait_seconds):
        return {"outcome": "delivered", "packets": 2, "reason": ""}

class Acts:
    def pause(self, project, seconds):
        View.paused = True
        return {"outcome": "done", "paused": True, "project": None, "until": None}

    def resume(self, project):
        View.paused = False
        return {"outcome": "done", "paused": False, "project": None, "paused_projects": []}

async def serve():
    listening = HttpSocket(Path(sys.argv[1]), routes(View(), Acts()))
    await listening.start()
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(serve())
"""


@contextlib.contextmanager
def daemon(home: Path, version: str, *how: str) -> Iterator[None]:
    """Run a process that answers as a daemon of that version; `silent` where it is to take a minute for its status,
    `ill` where it is not well."""
    (home / "run").mkdir(mode=0o700, exist_ok=True)
    socket = str(home / "run/status.sock")
    process = subprocess.Popen([sys.executable, "-c", SERVER, socket, version, *how], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)
