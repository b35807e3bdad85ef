"""The manual page and the completion follow the commands."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from daemon.cli.manual import manual
from daemon.cli.program import COMMANDS, program
from tests import uncounted
from tests.daemon.cli.on_terminal import DEADLINE, ROOT, daemon


def test_the_page_is_up_to_date() -> None:
    """The page that is shipped is the one the commands make: `make man` writes it anew."""
    assert (ROOT / "docs/memsyncd.1").read_text() == manual()


def test_the_page_has_every_command_and_option() -> None:
    """Nothing that help tells is missing."""
    page = manual().replace("\\-", "-")
    for name in COMMANDS:
        assert f"\n.SS memsyncd {name} " in page
    for option in ("--watch", "--include-project-memory", "--for DURATION", "--top-k"):
        assert f"\n.B {option}" in page


def test_text_is_no_request() -> None:
    """A line that begins with a dot, a backslash and a hyphen come out as they stand; backticks are bold."""

    @click.group()
    def root() -> None:
        """Say `a-b`.

        .profile and C:\\dir are read.

        \b
        kept  as
        it stands
        """  # noqa: D301  (click's mark is the character)

    page = manual(root)
    assert "\nSay \\fBa\\-b\\fR.\n.PP\n\\&.profile and C:\\edir are read.\n.PP\n.nf\nkept  as\nit stands\n.fi\n" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_the_page_is_sound() -> None:
    """The formatter warns of nothing."""
    ended = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=manual().encode(), capture_output=True, timeout=DEADLINE, check=True
    )  # fmt: skip
    assert ended.stderr == b""


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


def completed(home: Path, words: str, instruction: str = "bash_complete", **environ: str) -> list[str]:
    given = {
        "HOME": str(home), "MEMSYNCD_HOME": str(home), "_MEMSYNCD_COMPLETE": instruction,
        "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1), **environ,
    }  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-m", "daemon"], cwd=ROOT, env=given, capture_output=True, timeout=DEADLINE, check=True
    )
    assert ended.stderr == b""
    return ended.stdout.decode().split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("memsyncd sta", ["plain,status"]),
        ("memsyncd jobs re", ["plain,retry"]),
        ("memsyncd status --w", ["plain,--watch"]),
        ("memsyncd jobs list --state de", ["plain,dead"]),
        ("memsyncd completion ", ["plain,bash", "plain,zsh", "plain,fish"]),
        ("memsyncd jobs show ", []),
    ],
)
def test_what_is_completed(home: Path, words: str, offered: list[str]) -> None:
    """Commands, options and choices; without a daemon no job ids, and no word of that."""
    assert completed(home, words) == offered


def test_job_ids_are_completed(home: Path) -> None:
    """With a daemon, its jobs are offered; a shell that shows them gets the reasons too."""
    with daemon(home, "1.1.1"):
        assert completed(home, "memsyncd jobs retry fl") == ["plain,flush:codex:p"]
        shown = completed(home, "memsyncd jobs show ", "zsh_complete")
    assert shown == ["plain", "flush\\:codex\\:p", "refused"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is printed without starting that shell, and names us."""
    from daemon.__main__ import main

    assert main(["completion", shell]) == 0
    assert "_MEMSYNCD_COMPLETE" in capsys.readouterr().out


def test_bash_takes_the_script(home: Path) -> None:
    """A real bash, given the script, completes a command's name."""
    (home / "memsyncd").write_text(f'#!/bin/sh\ncd {ROOT} && exec {sys.executable} -m daemon "$@"\n')
    (home / "memsyncd").chmod(0o755)
    script = (
        'eval "$(memsyncd completion bash)"; COMP_WORDS=(memsyncd flu); COMP_CWORD=1;'
        '_memsyncd_completion memsyncd; echo "${COMPREPLY[@]}"'
    )
    environ = {"HOME": str(home), "MEMSYNCD_HOME": str(home), "PATH": f"{home}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "--norc", "-c", script], env=environ, capture_output=True, timeout=DEADLINE, check=True
    )
    assert (ended.stdout, ended.stderr) == (b"flush\n", b"")


def test_names_are_completed_without_loading_commands() -> None:
    """For a bash, which shows no help, no command is imported to complete its name."""
    script = (
        "import sys, os; from daemon.__main__ import main\n"
        "try: main([])\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name in ('daemon.cli.jobs', 'daemon.cli.run', 'sqlite3')))"
    )
    given = {
        **uncounted.environment(),
        "_MEMSYNCD_COMPLETE": "bash_complete",
        "COMP_WORDS": "memsyncd ",
        "COMP_CWORD": "1",
    }
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=given, capture_output=True, timeout=DEADLINE, check=True
    )
    assert ended.stdout.decode().split("\n")[-2] == "[]"
    assert program.list_commands(click.Context(program)) == list(COMMANDS)
