"""Directories that are their owner's alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.private_directory import make_private

UID = os.getuid()
needs_root = pytest.mark.skipif(UID != 0, reason="only root can give a file away")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o377])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_everything_it_makes_is_0700(tmp_path: Path, umask: int) -> None:
    """Whatever the umask, the directory and its missing parents are 0700."""
    make_private(tmp_path / "a/b/c", uid=UID)
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_an_open_directory_of_ours_is_closed(tmp_path: Path) -> None:
    """A directory others may only read is ours to close; its set-group bit stays."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d").chmod(0o2755)
    make_private(tmp_path / "d", uid=UID)
    assert mode(tmp_path / "d") == 0o2700


@pytest.mark.parametrize("open_mode", [0o770, 0o702, 0o777])
def test_a_directory_others_can_write_is_refused(tmp_path: Path, open_mode: int) -> None:
    """What others may have put there cannot be trusted, so it is not quietly closed."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d").chmod(open_mode)
    with pytest.raises(ConfigurationError, match="chmod 700"):
        make_private(tmp_path / "d", uid=UID)
    assert mode(tmp_path / "d") == open_mode


def test_another_users_directory_is_refused(tmp_path: Path) -> None:
    """The sentence names both users and the remedy."""
    with pytest.raises(ConfigurationError, match="chown"):
        make_private(tmp_path, uid=UID + 1)


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    """A file where the directory or its parent should be is named, not removed."""
    (tmp_path / "f").write_text("kept")
    with pytest.raises(ConfigurationError, match="no directory"):
        make_private(tmp_path / "f", uid=UID)
    with pytest.raises(ConfigurationError, match="cannot be made"):
        make_private(tmp_path / "f/below", uid=UID)
    assert (tmp_path / "f").read_text() == "kept"


def test_a_link_of_ours_is_followed_and_a_dangling_one_refused(tmp_path: Path) -> None:
    """People keep data on another disk by a link."""
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    make_private(tmp_path / "link", uid=UID)
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigurationError):
        make_private(tmp_path / "dangling", uid=UID)


@needs_root
def test_a_link_planted_by_another_user_is_refused(tmp_path: Path) -> None:
    """In /tmp anybody may plant a link at a name that can be guessed."""
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.lchown(tmp_path / "link", 65534, 65534)
    with pytest.raises(ConfigurationError, match="remove it"):
        make_private(tmp_path / "link", uid=UID)
