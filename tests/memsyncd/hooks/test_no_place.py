"""A hook whose environment names no directory that a daemon could serve: nothing is left, least of all in a project."""

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memsyncd.hooks import spool
from memsyncd.hooks.command_line import command_line

LONG = "/" + "/".join(["d" * 100] * 5)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMSYNCD_HOME", "rel"), ("MEMSYNCD_HOME", "./rel"), ("MEMSYNCD_HOME", "~/rel"), ("HOME", "rel"),
        ("HOME", "."), ("MEMSYNCD_HOME", "{tmp}/\udcff"), ("HOME", "{tmp}/\udcff"), ("MEMSYNCD_HOME", "{tmp}" + LONG),
    ],
)  # fmt: skip
def test_a_hook_leaves_nothing_where_no_daemon_can_be(every: Any, tmp_path: Path, variable: str, value: str) -> None:
    """A relative home is another one in each project, and would keep a prompt there unredacted; one that is too long or
    not UTF-8 holds no database. The hook is silent, and a line where the user's other homes look tells why."""
    project = tmp_path / "project"
    project.mkdir()
    run = tmp_path / "run"
    ended = subprocess.run(
        ["sh", "-c", command_line("user-prompt", "codex", interpreter=every.interpreter)],
        cwd=project,
        env={"PATH": os.defpath, "XDG_RUNTIME_DIR": str(run), variable: value.format(tmp=tmp_path)},
        input=b'{"prompt": "not for anybody else"}',
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert list(project.iterdir()) == []
    assert set(tmp_path.iterdir()) == {project, run}
    [line] = (run / "memsyncd" / "hook-errors.log").read_text().splitlines()
    assert line.split()[1:] == ["user-prompt", "codex", "NoPlaceError", "-"]


def test_an_empty_home_is_none() -> None:
    """Where HOME is empty, the home is the user database's, as where it is missing."""
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    assert spool.data_directory({b"HOME": b""}, "linux") == os.fsencode(home / ".local/share/memsyncd")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody whom nobody knows")
def test_a_user_whom_nobody_knows_has_no_place() -> None:
    """Without HOME, and with no entry in the user database, there is no directory, and none is made up."""
    unknown = 54_321
    with pytest.raises(KeyError):
        pwd.getpwuid(unknown)
    os.seteuid(unknown)
    try:
        found = spool.data_directory({b"HOME": b""}, "linux")
    finally:
        os.seteuid(0)
    assert found == b""
    with pytest.raises(spool.NoPlaceError):
        spool.open_pending(found, "codex")
