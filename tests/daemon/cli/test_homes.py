"""Homes in which no daemon can be: every command refuses them, in a sentence, before it makes anything."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.cli.surroundings import home_of

ROOT = Path(__file__).parents[3]
LONG = "/" + "/".join(["d" * 100] * 4 + ["d" * 50])

COMMANDS = [
    ["run", "--once"], ["status"], ["doctor"], ["jobs", "list"], ["flush"], ["drain"], ["search", "which port"],
    ["pause"], ["resume"], ["forget", "--yes"], ["export"], ["import", "-"], ["config", "show"], ["config", "check"],
    ["config", "path"], ["hooks", "install", "--harness", "claude-code"], ["hooks", "list"],
    ["hooks", "command", "stop", "--harness", "codex"], ["telemetry"], ["mcp"],
]  # fmt: skip


def memsyncd(*words: str, cwd: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "daemon", *words],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"MEMSYNCD_HOME": "rel"}, "MEMSYNCD_HOME is 'rel': give an absolute path."),
        ({"HOME": "rel"}, "HOME is 'rel': give an absolute path."),
        ({"HOME": "{tmp}" + LONG}, "is longer than 420 bytes, and no database can be opened there: {tmp}/ddd"),
        ({"HOME": "{tmp}/\udcff"}, "is not UTF-8, and no database can be opened there: {tmp}/\\xff/"),
    ],
    ids=["relative whole home", "relative home", "too long", "not UTF-8"],
)
def test_such_a_home_is_refused(tmp_path: Path, words: list[str], environ: dict[str, str], told: str) -> None:
    """78 and what is wrong with the path, and not a file or directory anywhere."""
    project = tmp_path / "project"
    project.mkdir()
    given = {"HOME": str(tmp_path), **{name: text.format(tmp=tmp_path) for name, text in environ.items()}}
    ended = memsyncd(*words, cwd=project, environ=given)
    assert ended.returncode == 78
    assert told.format(tmp=tmp_path) in ended.stderr.decode()
    assert b"Traceback" not in ended.stderr
    assert [*project.iterdir(), *tmp_path.iterdir()] == [project]


def test_a_link_leads_to_no_place_either(tmp_path: Path) -> None:
    """SQLite goes by the path behind a link, so a short one to a long path is refused too."""
    behind = Path(f"{tmp_path}{LONG}")
    behind.mkdir(parents=True)
    (tmp_path / "short").symlink_to(behind)
    ended = memsyncd("run", "--once", cwd=tmp_path, environ={"MEMSYNCD_HOME": str(tmp_path / "short")})
    assert ended.returncode == 78
    assert b"is longer than 420 bytes" in ended.stderr
    assert list(behind.iterdir()) == []


def test_an_empty_home_counts_as_unset() -> None:
    """The home is then the user database's, as for a hook; a user whom it does not know has none, which is refused."""
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert home_of({"HOME": ""}, os.getuid()) == own
    assert home_of({}, os.getuid()) == own
    assert home_of({"HOME": "/home/ada"}, os.getuid()) == Path("/home/ada")
    assert not home_of({}, 4_000_000_000).is_absolute()


def test_the_longest_home_holds_every_file(tmp_path: Path) -> None:
    """At the bound SQLite opens all: the queue, the memories, and the evidence of a spool with the longest name."""
    room = 420 - len(str(tmp_path)) - 1
    parts = ["d" * 100] * (room // 101)
    home = tmp_path.joinpath(*parts, "e" * (room - 101 * len(parts)))
    assert len(bytes(home)) == 420
    pending = home / "spools" / ("h" * 40) / "pending"
    environ = {"MEMSYNCD_HOME": str(home), "HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-I", "-S", ROOT / "memsyncd/hooks/drop.py", "user-prompt", "--harness", "h" * 40],
        env=environ, input=b'{"session_id": "s", "prompt": "We deploy on Fridays."}', timeout=60, check=True,
    )  # fmt: skip
    assert len(list(pending.iterdir())) == 1
    ended = memsyncd("run", "--once", cwd=tmp_path, environ=environ)
    assert ended.returncode == 0, ended.stderr
    assert list(pending.iterdir()) == []
    assert (pending.parent / "evidence.sqlite3").exists()
