"""A word about a daemon that is not well, beside what was asked for."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.cli.on_terminal import ROOT, daemon, terminal

WORD = "all is not well: The platform refuses the key."


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


@pytest.mark.parametrize(("how", "words", "is_told"), [
    (("ill",), ("jobs", "list"), True),
    ((), ("jobs", "list"), False),
    (("ill",), ("jobs", "list", "--json"), False),
    (("ill",), ("completion", "bash"), False),
    (("ill",), ("status",), False),
])  # fmt: skip
def test_a_person_is_told_with_any_command(
    home: Path, how: tuple[str, ...], words: tuple[str, ...], is_told: bool
) -> None:
    """Six days of refused calls must not go unseen by who uses the rest every day (never-again 141); the answer and
    its code are those of the command."""
    with daemon(home, "1.1.1", *how), terminal(home, *words) as screen:
        assert screen.ended() == 0
        assert (WORD in " ".join(screen.plain().split())) is is_told


def test_nobody_else_is_told(home: Path) -> None:
    """Where standard error is no terminal a program reads it; where no daemon runs there is nothing to tell."""
    environ = {"HOME": str(home), "MEMSYNCD_HOME": str(home)}
    words = [sys.executable, "-m", "daemon", "jobs", "list"]
    with daemon(home, "1.1.1", "ill"):
        done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
        assert done.stderr == ""
    with terminal(home, "jobs", "list") as screen:
        screen.ended()
        assert "not well" not in screen.seen
