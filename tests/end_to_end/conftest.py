"""A fresh home with a real daemon in a process of its own, and real hooks."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from daemon.places import Places, resolve
from daemon.status_socket.client import ClientError, SocketClient
from memsyncd.hooks.command_line import command_line
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.uncounted import leave_out

PATIENCE = 60.0
"""Seconds an expected state may take on a busy machine; nothing sleeps that long when it is there sooner."""


class Home:
    """One user's machine: its directories, its environment, its daemon, its hooks."""

    def __init__(self, root: Path, api: FakeMem0 | None = None) -> None:
        self.root = root
        self.api = api
        self.program = [sys.executable, "-m", "daemon"]
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "USER": "ada",
            "MEMSYNCD_HOME": str(root / "m"),
            **{name: value for name, value in os.environ.items() if name.startswith(("COVERAGE", "COV_"))},
        }
        if api is not None:
            self.environ |= {
                "MEM0_API_URL": api.url,
                "MEM0_API_KEY": KEY,
                "MEM0_CODE_EVENT_POLL_SECONDS": "0.1",
            }
        self.places: Places = resolve(self.environ, root, os.getuid(), sys.platform)
        self.client = SocketClient(self.places.status_socket)
        self.daemon: subprocess.Popen[bytes] | None = None
        self.log = root / "daemon.log"
        self.project = root / "shop"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (self.project / ".git" / "config").write_text(
            '[remote "origin"]\n\turl = git@git.example.org:corner/shop.git\n'
        )

    def spool(self, harness: str = "claude-code") -> Path:
        return self.places.spools / harness

    def start(self, *arguments: str, wait: bool = True) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            self.daemon = subprocess.Popen(
                [*self.program, "run", *arguments],
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        if wait:
            self.until(lambda: self.status()["state"] != "starting", "the daemon did not get ready")
        return self.daemon

    def stop(self, number: int = signal.SIGTERM, timeout: float = 60.0) -> int:
        assert self.daemon is not None
        self.daemon.send_signal(number)
        code = self.daemon.wait(timeout)
        self.daemon = None
        return code

    def run(self, *arguments: str, timeout: float = 60.0, **kwargs: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "daemon", *arguments],
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            **kwargs,
        )

    def hook(
        self,
        action: str,
        hook_input: Mapping[str, Any],
        *,
        reason: str = "",
        harness: str = "claude-code",
        cwd: Path | None = None,
    ) -> None:
        line = command_line(action, harness, reason=reason)
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            input=json.dumps(hook_input).encode(),
            cwd=cwd,
            env=self.environ,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert action == "user-prompt" or not done.stdout  # which may be told what earlier sessions left

    def exchange(self, session: str, number: int, *, prompt: str = "", answer: str = "") -> None:
        """Let an agent ask and answer once."""
        common = {"session_id": session, "cwd": str(self.project), "prompt_id": f"{session}-p{number}"}
        self.hook("user-prompt", {**common, "prompt": prompt or f"Question {number} of {session}?"})
        self.hook("stop", {**common, "last_assistant_message": answer or f"Answer {number} of {session}."})

    def end(self, session: str) -> None:
        self.hook("flush", {"session_id": session, "cwd": str(self.project), "reason": "other"}, reason="session-end")

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = self.client.get("/status")
        return status

    def counted(self, name: str) -> int:
        """Return one of the daemon's counters; what it counts may be there a moment before."""
        return int(self.status()["counters"].get(name, 0))

    def is_quiet(self) -> bool:
        """Whether everything dropped was taken in, delivered and confirmed."""
        status = self.status()
        waiting = sum(spool["pending"] + spool["running"] for spool in status["spools"])
        jobs = status["jobs"]
        return not waiting and not jobs["ready"] and not jobs["claimed"] and not status["extraction"]["open"]

    def until(self, condition: Callable[[], Any], failure: str, timeout: float = PATIENCE) -> None:
        end = time.monotonic() + timeout
        while True:
            try:
                if condition():
                    return
            except ClientError:
                if self.daemon is not None and self.daemon.poll() is not None:
                    pytest.fail(f"the daemon ended with {self.daemon.returncode}: {self.logged()[-2000:]}")
            if time.monotonic() > end:
                pytest.fail(f"{failure}; log: {self.logged()[-2000:]}")
            time.sleep(0.02)

    def until_quiet(self, timeout: float = PATIENCE) -> None:
        self.until(self.is_quiet, "not everything was delivered", timeout)

    def delete(self, directory: Path) -> None:
        """Delete what the daemon may be writing to at this moment, in one step."""
        away = self.root / "deleted"
        directory.rename(away)
        shutil.rmtree(away)

    def logged(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def close(self) -> None:
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        shutil.rmtree(self.root, ignore_errors=True)


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count no coverage in the daemons of a test: for files whose many daemons run what others run too."""
    leave_out(monkeypatch)


@pytest.fixture
def api() -> Iterator[FakeMem0]:
    with FakeMem0() as fake:
        yield fake


def _home(api: FakeMem0 | None) -> Iterator[Home]:
    home = Home(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")), api)  # short, for the socket's path
    try:
        yield home
    finally:
        home.close()


@pytest.fixture
def home() -> Iterator[Home]:
    """On the embedded platform."""
    yield from _home(None)


@pytest.fixture
def hosted(api: FakeMem0) -> Iterator[Home]:
    """On the hosted platform, which is a fake on loopback."""
    yield from _home(api)
