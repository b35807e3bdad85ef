"""The command that prints the API key."""

import os
import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemon.api_key import command as key_command
from daemon.api_key.source import KeySource
from memsyncd.clock import Clock

FIRST = "m0-" + "a" * 20
SECOND = "m0-" + "b" * 20


def write(path: Path, key: str, mode: int = 0o600) -> Path:
    path.write_text(f"{key}\n")
    path.chmod(mode)
    return path


class Time:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.now)


def counting(tmp_path: Path, answer: str) -> str:
    """Return a command that notes each run and prints what the file `answer` holds."""
    return f"sh -c {shlex.quote(f'echo run >> {tmp_path}/runs; cat {answer}')}"


def runs(tmp_path: Path) -> int:
    try:
        return (tmp_path / "runs").read_text().count("run")
    except FileNotFoundError:
        return 0


def test_a_command_runs_once_and_again_only_when_its_key_is_doubted(tmp_path: Path) -> None:
    """No child a minute, but a changed key counts within 15 s of the refusal."""
    answer, moment = write(tmp_path / "answer", FIRST), Time()
    source = KeySource(command=counting(tmp_path, str(answer)), clock=moment.clock(), command_environment=os.environ)
    for _ in range(5):
        assert source.current() == FIRST
        moment.now += 3600
    assert runs(tmp_path) == 1
    refused = source.fingerprint()
    write(answer, SECOND)
    assert source.fingerprint() == refused
    source.doubt()
    assert source.current() == SECOND
    assert runs(tmp_path) == 2
    refused = source.fingerprint()
    for _ in range(15):
        moment.now += 1
        source.doubt()
        assert source.fingerprint() == refused
    assert runs(tmp_path) == 3
    assert key_command.AGAIN_AFTER_REFUSAL_SECONDS < 15


def test_a_command_without_a_key_is_asked_once_a_minute(tmp_path: Path) -> None:
    """A locked password store is not asked at every request."""
    moment = Time()
    source = KeySource(
        command=counting(tmp_path, str(tmp_path / "gone")), clock=moment.clock(), command_environment=os.environ
    )
    for _ in range(61):
        assert source.current() == ""
        moment.now += 1
    assert runs(tmp_path) == 2
    assert "exit code 1" in source.problems()[0]


def test_a_command_that_fails_later_does_not_take_the_key_away(tmp_path: Path) -> None:
    """The one in hand is as good as before."""
    answer, moment = write(tmp_path / "answer", FIRST), Time()
    source = KeySource(command=f"cat {answer}", clock=moment.clock(), command_environment=os.environ)
    assert source.current() == FIRST
    answer.unlink()
    moment.now += 60
    source.doubt()
    assert source.current() == FIRST


@pytest.mark.parametrize(
    ("command", "shell"),
    [
        ("pass show mem0", False),
        ("/opt/my-tool --id=3 get", True),
        ("security find-generic-password -w -s mem0", False),
        ("cat ~/key", True),
        ("get | head -1", True),
        ("printf '%s' $KEY", True),
        ('"/opt/my tools/get" key', True),
    ],
)
def test_a_shell_is_used_only_where_the_command_uses_one(command: str, shell: bool) -> None:
    """Plain words are executed as they are."""
    assert (key_command.arguments(command)[0] == "/bin/sh") == shell


def test_a_pipe_and_quotes_work() -> None:
    """As typed in a terminal."""
    source = KeySource(
        command="printf '%s and more' \"$KEY\" | cut -d' ' -f1",
        command_environment={"KEY": FIRST, "PATH": os.environ["PATH"]},
    )
    assert source.current() == FIRST


def test_a_command_that_hangs_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its wait is bounded, and no sleeper is left behind (never-again 57)."""
    monkeypatch.setattr(key_command, "COMMAND_SECONDS", 3.0)
    note = tmp_path / "pid"
    source = KeySource(command=f"sh -c 'sleep 60 & echo $! > {note}; wait'", command_environment=os.environ)
    begun = time.monotonic()
    assert source.current() == ""
    assert time.monotonic() - begun < 30
    assert "no answer within" in source.problems()[0]
    child = int(note.read_text())
    assert _ends(child)


def test_a_stop_does_not_wait_for_the_command(tmp_path: Path) -> None:
    """A password prompt nobody answers must not keep the daemon, nor outlive it."""
    note = tmp_path / "pid"
    os.mkfifo(note)
    source = KeySource(command=f"sh -c 'echo $$ > {note}; exec sleep 60'", command_environment=os.environ)
    with ThreadPoolExecutor(1) as threads:
        begun = time.monotonic()
        asked = threads.submit(source.current)
        pid = int(note.read_text())
        source.close()
        assert asked.result(60) == ""
        assert time.monotonic() - begun < 30
    assert _ends(pid)
    assert source.current() == ""


def _ends(pid: int) -> bool:
    """Whether a killed process is gone soon, at the kernel's own pace."""
    deadline = time.monotonic() + 60
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_command_that_is_not_there_is_told() -> None:
    """The service's PATH is not the shell's."""
    source = KeySource(command="no-such-tool get")
    assert source.current() == ""
    assert "name it absolutely" in source.problems()[0]


@pytest.mark.parametrize(
    "command",
    [
        "printf 'KEY\\nuser: ada\\n'",  # as password stores print an entry
        "echo KEY; sleep 60 >/dev/null & exit 0",
        "(sleep 60 &); echo KEY",  # an agent that keeps the pipe open
    ],
)
def test_the_first_line_counts_and_what_stays_behind_does_not_delay_it(command: str) -> None:
    """A password store starts its agent with the first question."""
    begun = time.monotonic()
    script = command.replace("sleep 60", "sleep 20").replace("KEY", FIRST)
    assert KeySource(command=script, command_environment=os.environ).current() == FIRST
    assert time.monotonic() - begun < 15


def test_a_command_that_never_stops_printing_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with line ends nor without does it fill the memory."""
    monkeypatch.setattr(key_command, "COMMAND_SECONDS", 0.3)
    for command in ("yes " + FIRST, "yes | tr -d '\\n'"):
        source = KeySource(command=command, command_environment=os.environ)
        assert source.current() == ""
        assert "no answer within" in source.problems()[0]
