"""Ends that no hook told, and stops at bad moments."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

from daemon.api_key.command import COMMAND_SECONDS
from tests.end_to_end.conftest import Home
from tests.fakes.mem0_api import KEY

STOP_AT_START = """
import os, signal, sys
from pathlib import Path
from daemon import start
from daemon.compose import compose
from daemon.places import resolve
from daemon.settings import load

def composed(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    return compose(*arguments)

start.compose = composed
places = resolve(os.environ, Path(os.environ["HOME"]), os.getuid(), sys.platform)
sys.exit(start.run(places, load(places, os.environ, {}).settings, os.environ, on_ready=lambda: print("ready")))
"""

OLD = "2026-01-05T10:00:00.000Z"


def drop(home: Home, name: str, action: str, **hook_input: str) -> None:
    pending = home.spool() / "pending"
    pending.mkdir(parents=True, mode=0o700, exist_ok=True)
    for directory in (home.places.data, home.places.spools, home.spool()):
        directory.chmod(0o700)
    whole = {"session_id": "s", "cwd": str(home.project), "prompt_id": "p1", **hook_input}
    document = {"v": 1, "id": name, "harness": "claude-code", "action": action, "captured_at": OLD, "hook_input": whole}
    (pending / f"{name}.json").write_text(json.dumps(document))


def test_run_once_delivers_a_session_that_was_silent_for_long(hosted: Home) -> None:
    """No hook told its end; the times of its events do."""
    assert hosted.api is not None
    drop(hosted, "1", "user-prompt", prompt="We decided on tabs.")
    drop(hosted, "2", "stop", last_assistant_message="Noted.")
    assert hosted.run("run", "--once").returncode == 0
    assert len(hosted.api.accepted_batches()) == 1


def test_what_follows_a_compaction_is_delivered_with_a_session_that_ended(hosted: Home) -> None:
    """The periodic packet before it is not the end of what there is to send."""
    assert hosted.api is not None
    for number in range(5):
        drop(hosted, f"{number}a", "user-prompt", prompt=f"We decided on tool {number}.", prompt_id=f"p{number}")
        drop(hosted, f"{number}b", "stop", last_assistant_message="Noted.", prompt_id=f"p{number}")
    drop(hosted, "6", "session-start", source="compact")
    drop(hosted, "7a", "user-prompt", prompt="And we decided on tabs.", prompt_id="p7")
    drop(hosted, "7b", "stop", last_assistant_message="Noted.", prompt_id="p7")
    assert hosted.run("run", "--once").returncode == 0
    told = [content for role, content in hosted.api.delivered_messages() if role == "user"]
    assert len(told) == 6


def test_a_daemon_whose_data_directory_was_removed_ends(home: Home) -> None:
    """Another could be started in its place, and both would serve it."""
    daemon = home.start()
    home.places.data.rename(home.root / "away")
    assert daemon.wait(60) == 1
    assert "lock-lost" in home.logged()


def test_a_signal_during_the_start_ends_it_cleanly(home: Home) -> None:
    """With 0, and without having said that it is ready."""
    done = subprocess.run(
        [sys.executable, "-c", STOP_AT_START], env=home.environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ready" not in done.stdout + done.stderr


def test_a_command_that_is_asked_for_the_key_holds_no_stop_up(hosted: Home) -> None:
    """It is ended with the signal, not waited for."""
    note = hosted.root / "note"
    del hosted.environ["MEM0_API_KEY"]
    hosted.environ["MEMSYNCD_PLATFORM_API_KEY_COMMAND"] = f"sh -c 'echo x > {note}; sleep 60; echo {KEY}'"
    hosted.start()
    hosted.until(note.exists, "the command was not run")
    began = time.monotonic()
    assert hosted.stop() == 0
    assert time.monotonic() - began < COMMAND_SECONDS - 1.0, "it was given the time that a command gets"


def test_a_store_that_another_program_has_locked_delays_a_stop_by_less_than_5_seconds(home: Home) -> None:
    """Ingest and workers end against one deadline, not one after the other. One of three counts: another process may have
    had the processor."""
    assert any(time_of_stop_with_a_lock(home, number) < 5.0 for number in range(3))


def time_of_stop_with_a_lock(home: Home, number: int) -> float:
    home.start()
    home.exchange("s", 2 * number)
    home.until_quiet()
    with closing(sqlite3.connect(home.spool() / "evidence.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        home.run("flush", "--json")
        home.exchange("s", 2 * number + 1)
        home.until(lambda: home.status()["jobs"]["claimed"] and home.status()["spools"][0]["running"], "nothing waits")
        began = time.monotonic()
        home.stop(signal.SIGTERM)
        return time.monotonic() - began
