"""A database's files and their modes."""

import os
from pathlib import Path

import pytest

from memsyncd.private_store import make_private


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    """From the moment it exists."""
    before = os.umask(0)
    try:
        make_private(tmp_path / "a.sqlite3")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a.sqlite3") == 0o600


@pytest.mark.parametrize("left", [0o644, 0o000, 0o044])
def test_what_a_restore_has_left_is_mended(tmp_path: Path, left: int) -> None:
    """Open to others, or not even to its owner; its log and shared memory too, and their bytes stay."""
    paths = [tmp_path / f"a.sqlite3{suffix}" for suffix in ("", "-wal", "-shm")]
    for path in paths:
        path.write_bytes(b"x")
        path.chmod(left)
    make_private(paths[0])
    assert {mode(path) for path in paths} == {0o600}
    assert {path.read_bytes() for path in paths} == {b"x"}


def test_what_a_link_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    """It is another file, that others may have reason to read."""
    (tmp_path / "letter").write_text("a letter")
    (tmp_path / "letter").chmod(0o644)
    (tmp_path / "a.sqlite3").symlink_to(tmp_path / "letter")
    make_private(tmp_path / "a.sqlite3")
    assert mode(tmp_path / "letter") == 0o644
