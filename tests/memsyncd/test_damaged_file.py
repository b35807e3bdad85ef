"""Damage is told for certain, and a file the disk does not give is not damaged."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd import damaged_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a.sqlite3"
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("CREATE TABLE words(word TEXT)")
        connection.executemany("INSERT INTO words VALUES (?)", [("x" * 500,)] * 200)
        connection.commit()
    return made


def overwrite(path: Path, *pages: int) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * 4096)
            file.write(os.urandom(4096))


def test_a_sound_file_is_not_damaged(path: Path) -> None:
    """Nor is one that is in use, or locked by another for a moment."""
    assert not damaged_file.is_sure(path)
    assert damaged_file.unreadable(path) == ""


@pytest.mark.parametrize("pages", [(0,), (5,)], ids=["its head", "a page in its midst"])
def test_overwritten_pages_are_damage(path: Path, pages: tuple[int, ...]) -> None:
    """Wherever they lie."""
    overwrite(path, *pages)
    assert damaged_file.is_sure(path)


def test_a_file_the_disk_does_not_give_is_not_damaged(tmp_path: Path) -> None:
    """A read that ends in EIO says nothing of the file, though SQLite calls that malformed too."""
    path = tmp_path / "a.sqlite3"
    path.symlink_to("/proc/self/mem")  # gives EIO to who reads its first byte
    assert damaged_file.unreadable(path) == "Input/output error"
    assert not damaged_file.is_sure(path)


def test_the_newest_three_are_kept_with_their_logs(path: Path) -> None:
    """Each under a name of its own, however quickly one follows another; what is dropped is told."""
    dropped = []
    for number in range(5):
        path.write_bytes(b"%d" % number)
        Path(f"{path}-wal").write_bytes(b"log %d" % number)
        dropped.append(damaged_file.set_aside(path, 1_796_000_000.5)[1])
    assert dropped == [0, 0, 0, 1, 1]
    kept = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert kept == {
        **{f"a.sqlite3.corrupt-{1_796_000_000 + number}": b"%d" % number for number in (2, 3, 4)},
        **{f"a.sqlite3.corrupt-{1_796_000_000 + number}-wal": b"log %d" % number for number in (2, 3, 4)},
    }
