"""Standard output that is full or closed, and a directory that is gone: one sentence, no traceback, a code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

TELLING = [
    "--help", "--version", "status", "status --json", "doctor", "jobs list", "jobs list --json", "search port",
    "config show", "config path", "service print", "completion fish", "telemetry", "hooks list", "export", "demo",
    "hooks command stop --harness codex", "mcp --help", "pause", "run --once",
]  # fmt: skip


def memsyncd(words: str, home: Path, redirected: str, before: str = ":", cwd: Path = ROOT) -> tuple[int, str]:
    line = f'"$0" -c "import sys; sys.path[0] = \'{ROOT}\'; from daemon.__main__ import main; sys.exit(main())" {words}'
    ended = subprocess.run(
        ["/bin/sh", "-c", f"{before}; {line} {redirected}", sys.executable],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "MEMSYNCD_HOME": str(home / "m")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("words", TELLING)
def test_an_output_that_is_full_is_told(tmp_path: Path, words: str) -> None:
    """Whatever the command is, and whatever it catches itself: a script must not take nothing for an answer."""
    code, told = memsyncd(words, tmp_path, ">/dev/full")
    assert code == 1
    assert told.splitlines()[-1] == "memsyncd: Standard output cannot be written: No space left on device."
    assert "Traceback" not in told and "Exception ignored" not in told


@pytest.mark.parametrize("words", TELLING)
def test_an_output_that_is_closed_is_told_before_anything_is_done(tmp_path: Path, words: str) -> None:
    """But for the daemon, which has nothing to say there."""
    code, told = memsyncd(words, tmp_path, ">&-")
    if words.startswith("run"):
        assert code == 0
    else:
        assert (code, told.count("\n")) == (1, 1) and told.startswith("memsyncd: Standard output is closed")
        assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("words", ["status", "jobs list", "config check", "flush", "--no-such-option", "run --once"])
@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full"])
def test_nobody_to_tell_errors_to_changes_no_code(tmp_path: Path, words: str, redirected: str) -> None:
    """What a script goes by is the code."""
    if redirected == "2>/dev/full" and not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    assert memsyncd(words, tmp_path, redirected)[0] == memsyncd(words, tmp_path, "2>/dev/null")[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("status", 3), ("jobs list", 0), ("config show", 0), ("run --once", 0), ("service print", 0),
        ("search port", 1), ("forget", 1), ("pause --project .", 1), ("resume --project .", 1), ("export --to x", 1),
        ("search port --cwd /", 0), ("hooks list --project .", 1), ("import x", 1), ("flush --cwd .", 1),
    ],
)  # fmt: skip
def test_a_directory_that_is_gone_is_no_traceback(tmp_path: Path, words: str, expected: int) -> None:
    """Commands that need it say so; the others do not."""
    gone = tmp_path / "gone"
    gone.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    code, told = memsyncd(words, home, "", before='rmdir "$PWD"', cwd=gone)
    assert "Traceback" not in told and code == expected, told
    if words.startswith(("search port", "forget", "pause")) and code:
        assert told == "memsyncd: The directory you stand in is gone: go to another, or name one.\n"
