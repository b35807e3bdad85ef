"""The memory file read without a daemon, where nobody can write."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.local import reading, schema
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Message, Query
from tests.memsyncd.platforms.local.stored import YESTERDAY, assert_index_is_whole

TEXT = "We use pnpm as package manager."
QUERY = Query("Which package manager?", "ada", "shop", ("shop-1",))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file as a daemon left it that ended well."""
    path = tmp_path / "memory.sqlite3"
    platform = LocalPlatform(path, Clock())
    batch = Batch("p", 0, [Message("user", TEXT)], "ada", "shop", "shop-1", "s", {})
    platform.extraction(platform.add(batch).event_id)
    platform.close()
    return path


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write wherever a mode says no")
def test_a_file_where_nobody_can_write_is_read(file: Path) -> None:
    """SQLite could make no shared memory beside it."""
    file.parent.chmod(0o500)
    try:
        assert [memory.memory for memory in reading.search(file, QUERY, now=1.0)] == [TEXT]
    finally:
        file.parent.chmod(0o700)


@pytest.mark.parametrize(
    ("can_write_beside", "has_log", "way"),
    [(True, False, "mode=ro"), (True, True, "mode=ro"), (False, True, "mode=ro"), (False, False, "immutable=1")],
)
def test_only_what_nobody_can_change_is_read_without_locks(can_write_beside: bool, has_log: bool, way: str) -> None:
    """A log may hold what the file does not."""
    assert schema.way_to_look(can_write_beside=can_write_beside, has_log=has_log) == way


def test_a_still_file_is_read_whole_and_nothing_is_made_beside_it(file: Path) -> None:
    """As a daemon that ended well leaves it."""
    way = schema.way_to_look(can_write_beside=False, has_log=False)
    with closing(sqlite3.connect(f"{file.as_uri()}?{way}", uri=True)) as still:
        assert still.execute("SELECT text FROM memories").fetchall() == [(TEXT,)]
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_where_others_can_write_the_locks_are_followed(file: Path) -> None:
    """What another process has just written is read."""
    with closing(schema.connect(file)) as other:
        other.execute("UPDATE memories SET text = 'We use yarn as package manager.'")
        assert [memory.memory for memory in reading.search(file, QUERY, now=1.0)] == ["We use yarn as package manager."]
    with closing(sqlite3.connect(file)) as other:
        assert other.execute("SELECT count(*) FROM memories").fetchone() == (1,)


@pytest.mark.parametrize("question", ["दस्तावेज़ किस भाषा में", "हिन्दी", "which database keeps orders?"])
def test_memories_of_the_first_version_are_found_by_whole_words_of_every_script(tmp_path: Path, question: str) -> None:
    """Once the file was brought forward; until then as far as that version's words go."""
    path = tmp_path / "memory.sqlite3"
    shutil.copyfile(YESTERDAY, path)
    query = Query(question, "ada", "shop", ("shop-1",))
    reading.search(path, query, now=1.0)
    assert path.read_bytes() == YESTERDAY.read_bytes()
    assert_index_is_whole(path)
    assert len(reading.search(path, query, now=1.0)) == 1


def test_memories_are_read_on_a_full_disk(file: Path, tmp_path: Path) -> None:
    """SQLite cannot make its shared memory beside the file then."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        shutil.copyfile(file, place / file.name)
        with (place / "rest").open("wb", buffering=0) as rest, suppress(OSError):
            while rest.write(bytes(4096)):
                pass
        for _ in range(2):  # the first may leave empty companions
            assert [memory.memory for memory in reading.search(place / file.name, QUERY, now=1.0)] == [TEXT]
    finally:
        subprocess.run(["umount", str(place)], check=True)
