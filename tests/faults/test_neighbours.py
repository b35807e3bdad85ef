"""Two daemons at one directory, and an old and a new version side by side: code, hooks, commands and files of a day ago
(commit 624c7ce) with those of today."""

import json
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Home
from tests.end_to_end.test_yesterday import FIXTURES
from tests.faults.seen import delivered, plain, session, until_delivered, until_told, until_well
from tests.standing_still import stand_still


class Yesterday:
    """That version's own code."""

    def __init__(self, place: Path) -> None:
        with tarfile.open(FIXTURES / "version-of-2026-11-30.tar.xz") as code:
            code.extractall(place, filter="data")
        self._place = place
        self.program = ["env", f"PYTHONPATH={place}", sys.executable, "-P", "-m", "daemon"]

    def run(self, home: Home, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run one of its commands."""
        return subprocess.run(
            [*self.program, *arguments], env=home.environ, capture_output=True, text=True, timeout=60, check=False
        )

    def session(self, home: Home, name: str) -> None:
        """Let its hooks tell of a session: by lines as they were printed first, without a guard, and by the command."""
        drop = self._place / "memsyncd" / "hooks" / "drop.py"
        told: list[tuple[list[str], dict[str, Any]]] = [
            ([sys.executable, "-I", str(drop), "user-prompt"], {"prompt": f"Question of {name}?", "prompt_id": "p"}),
            ([sys.executable, "-I", "-S", str(drop), "stop"], {"last_assistant_message": "Yes.", "prompt_id": "p"}),
            ([*self.program, "hook", "flush", "--reason", "session-end"], {}),
        ]
        for words, more in told:
            done = subprocess.run(
                [*words, "--harness", "claude-code"],
                input=json.dumps({"session_id": name, "cwd": str(home.project), **more}).encode(),
                env=home.environ,
                capture_output=True,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture
def yesterday(tmp_path: Path) -> Yesterday:
    return Yesterday(tmp_path / "yesterday")


def test_two_daemons(hosted: Home) -> None:
    """The second says who is first, with 4; the first goes on, also stopped or mute it is not taken for dead; and once
    it is gone the next starts."""
    first = hosted.start()
    session(hosted, "before")
    for arguments in (("run",), ("run", "--once")):
        second = hosted.run(*arguments)
        assert second.returncode == 4
        assert f"pid {first.pid}" in second.stderr
    stand_still(first.pid)
    assert hosted.run("run").returncode == 4
    first.send_signal(signal.SIGCONT)
    until_delivered(hosted, "before")
    assert hosted.stop() == 0
    session(hosted, "after")
    assert hosted.run("run", "--once").returncode == 0
    assert delivered(hosted) == ["after", "before"]


def test_a_data_directory_taken_away_from_its_daemon(hosted: Home) -> None:
    """Its lock is worth nothing any more, so it ends and says why; what a new one then finds there is its own, and what
    was taken away is delivered once it is back."""
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    hosted.stop()
    session(hosted, "waits")
    daemon = hosted.start(wait=False)
    away = hosted.root / "away"
    hosted.until(lambda: delivered(hosted) == ["before", "waits"] and hosted.is_quiet(), "not delivered")
    hosted.places.data.rename(away)
    assert daemon.wait(60) == 1
    assert "lock-lost" in hosted.logged()
    session(hosted, "anew")
    hosted.start()
    hosted.until(lambda: delivered(hosted) == ["anew", "before", "waits"], "the new one does not serve")
    assert hosted.stop() == 0
    shutil.rmtree(hosted.places.data)
    away.rename(hosted.places.data)
    session(hosted, "back")
    hosted.start()
    until_delivered(hosted, "anew", "back", "before", "waits")


def test_an_old_daemon_with_new_hooks_and_commands(hosted: Home, yesterday: Yesterday) -> None:
    """It serves what today's hooks drop and answers today's commands; killed, it leaves what today's daemon delivers."""
    today, hosted.program = hosted.program, yesterday.program
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    for arguments, code in ((("status",), 0), (("jobs", "list"), 0), (("flush", "--wait"), 0), (("run",), 4)):
        assert hosted.run(*arguments).returncode == code, arguments
    assert hosted.api is not None
    hosted.api.refuse_connections()
    session(hosted, "waits")
    hosted.until(lambda: hosted.status()["jobs"]["waiting"] > 1, "nothing waits")
    hosted.stop(signal.SIGKILL)
    hosted.program = today
    hosted.api.accept_connections()
    hosted.start()
    session(hosted, "after")
    until_delivered(hosted, "after", "before", "waits")
    hosted.until(lambda: hosted.status()["state"] == "ok", "not well")


def test_a_new_daemon_with_old_hooks_and_commands(hosted: Home, yesterday: Yesterday) -> None:
    """A harness keeps the lines it was given, and a shell the program it has: both do as before."""
    hosted.start()
    yesterday.session(hosted, "s")
    until_delivered(hosted, "s")
    for arguments, code in ((("status",), 0), (("jobs", "list"), 0), (("flush", "--wait"), 0), (("run",), 4)):
        assert yesterday.run(hosted, *arguments).returncode == code, arguments


def test_back_to_the_old_version(hosted: Home, yesterday: Yesterday) -> None:
    """It leaves evidence of a newer form as it is, byte for byte, and says so with what to do; a neighbour of which it
    has none is served; with the new version again all is delivered."""
    today = hosted.program
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    assert hosted.stop() == 0
    evidence = hosted.spool() / "evidence.sqlite3"
    kept = evidence.read_bytes()
    hosted.program = yesterday.program
    hosted.start()
    session(hosted, "waits")
    session(hosted, "beside", "codex")
    until_told(hosted, "newer-evidence", "pgrade")
    hosted.until(lambda: delivered(hosted) == ["before", "beside"], "the neighbour is not delivered")
    assert "upgrade memsyncd" in plain(yesterday.run(hosted, "status").stdout).lower()
    assert hosted.stop() == 0
    assert evidence.read_bytes() == kept
    hosted.program = today
    hosted.start()
    until_delivered(hosted, "before", "beside", "waits")
    until_well(hosted, "newer-evidence")
