"""Errors of the file in words that a model and a person can act on."""

import sqlite3
from pathlib import Path

import pytest

from memsyncd.notes import errors
from memsyncd.notes.store import NoteStore
from tests.clocks import HandClock
from tests.memsyncd.notes.conftest import Asking


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (sqlite3.SQLITE_CORRUPT, errors.StoreDamaged, "damaged"),
        (sqlite3.SQLITE_NOTADB, errors.StoreDamaged, "damaged"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, errors.StoreBusy, "try again"),
        (sqlite3.SQLITE_FULL, errors.StoreFull, "no space left"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, errors.StoreFull, "no space left"),
        (sqlite3.SQLITE_READONLY_DBMOVED, errors.StoreUnavailable, "cannot be written"),
        (sqlite3.SQLITE_IOERR_FSYNC, errors.StoreUnavailable, "cannot be used"),
    ],
)
def test_an_error_of_sqlite_has_its_own_words(code: int, kind: type[errors.NoteError], says: str) -> None:
    """Each class says what it means; SQLite's own text is not passed on."""
    error = sqlite3.OperationalError("near /home/ada/secret: syntax")
    error.sqlite_errorcode = code
    mapped = errors.mapped(error)
    assert type(mapped) is kind
    assert says in str(mapped)
    assert "ada" not in str(mapped)


def test_a_full_disk_is_told_and_over_when_there_is_room(store: NoteStore) -> None:
    """Nothing of the note is stored, what was there is still recalled, and the next try succeeds."""
    store.remember("a", "k", "v")
    with store._writer.transaction() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(errors.StoreFull):
        store.remember("a", "large", "word " * 15_000)
    assert (store.recall("a", "k").value, store.stats().total) == ("v", 1)
    connection.execute("PRAGMA max_page_count = 100000")
    store.remember("a", "large", "word " * 15_000)
    assert store.stats().total == 2


def test_a_directory_that_is_missing_is_told_without_its_path(tmp_path: Path, hands: HandClock) -> None:
    """The reason is the system's, the place is nobody's business."""
    store = NoteStore(tmp_path / "nowhere" / "memory.sqlite3", hands.clock())
    with pytest.raises(errors.StoreUnavailable, match="No such file") as raised:
        store.remember("a", "k", "v")
    assert str(tmp_path) not in str(raised.value)


def test_a_search_that_finds_nothing_is_no_error(ask: Asking) -> None:
    """It says none, in both formats."""
    assert ask("memory_search", query="zebra")["results"] == []
    answer = ask.tools.memory_search("zebra")
    assert not answer.is_error
    assert answer.text.endswith("### results\n\nnone")
