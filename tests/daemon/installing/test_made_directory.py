"""Directories that an installation made go with its last file; those of others, and what others put there, stay."""

import os
import sys
from pathlib import Path

import pytest

from daemon.installing import hooks, made_directory
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around

CURSOR = HARNESSES["cursor"]


@pytest.fixture
def marking(home: Path) -> None:
    """Skip where the file system keeps no marks: what we made is not known there, and stays."""
    made_directory.make(home / "probe", 0o700)
    made_directory.remove(home / "probe")
    if (home / "probe").exists():
        assert sys.platform != "linux" or not _keeps_marks(home)
        pytest.skip("the file system has no extended attributes for users")


def _keeps_marks(path: Path) -> bool:
    try:
        os.setxattr(path, "user.memsyncd.test", b"")
    except OSError:
        return False
    return True


@pytest.mark.usefixtures("marking")
@pytest.mark.parametrize("name", HARNESSES)
def test_out_they_leave_not_even_an_empty_directory(name: str, home: Path, around: Around) -> None:
    """A harness that is not there looked as if it had been, else."""
    hooks.install(HARNESSES[name], around)
    assert list(home.iterdir())
    hooks.uninstall(HARNESSES[name], around)
    assert list(home.iterdir()) == []


def test_an_empty_directory_that_was_there_before_stays(home: Path, around: Around) -> None:
    """Nobody asked for its removal."""
    (home / ".cursor").mkdir()
    hooks.install(CURSOR, around)
    hooks.uninstall(CURSOR, around)
    assert list(home.iterdir()) == [home / ".cursor"]


@pytest.mark.usefixtures("marking")
def test_what_others_have_put_there_since_stays(home: Path, around: Around) -> None:
    """And with it the directory, until another uninstallation finds it empty."""
    hooks.install(CURSOR, around)
    theirs = home / ".cursor" / "mcp.json"
    theirs.write_text("{}")
    hooks.uninstall(CURSOR, around)
    assert list((home / ".cursor").iterdir()) == [theirs]
    theirs.unlink()
    hooks.install(CURSOR, around)
    hooks.uninstall(CURSOR, around)
    assert list(home.iterdir()) == []
