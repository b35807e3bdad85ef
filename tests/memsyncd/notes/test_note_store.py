"""The store: times to live, forgetting, sweeping, what is told of it, and rows going out and in."""

import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsyncd.notes import rows, schema
from memsyncd.notes.errors import NoteMissing, NoteRefused, StoreBusy, StoreNewer, StoreUnavailable, TooManyNotes
from memsyncd.notes.note import NamespaceCount, Swept
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local import schema as platform_schema
from tests.clocks import HandClock


def test_a_time_to_live_can_be_changed_and_taken_away(store: NoteStore, hands: HandClock) -> None:
    """Each remembering sets it anew, counted from then; without one the note stays."""
    store.remember("default", "k", "v", 10)
    hands.move(5)
    store.remember("default", "k", "v", 100)
    hands.move(50)
    assert store.recall("default", "k").expires_at == round((hands.wall_now + 50) * 1000)
    store.remember("default", "k", "v")
    hands.move(10_000)
    assert store.recall("default", "k").expires_at is None


def test_an_expired_note_remembered_again_is_a_new_one(store: NoteStore, hands: HandClock) -> None:
    """Its age begins anew."""
    store.remember("default", "k", "v", 10)
    hands.move(10)
    again = store.remember("default", "k", "w")
    assert again.created
    assert again.note.created_at == round(hands.wall_now * 1000)


def test_a_clock_set_back_makes_no_note_older(store: NoteStore, hands: HandClock) -> None:
    """`updated_at` never goes back, so that an older copy does not win later."""
    first = store.remember("default", "k", "v").note
    hands.move(-500)
    assert store.remember("default", "k", "w").note.updated_at == first.updated_at


@pytest.mark.parametrize(
    ("namespace", "key", "says"),
    [("", "k", "blank"), ("n", " \t", "blank"), ("n", "k" * 1_001, "1,000"), ("n\ud800", "k", "half")],
)
def test_a_name_that_cannot_be_kept_as_given_is_refused(store: NoteStore, namespace: str, key: str, says: str) -> None:
    """The reason is told; nothing is stored."""
    with pytest.raises(NoteRefused, match=says):
        store.remember(namespace, key, "v")
    assert store.stats().total == 0


def test_forgetting_is_for_good(store: NoteStore) -> None:
    """The note, its words and its namespace are gone; forgetting again says there is none."""
    store.remember("a", "k", "peculiar words")
    store.forget("a", "k")
    assert store.namespaces() == []
    assert store.search("peculiar").total == 0
    with pytest.raises(NoteMissing):
        store.forget("a", "k")


@pytest.mark.parametrize("how", ["forget", "clear", "replace", "replace and forget"])
def test_forgetting_a_word_leaves_no_trace_of_it(
    store: NoteStore, path: Path, hands: HandClock, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only one note said is in no table after a sweep; what others say too is still found."""
    monkeypatch.setattr("memsyncd.notes.store.ROWS_AT_ONCE", 1)
    store.remember("b", "two", "apple")
    store.remember("a", "k", "peculiar strange apple")
    if how == "clear":
        store.clear("a")
    if how.startswith("replace"):
        store.remember("a", "k", "apple")
    if how.endswith("forget"):
        store.forget("a", "k")
    store.sweep(hands.wall_now, 100)
    connection = schema.open_notes(path)
    left = {term for (term,) in connection.execute("SELECT term FROM note_vocabulary")}
    assert left - {"k"} == {"appl", "two"}
    assert connection.execute("SELECT count(*) FROM note_unsaid").fetchone() == (0,)
    connection.close()
    assert "two" in [hit.key for hit in store.search("apple").hits]


@pytest.mark.parametrize("how", ["forget", "clear", "expire", "replace"])
def test_what_was_forgotten_is_in_no_byte_of_the_files(
    store: NoteStore, path: Path, hands: HandClock, how: str
) -> None:
    """Neither in free pages, nor in the index's older segments, nor in the log, while the store is open; others'
    words are still found."""
    store.remember("b", "kept", "apple " * 2_000)
    store.remember("a", "k", "peculiarity " * 2_000, ttl_seconds=60 if how == "expire" else None)
    assert any(b"peculiar" in file.read_bytes() for file in path.parent.iterdir())
    if how == "forget":
        store.forget("a", "k")
    elif how == "clear":
        store.clear("a")
    else:
        if how == "replace":
            store.remember("a", "k", "apple")
        hands.move(60)
        store.sweep(hands.wall_now, 100)
    for file in path.parent.iterdir():
        assert b"peculiar" not in file.read_bytes()
    assert "kept" in [hit.key for hit in store.search("apple").hits]


def test_forgetting_does_not_wait_for_who_reads(store: NoteStore, path: Path) -> None:
    """Another process in the middle of a reading transaction holds up the log's folding, and nobody's forgetting."""
    store.remember("a", "k", "peculiar")
    with closing(sqlite3.connect(path, isolation_level=None)) as reading:
        reading.execute("BEGIN")
        assert reading.execute("SELECT count(*) FROM notes").fetchone() == (1,)
        begun = time.monotonic()
        store.forget("a", "k")
        assert time.monotonic() - begun < platform_schema.BUSY_SECONDS - 1.0
    store.remember("a", "k", "anew")
    assert store.recall("a", "k").value == "anew"


def test_clearing_deletes_one_namespace_whole(store: NoteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """More notes than go in one transaction, expired ones not counted, other namespaces untouched."""
    monkeypatch.setattr("memsyncd.notes.store.ROWS_AT_ONCE", 7)
    for number in range(20):
        store.remember("a", f"k{number}", "v")
    store.remember("b", "k", "v")
    assert store.clear("a") == 20
    assert store.namespaces() == [NamespaceCount("b", 1, 0)]


def test_a_sweep_keeps_to_its_limit(store: NoteStore, hands: HandClock) -> None:
    """It takes the longest expired first and says whether there are more."""
    for number in range(5):
        store.remember("a", f"k{number}", "v", ttl_seconds=100 - number)
    store.remember("a", "stays", "v")
    hands.move(200)
    assert store.sweep(hands.wall_now, limit=2) == Swept(2, 0, more=True)
    assert store.sweep(hands.wall_now, limit=100) == Swept(3, 0, more=False)
    assert [row["key"] for row in store.export_rows()] == ["stays"]


def test_the_oldest_tombstones_go_first(store: NoteStore, path: Path) -> None:
    """They are bounded, and how many went is told."""
    for number in range(5):
        store.remember("a", f"k{number}", "v")
        store.forget("a", f"k{number}")
    assert store.stats().tombstones == 5
    connection = schema.open_notes(path)
    assert rows.drop_tombstones(connection, keep=2) == 3
    assert rows.drop_tombstones(connection, keep=2) == 0
    connection.close()
    assert store.stats().tombstones == 2


def test_a_full_store_takes_no_new_note(store: NoteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is there can still be changed."""
    monkeypatch.setattr("memsyncd.notes.rows.MAX_NOTES", 1)
    store.remember("a", "k", "v")
    store.remember("a", "k", "w")
    with pytest.raises(TooManyNotes):
        store.remember("a", "other", "v")


def test_the_figures_follow_every_change(store: NoteStore, hands: HandClock) -> None:
    """Bytes are those of keys and values in UTF-8."""
    store.remember("a", "é", "12345")
    hands.move(5)
    store.remember("b", "k", "v", 10)
    stats = store.stats()
    assert (stats.total, stats.size_bytes, stats.namespaces) == (2, 9, 2)
    assert stats.newest == (stats.oldest or 0) + 5_000
    store.remember("a", "é", "1")
    store.forget("b", "k")
    assert (store.stats().total, store.stats().size_bytes) == (1, 3)


def test_the_file_is_private_and_shared_with_the_platforms(store: NoteStore, path: Path) -> None:
    """It is made 0600 with the platform's tables in it; opened again, all is there."""
    store.remember("a", "k", "v")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = schema.open_notes(path)
    assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)
    assert connection.execute("PRAGMA user_version").fetchone() == (platform_schema.VERSION,)
    connection.close()


@pytest.mark.parametrize("statement", ["UPDATE note_store SET version = 99", "PRAGMA user_version = 99"])
def test_a_newer_file_is_left_alone(store: NoteStore, path: Path, hands: HandClock, statement: str) -> None:
    """Whichever part of it is newer, one sentence says so."""
    store.remember("a", "k", "v")
    connection = schema.open_notes(path)
    connection.execute(statement)
    connection.close()
    other = NoteStore(path, hands.clock())
    with pytest.raises(StoreNewer, match="newer version"):
        other.recall("a", "k")
    other.close()


def test_a_locked_store_is_a_deferral(store: NoteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits too long is told that nothing was changed; reading goes on meanwhile."""
    monkeypatch.setattr("memsyncd.platforms.local.schema.BUSY_SECONDS", 0.05)
    store.remember("a", "k", "v")
    connection = schema.open_notes(path)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="nothing was changed"):
        store.remember("a", "k", "w")
    assert store.recall("a", "k").value == "v"
    connection.close()
    store.remember("a", "k", "w")


def test_a_closed_store_says_so(store: NoteStore) -> None:
    """No file is opened again by a late call."""
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.recall("a", "k")


def test_threads_share_a_store(store: NoteStore) -> None:
    """Notes remembered by several threads are all there."""
    threads = [
        threading.Thread(target=lambda name=name: [store.remember("a", f"{name}-{n}", "v") for n in range(10)])  # type: ignore[misc]
        for name in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.stats().total == 40


NAMES = st.text(min_size=1, max_size=40).filter(lambda name: bool(name.strip()))


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.tuples(NAMES, NAMES), st.text(min_size=1, max_size=60).filter(str.strip), max_size=6))
def test_every_name_is_kept_as_given(store: NoteStore, notes: dict[tuple[str, str], str]) -> None:
    """Any Unicode names come back from recalling, listing and exporting as they were given."""
    for (namespace, key), value in notes.items():
        store.remember(namespace, key, value)
    assert {each.namespace for each in store.namespaces()} == {namespace for namespace, _ in notes}
    assert {(row["namespace"], row["key"]) for row in store.export_rows()} == set(notes)
    for namespace, key in notes:
        assert (store.recall(namespace, key).namespace, store.recall(namespace, key).key) == (namespace, key)
    for namespace in {namespace for namespace, _ in notes}:
        store.clear(namespace)
    assert store.stats().total == store.stats().size_bytes == 0
