"""Reading notes makes nothing and changes nothing: where there are none yet, and where the disk takes nothing."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memsyncd.notes import errors, schema
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local import schema as platform_schema
from tests.clocks import HandClock

Call = Callable[[NoteStore], Any]

READING: dict[str, Call] = {
    "recall": lambda store: store.recall("a", "k"),
    "search": lambda store: store.search("value"),
    "stats": NoteStore.stats,
    "namespaces": NoteStore.namespaces,
    "namespaces_with": lambda store: store.namespaces_with("k", limit=3),
    "export": lambda store: list(store.export_rows()),
}

OVER_NOTHING: dict[str, Call] = {
    **READING,
    "forget": lambda store: store.forget("a", "k"),
    "clear": lambda store: store.clear("a"),
}


def outcome(call: Call, store: NoteStore) -> Any:
    try:
        return call(store)
    except errors.NoteMissing as error:
        return type(error)


@pytest.mark.parametrize("name", OVER_NOTHING)
def test_where_no_note_was_kept_nothing_is_made(path: Path, hands: HandClock, name: str) -> None:
    """Neither the file nor anything beside it, nor where there is no such directory; the answer is that of no notes
    (section 6, defect 15)."""
    for place in (path, path.parent / "nowhere" / path.name):
        store = NoteStore(place, hands.clock())
        answer = outcome(OVER_NOTHING[name], store)
        assert answer in ([], 0, errors.NoteMissing) or not getattr(answer, "total", 0)
        store.close()
    assert list(path.parent.iterdir()) == []


def test_a_file_of_memories_alone_has_no_notes_and_gets_no_tables(path: Path, hands: HandClock) -> None:
    """They come with the first note."""
    platform_schema.open_store(path).close()
    before = hashlib.sha256(path.read_bytes()).digest()
    store = NoteStore(path, hands.clock())
    assert store.stats().total == 0 and store.search("x").total == 0 and list(store.export_rows()) == []
    assert hashlib.sha256(path.read_bytes()).digest() == before
    store.remember("a", "k", "a value")
    assert store.recall("a", "k").value == "a value"
    store.close()


@pytest.fixture(name="full")
def full_fixture(tmp_path: Path) -> Iterator[Path]:
    """Return a directory on a disk of its own, of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def kept(directory: Path, hands: HandClock) -> NoteStore:
    """Return a store whose one note was written by a process that is gone."""
    program = (
        "import sys; from pathlib import Path; from memsyncd.clock import Clock; from memsyncd.notes.store import NoteStore;"
        "s = NoteStore(Path(sys.argv[1]), Clock()); s.remember('a', 'k', 'a value'); s.close()"
    )
    subprocess.run([sys.executable, "-c", program, str(directory / "memory.sqlite3")], check=True)
    return NoteStore(directory / "memory.sqlite3", hands.clock())


def test_notes_are_read_on_a_full_disk(full: Path, hands: HandClock) -> None:
    """SQLite has no room for its shared memory then. Writing says that there is no space, and forgetting what is not
    there that it is not."""
    store = kept(full, hands)
    with (full / "rest").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    assert store.recall("a", "k").value == "a value"
    assert all(outcome(call, store) for call in READING.values())
    with pytest.raises(errors.StoreFull, match="no space left"):
        store.remember("a", "l", "another")
    with pytest.raises(errors.NoteMissing):
        store.forget("a", "none")
    (full / "rest").unlink()
    store.remember("a", "l", "another")
    assert store.recall("a", "l").value == "another"
    store.close()


def test_notes_are_read_on_a_disk_mounted_read_only(full: Path, hands: HandClock) -> None:
    """As a backup is looked at. A process that had read them before sees what was written once it can be written to."""
    store = kept(full, hands)
    subprocess.run(["mount", "-o", "remount,ro", str(full)], check=True)
    try:
        assert all(outcome(call, store) for call in READING.values())
        with pytest.raises(errors.StoreUnavailable, match="cannot be"):
            store.remember("a", "l", "another")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(full)], check=True)
    other = NoteStore(store.path, hands.clock())
    other.remember("a", "k", "another value")
    other.close()
    assert store.recall("a", "k").value == "another value"
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read wherever a mode says no")
def test_a_file_of_another_user_is_told(store: NoteStore, path: Path) -> None:
    """It is not taken for an empty one (never-again 48)."""
    store.remember("a", "k", "v")
    path.chmod(0)
    with pytest.raises(errors.StoreUnavailable):
        store.recall("a", "k")
    path.chmod(0o600)


@pytest.mark.parametrize("content", [b"no database at all" * 300, b"SQLite format 3\0" + b"\1" * 5000])
def test_a_damaged_file_is_never_taken_for_an_empty_one(path: Path, hands: HandClock, content: bytes) -> None:
    """Each way of reading says so, and the bytes stay (section 6, defect 3; never-again 48)."""
    path.write_bytes(content)
    store = NoteStore(path, hands.clock())
    for call in READING.values():
        with pytest.raises(errors.NoteError) as raised:
            call(store)
        assert not isinstance(raised.value, errors.NoteMissing)
    store.close()
    assert path.read_bytes() == content


YESTERDAY = Path(__file__).parents[2] / "fixtures" / "yesterday" / "memory_with_notes.sqlite3"
"""Made by the code of commit 64d1249: its index took vowel signs for the end of a word."""


@pytest.fixture(name="old")
def old_fixture(path: Path) -> Path:
    shutil.copyfile(YESTERDAY, path)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("query", "key"),
    [("दस्तावेज़", "बैठक"), ("हिन्दी में लिखना", "बैठक"), ("बैठक", "बैठक"), ("মন্তব্য", "ভাষা"), ("deploying fridays", "deploy day")],
)
def test_a_store_of_the_first_version_is_brought_forward(old: Path, hands: HandClock, query: str, key: str) -> None:
    """The first that is remembered does so, once; its notes are found by whole words of every script, and none is lost."""
    store = NoteStore(old, hands.clock())
    before = {(row["namespace"], row["key"]): row["value"] for row in store.export_rows()}
    assert len(before) >= 4
    store.remember("new", "note", "of today")
    found = store.search(query)
    assert [hit.key for hit in found.hits][:1] == [key]
    after = {(row["namespace"], row["key"]): row["value"] for row in store.export_rows()}
    assert after == before | {("new", "note"): "of today"}
    store.sweep(hands.clock().wall(), 100)
    store.remember("default", "बैठक", "कुछ और")
    store.forget("परियोजना", "ভাষা")
    assert [hit.key for word in ("दस्तावेज़", "মন্তব্য") for hit in store.search(word).hits] == []
    store.close()


def test_a_store_of_the_first_version_is_read_as_it_is(old: Path, hands: HandClock) -> None:
    """Who only reads does not bring it forward."""
    store = NoteStore(old, hands.clock())
    assert store.recall("default", "deploy day").value == "We deploy on Fridays."
    assert [hit.key for hit in store.search("deploying fridays").hits] == ["deploy day"]
    assert (store.stats().total, store.stats().expired) == (5, 1)
    store.close()
    assert old.read_bytes() == YESTERDAY.read_bytes()


def test_the_index_of_a_store_brought_forward_is_whole(old: Path, hands: HandClock) -> None:
    """SQLite finds it in step with the words, and the vocabulary knows each word that is said."""
    store = NoteStore(old, hands.clock())
    store.remember("new", "note", "of today")
    store.sweep(hands.clock().wall(), 100)
    store.close()
    connection = schema.open_notes(old)
    connection.execute("INSERT INTO note_index(note_index, rank) VALUES('integrity-check', 1)")
    said = {
        word for (row,) in connection.execute("SELECT words FROM note_words") for word in row.split() if ":" not in word
    }
    assert said == {term for (term,) in connection.execute("SELECT term FROM note_vocabulary")}
    connection.close()
