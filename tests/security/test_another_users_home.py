"""Root by `sudo` in the home of who called it: nothing of root's is left in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memsyncd.hooks.command_line import command_line

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in another user's home")

ROOT = Path(__file__).parents[2]
ADA = 4_321
"""A user of no machine."""

MAKING = [
    ["run"], ["run", "--once"], ["pause"], ["pause", "--for", "90"], ["resume"], ["import", "-"], ["forget", "--yes"],
    ["hooks", "install", "--harness", "claude-code"],
]  # fmt: skip
LOOKING = [
    ["status"], ["doctor"], ["jobs", "list"], ["search", "which port"], ["export"], ["config", "show"],
    ["config", "check"], ["config", "path"], ["hooks", "list"], ["hooks", "command", "stop", "--harness", "codex"],
    ["telemetry"], ["jobs", "retry", "--dead"], ["flush"], ["drain"], ["mcp"],
]  # fmt: skip


@pytest.fixture(params=["fresh", "used by others"])
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the home of another user, in which memsyncd never was."""
    home = tmp_path / "ada"
    for directory in (home, home / ".config", home / ".local", home / ".local/share"):
        if directory == home or request.param == "used by others":
            directory.mkdir(mode=0o755)
            os.chown(directory, ADA, ADA)
    return home


def entries(home: Path) -> list[tuple[Path, int]]:
    return [(path, path.lstat().st_uid) for path in sorted(home.rglob("*"))]


def environment(home: Path) -> dict[str, str]:
    return {
        "SUDO_UID": str(ADA),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home / "r"),
    }


def ran(home: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "daemon", *words],
        cwd="/", env=environment(home), input=b"", capture_output=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", MAKING, ids=" ".join)
def test_what_would_make_something_there_is_refused(theirs: Path, words: list[str]) -> None:
    """Directories of root's, closed to everybody, would shut their owner out: a sentence, and nothing made."""
    before = entries(theirs)
    ended = ran(theirs, *words)
    assert ended.returncode in {78, 1}
    assert ended.returncode == 78 or words[0] == "hooks"
    assert f"belongs to user {ADA}".encode() in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert entries(theirs) == before


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_what_only_looks_goes_on_and_makes_nothing(theirs: Path, words: list[str]) -> None:
    """Nothing is there to be told of, and that is what is told."""
    before = entries(theirs)
    ended = ran(theirs, *words)
    assert ended.returncode != 78
    assert b"Traceback" not in ended.stderr
    assert entries(theirs) == before


def test_a_hook_leaves_nothing_there(theirs: Path) -> None:
    """An agent that runs as root leaves no handoff where the owner's own hooks could then leave none."""
    before = entries(theirs)
    ended = subprocess.run(
        ["sh", "-c", command_line("user-prompt", "codex")],
        cwd="/", env=environment(theirs), input=b'{"prompt": "x"}', capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert entries(theirs) == before


def test_a_container_whose_home_is_the_host_user_s_is_used(theirs: Path) -> None:
    """Nobody there called root: CI runs its jobs so."""
    environ = {name: value for name, value in environment(theirs).items() if name != "SUDO_UID"}
    ended = subprocess.run(
        ["sh", "-c", command_line("user-prompt", "codex")],
        cwd="/", env=environ, input=b'{"session_id": "s", "prompt": "x"}', capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0
    assert len(list((theirs / ".local/share/memsyncd/spools/codex/pending").iterdir())) == 1
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "run", "--once"],
        cwd="/", env=environ, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert list((theirs / ".local/share/memsyncd/spools/codex/pending").iterdir()) == []
