"""The API key, from wherever it comes."""

import hashlib
import os
import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemon import api_key
from daemon.api_key import KeySource
from daemon.settings import Platform, Settings
from memsyncd.clock import Clock

FIRST = "m0-" + "a" * 20
SECOND = "m0-" + "b" * 20


class Time:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.now)


def write(path: Path, key: str, mode: int = 0o600) -> Path:
    path.write_text(f"{key}\n")
    path.chmod(mode)
    return path


def counting(tmp_path: Path, answer: str) -> str:
    """Return a command that notes each run and prints what the file `answer` holds."""
    return f"sh -c {shlex.quote(f'echo run >> {tmp_path}/runs; cat {answer}')}"


def runs(tmp_path: Path) -> int:
    try:
        return (tmp_path / "runs").read_text().count("run")
    except FileNotFoundError:
        return 0


def test_the_order_is_environment_file_credential_command(tmp_path: Path) -> None:
    """The first that has a key counts, and says where it is from."""
    file = write(tmp_path / "file", "from-file")
    write(tmp_path / "mem0_api_key", "from-credential")
    settings = Settings(platform=Platform(api_key_file=str(file), api_key_command="echo from-command"))
    environ = {"MEM0_API_KEY": "from-environment", "CREDENTIALS_DIRECTORY": str(tmp_path), "PATH": os.environ["PATH"]}
    source = KeySource.from_settings(settings, environ)
    assert (source.current(), source.origin()) == ("from-environment", "MEM0_API_KEY")
    del environ["MEM0_API_KEY"]
    source = KeySource.from_settings(settings, environ)
    assert (source.current(), source.origin()) == ("from-file", f"api_key_file {file}")
    file.unlink()
    assert source.current() == "from-credential"
    (tmp_path / "mem0_api_key").unlink()
    assert (source.current(), source.origin()) == ("from-command", "api_key_command")


def test_without_any_source_there_is_none() -> None:
    """And nothing to complain of."""
    source = KeySource.from_settings(Settings(), {})
    assert (source.current(), source.fingerprint(), source.origin(), source.problems()) == ("", "", "", [])
    assert not source.changed_since("")


def test_a_plugins_option_is_a_key_too() -> None:
    """Facts 15.2."""
    assert KeySource.from_settings(Settings(), {"CLAUDE_PLUGIN_OPTION_API_KEY": FIRST}).current() == FIRST


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Written over, replaced, emptied, gone and back."""
    file = write(tmp_path / "key", FIRST)
    source = KeySource(file=file)
    assert source.current() == FIRST
    old = source.fingerprint()
    assert not source.changed_since(old)
    write(tmp_path / "new", SECOND).rename(file)
    assert source.changed_since(old)
    assert source.current() == SECOND
    write(file, "")
    assert source.current() == ""
    assert not source.changed_since(old), "no key is no news"
    file.unlink()
    assert "cannot be read" in source.problems()[0]
    write(file, FIRST)
    assert source.current() == FIRST
    assert source.problems() == []


def test_the_fingerprint_is_16_hex_of_sha256() -> None:
    """As the plugins' own (facts 12.23)."""
    assert KeySource(environment_key=FIRST).fingerprint() == hashlib.sha256(FIRST.encode()).hexdigest()[:16]


def test_the_key_is_in_no_repr_and_in_no_problem(tmp_path: Path) -> None:
    """It must not reach a log by accident."""
    for source in (KeySource(environment_key=FIRST), KeySource(file=write(tmp_path / "k", f"{FIRST} {SECOND}"))):
        source.current()
        told = f"{source!r} {source} {source.problems()} {source.origin()}"
        assert FIRST not in told
        assert SECOND not in told


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_others_can_read_is_used_and_told(tmp_path: Path, mode: int) -> None:
    """With the command that mends it; once mended it is told no more."""
    file = write(tmp_path / "key", FIRST, mode)
    source = KeySource(file=file)
    assert source.current() == FIRST
    assert "chmod 600" in source.problems()[0]
    file.chmod(0o600)
    assert source.problems() == []


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", b"a key", b"two\nlines", "schl\u00fcssel".encode(), b"a\0b", b"x" * 5000, b"\xff\xfe"]
)
def test_what_is_no_key_is_none_and_told(tmp_path: Path, content: bytes) -> None:
    """It would end up in a header."""
    (tmp_path / "key").write_bytes(content)
    (tmp_path / "key").chmod(0o600)
    source = KeySource(file=tmp_path / "key")
    assert source.current() == ""
    assert len(source.problems()) == 1


def test_a_byte_order_mark_and_blanks_around_are_forgiven(tmp_path: Path) -> None:
    """Editors leave them."""
    (tmp_path / "key").write_bytes(b"\xef\xbb\xbf  " + FIRST.encode() + b" \r\n")
    assert KeySource(file=tmp_path / "key").current() == FIRST


def test_a_directory_or_fifo_is_no_key_file(tmp_path: Path) -> None:
    """Reading a FIFO would hang a worker."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        source = KeySource(file=path)
        assert source.current() == ""
        assert "no regular file" in source.problems()[0]


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
    assert source.changed_since(refused)
    assert source.current() == SECOND
    assert runs(tmp_path) == 2
    refused = source.fingerprint()
    for _ in range(15):
        moment.now += 1
        assert not source.changed_since(refused)
    assert runs(tmp_path) == 3
    assert api_key.COMMAND_AGAIN_AFTER_REFUSAL_SECONDS < 15


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
    assert not source.changed_since(source.fingerprint())
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
    assert (api_key._arguments(command)[0] == "/bin/sh") == shell


def test_a_pipe_and_quotes_work() -> None:
    """As typed in a terminal."""
    source = KeySource(
        command="printf '%s and more' \"$KEY\" | cut -d' ' -f1",
        command_environment={"KEY": FIRST, "PATH": os.environ["PATH"]},
    )
    assert source.current() == FIRST


def test_a_command_that_hangs_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its wait is bounded, and no sleeper is left behind (never-again 57)."""
    monkeypatch.setattr(api_key, "COMMAND_SECONDS", 0.2)
    note = tmp_path / "pid"
    source = KeySource(command=f"sh -c 'sleep 60 & echo $! > {note}; wait'", command_environment=os.environ)
    begun = time.monotonic()
    assert source.current() == ""
    assert time.monotonic() - begun < 5
    assert "no answer within" in source.problems()[0]
    child = int(note.read_text())
    deadline = time.monotonic() + 5
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.01)  # the kernel's own pace
    assert not _lives(child)


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
        assert asked.result(5) == ""
        assert time.monotonic() - begun < 5
    assert not _lives(pid)
    assert source.current() == ""
    assert not source.changed_since("")


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
