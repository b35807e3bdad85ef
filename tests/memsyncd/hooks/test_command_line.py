"""The line that a harness's configuration runs."""

import os
import shlex
import shutil
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
    subprocess.run(["/bin/sh", "-c", line], input=b'{"a": 1}', env=environment, check=True, cwd="/", timeout=60)
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
    assert words[4:] == ["stop", "--harness", "codex", "2>/dev/null", "||", "true"]


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh", "ksh"])
@pytest.mark.parametrize("gone", ["interpreter", "script"])
def test_a_line_whose_program_is_gone_is_a_silent_success(gone: str, shell: str, tmp_path: Path) -> None:
    """Where interpreter or script was deleted, the line exits 0 and says nothing, so that no prompt is ever blocked."""
    if not (program := shutil.which(shell)):
        pytest.skip(f"no {shell} here")
    words = shlex.split(line := command_line("user-prompt", "claude-code"))
    line = line.replace(words[0] if gone == "interpreter" else words[3], str(tmp_path / "gone"))
    ended = subprocess.run([program, "-c", line], input=b"{}", capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


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


def test_what_cannot_even_be_looked_at_is_refused() -> None:
    """A place that the system will not look into, as another user's home, is no interpreter and no other failure."""
    with pytest.raises(ValueError, match="no Python interpreter"):
        real_interpreter(f"/{'x' * 300}/bin/python3")


def test_a_version_manager_s_link_is_refused(tmp_path: Path) -> None:
    """A program in a directory of shims is the version manager itself, under the interpreter's name."""
    (tmp_path / "shims").mkdir()
    link = tmp_path / "shims" / "python3"
    link.symlink_to(os.path.realpath(sys.executable))
    with pytest.raises(ValueError, match="no Python interpreter"):
        real_interpreter(str(link))


def test_behind_a_shim_is_the_interpreter_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python was started by a shim's name and knows no better, its own installation tells the real one."""
    (tmp_path / "shims").mkdir()
    link = tmp_path / "shims" / "python3"
    link.symlink_to("/usr/bin/env")
    monkeypatch.setattr(sys, "executable", str(link))
    monkeypatch.setattr(sys, "_base_executable", str(link))
    path = real_interpreter()
    version = subprocess.run([path, "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == sys.version


@pytest.mark.parametrize(
    ("action", "harness"),
    [("stop", ""), ("stop", "Claude"), ("stop", "../x"), ("stop", "-x"), ("", "codex"), ("--x", "codex")],
)
def test_wrong_names_are_refused(action: str, harness: str) -> None:
    """What the hook would have to set right silently is refused where a person still sees it."""
    with pytest.raises(ValueError, match=r"harness|action"):
        command_line(action, harness)
