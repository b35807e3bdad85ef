"""What a start needs, the doctor looks at: nothing passes here with which `run` ends at once."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.doctor import files
from daemon.doctor.files import File
from tests.daemon.composed import Composed, composed
from tests.daemon.doctor.examined import examine_home, found

REGULAR = stat.S_IFREG | 0o600


@pytest.mark.parametrize(
    ("file", "uid", "words"),
    [
        (File("/q", REGULAR, 7), 7, ""),
        (File("/q", REGULAR & ~0o777, 7), 7, ""),
        (File("/q", REGULAR, 7), 0, ""),
        (File("/q q", REGULAR, 0), 7, "`sudo chown 7 '/q q'`"),
        (File("/q", None), 7, "`mv /q /q.old`"),
        (File("/q", stat.S_IFDIR | 0o700, 7, is_kind=False), 7, "`mv /q /q.old`"),
    ],
)
def test_what_only_its_owner_can_use_and_what_is_no_file_fails(file: File, uid: int, words: str) -> None:
    """With what to type; a mode that lets nobody in is set right by the daemon itself."""
    told = files.files([file], uid)
    assert told.ok == (not words)
    assert words in told.remedy


@pytest.mark.parametrize(
    "name", ["queue.sqlite3", "memory.sqlite3-wal", "spools/claude-code/evidence.sqlite3", "nudge"]
)
@pytest.mark.parametrize(
    "put", [Path.mkdir, lambda path: path.symlink_to("/nowhere/at-all")], ids=["directory", "dangling link"]
)
def test_what_lies_in_the_way_of_a_start_is_named(tmp_path: Path, name: str, put: Callable[[Path], object]) -> None:
    """A closed, sound home passes, and so does an empty one."""
    with composed(tmp_path) as home:
        assert_well(home)
        path = home.places.data / name
        path.unlink(missing_ok=True)
        put(path)
        told = found(files.probes(examine_home(tmp_path)))["files"]
        assert not told.ok
        assert str(path) in told.message and f"`mv {path} {path}.old`" in told.remedy
    assert not found(files.probes(examine_home(tmp_path / "empty")))["files"].ran


def assert_well(home: Composed) -> None:
    home.spool()
    home.upkeep.refresh()
    os.mkfifo(home.places.nudge, 0o400)
    home.places.queue_file.chmod(0o400)
    assert found(files.probes(examine_home(home.root)))["files"].ok
