"""What `run` says before it runs, and how it tells to call itself."""

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.cli.run import called, welcome
from daemon.places import resolve
from daemon.settings import Platform, Settings
from daemon.status_socket.client import SocketClient
from tests import uncounted

ROOT = Path(__file__).parents[3]
DEADLINE = 60.0


def test_welcome_tells_where_and_what_next(tmp_path: Path) -> None:
    """Spool, socket and platform, then demo, status and the hooks' installation; with MEMSYNCD_HOME, that first."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path / "a b")}, tmp_path, os.getuid(), "linux")
    assert welcome(places, Settings(), ".venv/bin/memsyncd").splitlines() == [
        f"spools    {tmp_path}/a b/spools/<harness>",
        f"socket    {places.status_socket}",
        "platform  local, embedded: memories stay on this machine",
        "next, in another terminal:",
        f"  export MEMSYNCD_HOME='{tmp_path}/a b'",
        "  .venv/bin/memsyncd demo    the whole path in a throw-away directory",
        "  .venv/bin/memsyncd status  what waits, what moves, what is wrong",
        "  .venv/bin/memsyncd hooks install --harness claude-code  what that agent does is recorded from then on",
    ]


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_welcome_in_the_usual_places(tmp_path: Path, system: str) -> None:
    """Without MEMSYNCD_HOME nothing is to be exported; a platform elsewhere is told with its address."""
    places = resolve({}, tmp_path, os.getuid(), system)
    told = welcome(places, Settings(platform=Platform(kind="mem0", url="https://u:pw@platform.test?token=t")))
    assert "MEMSYNCD_HOME" not in told
    assert "platform  mem0 at https://platform.test\n" in told
    assert str(places.spools) in told


@pytest.mark.parametrize(
    ("argv0", "found", "name"),
    [
        ("/p/.venv/bin/memsyncd", "/usr/bin/memsyncd", "memsyncd"),
        ("/p/.venv/bin/memsyncd", None, ".venv/bin/memsyncd"),
        ("/elsewhere/bin/memsyncd", None, "/elsewhere/bin/memsyncd"),
        ("/p/daemon/__main__.py", None, f"{sys.executable} -P -m daemon"),
    ],
)
def test_how_it_is_called(argv0: str, found: str | None, name: str) -> None:
    """By name where PATH has it, else by its path from here, else through the interpreter."""
    assert called(argv0, found, "/p") == name


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "daemon", *words]


def surroundings(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "MEMSYNCD_HOME": str(home / "m")}


def asked(home: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    given = surroundings(home) | environ
    return subprocess.run(command(*words), cwd=ROOT, env=given, capture_output=True, timeout=DEADLINE, check=False)


@pytest.fixture
def running(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a daemon; give it once it has said it is ready."""
    process = subprocess.Popen(command("run"), cwd=ROOT, env=surroundings(home), stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if line.startswith(b"next, in another terminal"):
                break
        else:
            pytest.fail(f"it did not get ready: {b''.join(seen).decode()}")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=DEADLINE)


def test_every_command_against_a_real_daemon(home: Path, running: subprocess.Popen[bytes]) -> None:
    """Status is green, jobs are listed, a flush finds nothing, a second daemon is refused with 4, SIGTERM ends in 0."""
    told = asked(home, "status", "--json")
    assert told.returncode == 0, told.stderr
    document = json.loads(told.stdout)
    assert (document["state"], document["pid"], document["problems"]) == ("ok", running.pid, [])
    assert "jobs" in json.loads(asked(home, "jobs", "list", "--json").stdout)
    flushed = asked(home, "flush", "--wait", "--json")
    assert (flushed.returncode, json.loads(flushed.stdout)["outcome"]) == (0, "nothing")
    second = asked(home, "run")
    assert second.returncode == 4
    assert str(running.pid).encode() in second.stderr
    assert asked(home, "jobs", "show", "none").returncode == 1
    running.send_signal(signal.SIGTERM)
    assert running.wait(DEADLINE) == 0
    assert asked(home, "status").returncode == 3


def test_a_hook_s_handoff_shows_in_the_status(home: Path, running: subprocess.Popen[bytes]) -> None:
    """What a hook drops is taken in, and `status` counts its spool."""
    hook = subprocess.run(
        command("hook", "user-prompt", "--harness", "codex"),
        cwd=ROOT, env=surroundings(home), input=b'{"session_id": "s", "prompt": "hello"}', timeout=DEADLINE, check=True,
    )  # fmt: skip
    assert hook.returncode == 0
    client = SocketClient(home / "m/run/status.sock")
    end = time.monotonic() + DEADLINE
    while not client.get("/status")["counters"].get("handoffs_recorded"):
        assert time.monotonic() < end
        client.get("/events?wait=1")
    [spool] = json.loads(asked(home, "status", "--json").stdout)["spools"]
    assert (spool["harness"], spool["pending"]) == ("codex", 0)


def test_run_once_on_a_fresh_machine(home: Path) -> None:
    """With nothing to do, `run --once` says so instead of a greeting, and exits 0."""
    ended = asked(home, "run", "--once")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == b"Nothing was due.\n"
    assert b"next, in another terminal" not in ended.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEM0_API_URL", "notaurl"), ("MEM0_CODE_DATA_DIR", "rel"), ("AGENT_MEMORY_PATH", "rel"),
        ("MEM0_CODE_TOP_K", "many"), ("MEM0_CODE_SEARCH_SCOPE", "all"), ("MEM0_CODE_AUTO_FLUSH", "perhaps"),
        ("MEM0_CODE_USER_ID", "*"), ("MEM0_PROJECT_ID", "\udcff"), ("MEM0_TELEMETRY", "perhaps"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["", "not-a-key"])
def test_no_name_that_plugins_use_stops_it(home: Path, name: str, value: str, key: str) -> None:
    """What such a variable cannot mean is not used, and what that costs is told (docs/settings.md)."""
    environ = {"MEM0_API_URL": "http://127.0.0.1:9", name: value, "MEM0_API_KEY": key}
    ended = asked(home, "run", "--once", **environ)
    assert (ended.returncode, ended.stdout) == (0, b"Nothing was due.\n"), ended.stderr
    checked = asked(home, "config", "check", **environ)
    assert checked.returncode == 0
    if name in {"MEM0_API_URL", "MEM0_CODE_DATA_DIR"}:
        assert name.encode() in ended.stderr
        assert name.encode() in checked.stderr
    if name in {"MEM0_API_URL", "MEM0_CODE_DATA_DIR"} and not key:  # with one, doctor asks the platform
        told = json.loads(asked(home, "doctor", "--json", **environ).stdout)["checks"]
        [configuration] = [check for check in told if check["name"] == "configuration"]
        assert not configuration["ok"]
        assert configuration["remedy"] == f"Correct {name}, or take it out."


def test_run_refuses_a_queue_of_a_newer_version(home: Path) -> None:
    """A database from a newer version: a sentence, 78, and the file byte-equal afterwards (CONTRACT)."""
    (home / "m").mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(home / "m/queue.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = (home / "m/queue.sqlite3").read_bytes()
    ended = asked(home, "run")
    assert ended.returncode == 78
    assert b"Traceback" not in ended.stderr
    assert b"queue.sqlite3" in ended.stderr
    assert (home / "m/queue.sqlite3").read_bytes() == before


@pytest.mark.parametrize("file", ["queue.sqlite3", "memory.sqlite3"])
@pytest.mark.parametrize("words", [("run", "--once"), ("forget", "--yes", "--session", "s")])
def test_what_is_no_file_in_a_database_s_place_is_named(home: Path, file: str, words: tuple[str, ...]) -> None:
    """A directory there is a sentence and 78, as in the place of the lock or the socket."""
    (home / "m" / file).mkdir(mode=0o700, parents=True)
    ended = asked(home, *words)
    assert ended.returncode == 78
    assert f"{file} is in the way, for it is no regular file: move it elsewhere.".encode() in ended.stderr


def test_a_disk_that_takes_nothing_is_told_in_a_sentence(home: Path) -> None:
    """A start without room ends with 1, the place and what to do; no traceback."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    environ = {**uncounted.environment(), "HOME": str(home), "MEMSYNCD_HOME": str(home / "full")}
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "run", "--once"],
        cwd=ROOT, env=environ, capture_output=True, text=True, timeout=DEADLINE, preexec_fn=no_room, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "File too large. Nothing that waits is lost" in ended.stderr
