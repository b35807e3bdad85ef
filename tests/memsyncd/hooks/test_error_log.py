"""The log of what hooks swallowed."""

import os
from pathlib import Path
from typing import Any

import pytest

from memsyncd.hooks import error_log
from memsyncd.hooks.envelope import Event

AT = 1_764_547_200_123_000_000
EVENT = Event(AT, "stop", "claude-code", "")


def test_a_line_names_the_failure_and_no_payload() -> None:
    """A line holds time, action, harness, kind and errno's name; the error's text, which may quote input, is left out."""
    error = PermissionError(13, "private words", "/private/path")
    assert error_log.line(EVENT, error) == b"2025-12-01T00:00:00.123Z stop claude-code PermissionError EACCES\n"


@pytest.mark.parametrize("action", ["two words\nand a line", "\x1b[31m", "ä"])
def test_an_action_stays_one_word(action: str) -> None:
    """Whatever the command line held, a failure is one line of five words in ASCII."""
    text = error_log.line(Event(AT, action, "generic", ""), ValueError("x"))
    assert text.isascii()
    assert len(text.split()) == 5
    assert text.count(b"\n") == 1
    assert b"\x1b" not in text


def test_the_log_is_bounded(tmp_path: Path) -> None:
    """Many failures leave at most two files of some 256 KB, the newest lines in them."""
    data = os.fsencode(tmp_path)
    for number in range(12_000):
        error_log.append(data, {}, Event(AT, f"action-{number}", "claude-code", ""), ValueError())
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hook-errors.log", "hook-errors.log.1"]
    assert max(sizes) < error_log.MAX_BYTES + 200
    assert b"action-11999 " in (tmp_path / "hook-errors.log").read_bytes()


def test_the_log_falls_back_to_the_run_time_directory(tmp_path: Path) -> None:
    """Where the data directory takes no log, the session's run-time directory does, in a private directory."""
    data = tmp_path / "data"
    data.touch()
    run = tmp_path / "run"
    error_log.append(os.fsencode(data), {b"XDG_RUNTIME_DIR": os.fsencode(run)}, EVENT, ValueError())
    assert (run / "memsyncd" / "hook-errors.log").read_text().endswith(f"ValueError - {data}\n")
    assert (run / "memsyncd").stat().st_mode & 0o777 == 0o700
    assert (run / "memsyncd" / "hook-errors.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("/home/ada/.local//share/./memsyncd/", "/home/ada/.local/share/memsyncd"),
        ("/a b/\u00e4", "/a?b/??"),
        ("/", "/"),
    ],
)
def test_a_data_directory_is_one_word(data: str, word: str) -> None:
    """As `pathlib` would write it, in visible ASCII, and never long."""
    assert error_log.home_word(os.fsencode(data)).decode() == word
    assert len(error_log.home_word(b"/x" * 3000)) == error_log.MAX_HOME


def test_the_last_place_is_private_to_the_user() -> None:
    """The places are the data directory, the run-time directory if absolute, and one named after the user in /tmp."""
    last = b"/tmp/memsyncd-%d" % os.geteuid()
    assert list(error_log.places(b"/d", {b"XDG_RUNTIME_DIR": b"/r"})) == [b"/d", b"/r/memsyncd", last]
    assert list(error_log.places(b"", {b"XDG_RUNTIME_DIR": b"r"})) == [last]


@pytest.mark.parametrize("kind", ["symlink", "fifo", "directory"])
def test_something_else_in_the_log_s_place_is_left_alone(tmp_path: Path, kind: str) -> None:
    """A link, a FIFO or a directory in the log's place is not written to; the next place is taken."""
    data, run, victim = tmp_path / "data", tmp_path / "run", tmp_path / "victim"
    data.mkdir()
    victim.write_text("untouched")
    place = data / "hook-errors.log"
    if kind == "symlink":
        place.symlink_to(victim)
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    error_log.append(os.fsencode(data), {b"XDG_RUNTIME_DIR": os.fsencode(run)}, EVENT, ValueError())
    assert victim.read_text() == "untouched"
    assert (run / "memsyncd" / "hook-errors.log").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_user_s_directory_gets_no_log(tmp_path: Path) -> None:
    """A directory that another user owns, as one planted in /tmp, is passed over."""
    data, run = tmp_path / "data", tmp_path / "run"
    data.mkdir()
    os.chown(data, 65534, 65534)
    error_log.append(os.fsencode(data), {b"XDG_RUNTIME_DIR": os.fsencode(run)}, EVENT, ValueError())
    assert list(data.iterdir()) == []
    assert (run / "memsyncd" / "hook-errors.log").exists()


def test_the_hook_logs_no_words_of_anybody(drop: Any) -> None:
    """What the harness sent does not reach the log, not even when it is what failed."""
    drop(b"my private words", "user-prompt", "--harness", "claude-code")
    assert "private" not in (drop.home / "hook-errors.log").read_text()
    assert len(drop.log()) == 1
