"""A real daemon in a process of its own, on a throw-away home, with a repository to work in."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench import process_figures
from daemon.places import resolve
from daemon.status_socket.client import ClientError, SocketClient

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60.0
STOP_SECONDS = 10.0


class DaemonAtWork:
    """`python -m daemon run` with the given environment; `url` and `key` make it deliver to a hosted platform.

    As a context it starts at once; its home is removed at the end.
    """

    def __init__(
        self, *, url: str = "", key: str = "", program: Sequence[str] = ("-m", "daemon"), **settings: str
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="mb-", dir="/tmp"))  # short, for the socket's path
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "USER": "ada",
            "MEMSYNCD_HOME": str(self.root / "m"),
            **settings,
        }
        if url:
            self.environ |= {"MEM0_API_URL": url, "MEM0_API_KEY": key}
        self.places = resolve(self.environ, self.root, os.getuid(), sys.platform)
        self.client = SocketClient(self.places.status_socket)
        self.project = self.root / "shop"
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._make_project()

    @property
    def pid(self) -> int:
        """The daemon's process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def pending(self) -> Path:
        """Where Claude Code's handoffs wait."""
        return self.places.spools / "claude-code" / "pending"

    def start(self) -> None:
        """Start the daemon; returns at once."""
        with (self.root / "daemon.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self._program, "run"],
                env=self.environ,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stderr=log,
            )

    def until_ready(self) -> None:
        """Wait for the first whole scan."""
        process_figures.until(self._is_ready, START_SECONDS, "the daemon did not get ready")

    def status(self) -> dict[str, Any]:
        """Return the daemon's own account."""
        status: dict[str, Any] = self.client.get("/status")
        return status

    def is_quiet(self) -> bool:
        """Whether everything dropped was taken in, delivered and confirmed."""
        status = self.status()
        waiting = sum(spool["pending"] + spool["running"] for spool in status["spools"])
        jobs = status["jobs"]
        return not waiting and not jobs["ready"] and not jobs["claimed"] and not status["extraction"]["open"]

    def until_quiet(self, seconds: float) -> None:
        """Wait until nothing is left to do."""
        process_figures.until(self.is_quiet, seconds, "the daemon did not come to rest", pause=0.1)

    def figures(self) -> process_figures.Figures:
        """Return what the kernel says of the daemon."""
        return process_figures.look(self.pid)

    def cpu_seconds(self) -> float:
        """Return the daemon's processor time so far."""
        return process_figures.cpu_seconds(self.pid)

    def stop(self) -> None:
        """Stop the daemon as a service manager does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        try:
            self.start()
            self.until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop, and remove the home."""
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def _is_ready(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            log = (self.root / "daemon.log").read_text(errors="replace")
            raise SystemExit(f"the daemon ended with {self._process.returncode}: {log[-2000:]}")
        try:
            return bool(self.status()["state"] != "starting")
        except ClientError:
            return False

    def _make_project(self) -> None:
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (self.project / ".git" / "config").write_text(
            '[remote "origin"]\n\turl = git@git.example.org:corner/shop.git\n'
        )
