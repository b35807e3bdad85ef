"""The console entry: help, wrong use, versions, and what a hook does not load."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memsyncd.version import __version__

ROOT = Path(__file__).parents[3]


def memsyncd(
    *words: str, home: Path, given: bytes = b"", environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "daemon", *words],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "MEMSYNCD_HOME": str(home / "m"), **(environ or {})},
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_no_argument_prints_help(tmp_path: Path) -> None:
    """`memsyncd` alone prints the help, names every command and exits 0."""
    ended = memsyncd(home=tmp_path)
    assert ended.returncode == 0
    told = ended.stdout.decode()
    for command in ("run", "demo", "status", "jobs", "flush", "config", "hook", "hooks"):
        assert f"\n  {command} " in told
    assert not (tmp_path / "m").exists()


def test_version(tmp_path: Path) -> None:
    """`--version` tells the one version."""
    assert __version__ in memsyncd("--version", home=tmp_path).stdout.decode()


@pytest.mark.parametrize(
    "words",
    [
        ["run"], ["status"], ["jobs"], ["jobs", "list"], ["jobs", "show"], ["jobs", "retry"], ["jobs", "discard"],
        ["flush"], ["config"], ["config", "show"], ["config", "check"], ["config", "path"], ["hook"], ["hooks"],
        ["hooks", "command"],
    ],
)  # fmt: skip
def test_every_command_has_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` on every command prints its use and exits 0, and does not run it."""
    from daemon.__main__ import main

    assert main([*words, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: memsyncd {' '.join(words)}")


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-command"], ["status", "--no-such-option"], ["jobs", "list", "--state", "odd"], ["jobs", "show"],
        ["jobs", "retry"], ["jobs", "retry", "--dead", "x"], ["jobs", "discard"], ["hooks", "command"],
        ["config", "show", "--set", "no-pair"], ["jobs", "list", "--limit", "0"],
    ],
)  # fmt: skip
def test_wrong_use_exits_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong use says so on standard error and exits 2; nothing goes to standard output."""
    from daemon.__main__ import main

    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err


def test_a_hook_loads_nothing_heavy(tmp_path: Path) -> None:
    """The way of `hook` through the console entry loads no command line, no parser, no log, and leaves one handoff."""
    script = (
        "import sys; from daemon.__main__ import main; code = main(['hook', 'stop', '--harness', 'codex']);"
        "heavy = {'click', 'structlog', 'msgspec', 'rich', 'sqlite3', 'httpx', 'huey', 'asyncio', 'daemon.cli'};"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"HOME": str(tmp_path), "MEMSYNCD_HOME": str(tmp_path / "m")},
        input=json.dumps({"session_id": "s"}).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout.decode() == "0 []\n"
    assert len(list((tmp_path / "m/spools/codex/pending").glob("*.json"))) == 1


@pytest.mark.parametrize("words", [[], ["--odd"], ["stop"], ["stop", "--harness"]])
def test_a_hook_always_exits_0_and_prints_nothing(words: list[str], tmp_path: Path) -> None:
    """Whatever a harness passes, even where nothing can be written, a hook exits 0 in silence."""
    (tmp_path / "m").write_text("in the way")
    ended = memsyncd("hook", *words, home=tmp_path, given=b"{}")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_hooks_command_prints_the_line(tmp_path: Path) -> None:
    """`hooks command` prints one line with an absolute interpreter and script, and running it leaves a handoff."""
    ended = memsyncd("hooks", "command", "flush", "--harness", "codex", "--reason", "session-end", home=tmp_path)
    assert ended.returncode == 0
    [line] = ended.stdout.decode().splitlines()
    assert line.startswith("/")
    environ = {"HOME": str(tmp_path), "MEMSYNCD_HOME": str(tmp_path / "m")}
    subprocess.run(["/bin/sh", "-c", line], env=environ, input=b'{"session_id": "s"}', timeout=60, check=True)
    [handoff] = (tmp_path / "m/spools/codex/pending").glob("*.json")
    assert json.loads(handoff.read_bytes())["reason"] == "session-end"


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    """`memsyncd config show | head -1` ends with 1 and without a word on standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        ended = subprocess.run(
            [sys.executable, "-m", "daemon", "config", "show", "--json"],
            cwd=ROOT,
            env={"HOME": str(tmp_path), "MEMSYNCD_HOME": str(tmp_path / "m")},
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (1, b"")
