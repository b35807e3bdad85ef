"""The line that a harness's configuration runs."""

import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from memsyncd.hooks.command_line import command_line, real_interpreter


def test_the_line_runs_in_a_shell_and_drops(drop: Any) -> None:
    """The printed line, run by a shell in an empty environment, leaves the handoff it names."""
    line = command_line("flush", "claude-code", reason="it's over")
    environment = {"MEMSYNCD_HOME": str(drop.home)}
    subprocess.run(["/bin/sh", "-c", line], input=b'{"a": 1}', env=environment, check=True, cwd="/", timeout=30)
    handoff = drop.only()
    assert (handoff["action"], handoff["harness"], handoff["reason"]) == ("flush", "claude-code", "it's over")
    assert handoff["hook_input"] == {"a": 1}


def test_the_line_is_absolute_and_bare() -> None:
    """Interpreter and script are absolute, with `-I -S` between, and the reason only where there is one."""
    words = shlex.split(command_line("stop", "codex"))
    assert os.path.isabs(words[0])
    assert words[1:3] == ["-I", "-S"]
    assert os.path.isabs(words[3])
    assert words[3].endswith("/memsyncd/hooks/drop.py")
    assert words[4:] == ["stop", "--harness", "codex"]


def test_a_virtual_environment_s_link_is_followed(tmp_path: Path) -> None:
    """From a virtual environment's link the line goes to the interpreter behind it."""
    venv.create(tmp_path / "v", symlinks=True)
    link = tmp_path / "v" / "bin" / "python"
    assert real_interpreter(str(link)) == os.path.realpath(sys.executable)


def test_a_link_of_the_system_s_is_kept(tmp_path: Path) -> None:
    """A link that is no virtual environment's outlives the version behind it, so it stays."""
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / "python3"
    link.symlink_to(os.path.realpath(sys.executable))
    assert real_interpreter(str(link)) == str(link)


@pytest.mark.parametrize("text", ['#!/bin/sh\nexec python3 "$@"\n', None])
def test_a_shim_or_nothing_is_refused(tmp_path: Path, text: str | None) -> None:
    """A version manager's shim, which is a script, and a file that is missing are no interpreter."""
    path = tmp_path / "python3"
    if text is not None:
        path.write_text(text)
        path.chmod(0o755)
    with pytest.raises(ValueError, match="no Python interpreter"):
        real_interpreter(str(path))


@pytest.mark.parametrize(
    ("action", "harness"),
    [("stop", ""), ("stop", "Claude"), ("stop", "../x"), ("stop", "-x"), ("", "codex"), ("--x", "codex")],
)
def test_wrong_names_are_refused(action: str, harness: str) -> None:
    """What the hook would have to set right silently is refused where a person still sees it."""
    with pytest.raises(ValueError, match=r"harness|action"):
        command_line(action, harness)
