"""Small private files on which processes agree."""

import fcntl
import os
from pathlib import Path

import pytest

from memsyncd.telemetry import private_file
from tests.memsyncd.telemetry.children import race


def test_a_file_is_published_once(tmp_path: Path) -> None:
    """The second publisher is told so and changes nothing; no temporary file is left."""
    path = tmp_path / "state"
    assert private_file.publish(path, b"first")
    assert not private_file.publish(path, b"second")
    assert private_file.read(path) == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]


def test_a_file_is_changed_only_from_what_it_was(tmp_path: Path) -> None:
    """A swap and a removal act on the content they expect, and on no other."""
    path = tmp_path / "state"
    assert not private_file.swap(path, b"", b"x")
    assert not private_file.remove(path, b"")
    private_file.publish(path, b"first")
    assert not private_file.swap(path, b"other", b"second")
    assert not private_file.remove(path, b"other")
    assert private_file.swap(path, b"first", b"second")
    assert private_file.read(path) == b"second"
    assert path.stat().st_mode & 0o777 == 0o600
    assert private_file.remove(path, b"second")
    assert not list(tmp_path.iterdir())


def test_a_file_somebody_changes_is_left_to_them(tmp_path: Path) -> None:
    """While another process holds it neither swap nor removal acts; with patience they wait for a bounded time."""
    path = tmp_path / "state"
    private_file.publish(path, b"first")
    holder = os.open(path, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    assert not private_file.swap(path, b"first", b"second")
    assert not private_file.remove(path, b"first", patience=0.05)
    os.close(holder)
    assert private_file.swap(path, b"first", b"second")


def test_a_failed_change_leaves_what_was(tmp_path: Path) -> None:
    """Where the new content cannot be written the old one stays, and the error is raised."""
    path = tmp_path / ("x" * 250)  # no room in the name for the temporary file's
    path.write_bytes(b"first")
    with pytest.raises(OSError):
        private_file.swap(path, b"first", b"second")
    assert private_file.read(path) == b"first"


SETTING = """
import errno, os
from pathlib import Path
from memsyncd.telemetry import private_file

def no_links(*_, **__):
    raise PermissionError(errno.EPERM, "no hard links here")

os.link = no_links
"""

PUBLISH = """
for number in range(50):
    path = Path(sys.argv[1]) / f"state-{number}"
    mine = f"{sys.argv[2]}\\n".encode()
    private_file.publish(path, mine)
    told = b""
    while not told:
        told = private_file.read(path)
        if not told:
            private_file.swap(path, told, mine)
    print(told.decode().strip())
"""


def test_without_hard_links_processes_agree_all_the_same(tmp_path: Path) -> None:
    """Where links fail the file is created exclusively (12.7); one found empty is filled by whoever comes first."""
    for number in range(0, 50, 2):
        (tmp_path / f"state-{number}").touch(mode=0o600)
    told = race(SETTING, PUBLISH, [[tmp_path, name] for name in "abcd"])
    assert all(lines == told[0] for lines in told)
    assert [(tmp_path / f"state-{number}").read_text().strip() for number in range(50)] == told[0]
    assert len(list(tmp_path.iterdir())) == 50
