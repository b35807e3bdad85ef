"""The store: times to live, forgetting, sweeping, what is told of it, and rows going out and in."""

import stat
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsyncd.notes import limits, rows, schema
from memsyncd.notes.arriving import verdict
from memsyncd.notes.errors import NoteMissing, NoteRefused, StoreBusy, StoreNewer, StoreUnavailable, TooManyNotes
from memsyncd.notes.note import Arrival, IncomingNote, NamespaceCount, Note, Swept
from memsyncd.notes.store import NoteStore
from tests.clocks import HandClock


def incoming(value: str = "old", at: int | None = 1_000, expires_at: int | None = None, key: str = "k") -> IncomingNote:
    return IncomingNote("default", key, value, at or 5_000, at, at or 5_000, expires_at, 3)


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
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
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


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


NOW = 10_000


@pytest.mark.parametrize(
    ("existing", "buried_at", "note", "outcome"),
    [
        (None, None, incoming(), Arrival.BROUGHT),
        (None, None, incoming(at=None), Arrival.BROUGHT),
        (None, 1_000, incoming(at=1_000), Arrival.FORGOTTEN),
        (None, 1_000, incoming(at=1_001), Arrival.BROUGHT),
        (None, 1, incoming(at=None), Arrival.FORGOTTEN),
        (None, None, incoming(expires_at=NOW), Arrival.EXPIRED),
        (2_000, None, incoming(at=1_000), Arrival.OLDER),
        (2_000, None, incoming(at=2_000), Arrival.OLDER),
        (2_000, None, incoming(at=2_001), Arrival.UPDATED),
        (2_000, None, incoming(at=None), Arrival.OLDER),
        (2_000, None, incoming(at=NOW + 1), Arrival.OLDER),
        (2_000, None, incoming("here", at=3_000), Arrival.UNCHANGED),
        (2_000, None, incoming("here", at=3_000, expires_at=NOW + 1), Arrival.UPDATED),
    ],
)
def test_what_becomes_of_a_note_from_elsewhere(
    existing: int | None, buried_at: int | None, note: IncomingNote, outcome: Arrival
) -> None:
    """The newer one wins, what was forgotten stays so, and a date that cannot be right wins over nothing."""
    here = Note("default", "k", "here", 500, existing, existing) if existing else None
    assert verdict(here, buried_at, note, NOW) is outcome


def test_rows_go_out_and_in(store: NoteStore, tmp_path: Path, hands: HandClock) -> None:
    """An export brought into another store is the same; brought in again, it changes nothing."""
    store.remember("a", "k", "v", 1_000)
    store.take_in([incoming()])
    exported = list(store.export_rows())
    other = NoteStore(tmp_path / "other.sqlite3", hands.clock())
    assert other.import_rows(exported).arrivals == {Arrival.BROUGHT: 2}
    assert list(other.export_rows()) == exported
    assert other.import_rows(exported).arrivals == {Arrival.UNCHANGED: 2}
    other.forget("a", "k")
    hands.move(1)
    assert other.import_rows(exported).arrivals == {Arrival.UNCHANGED: 1, Arrival.FORGOTTEN: 1}
    other.close()


def test_rows_that_are_no_notes_are_named(store: NoteStore) -> None:
    """Each with its place and the reason; the others come in, cleaned."""
    store.remember("a", "k", "v")
    (good,) = store.export_rows()
    bad = [
        {**good, "type": "memory"},
        {**good, "key": 5},
        {**good, "created_at": "yesterday"},
        {**good, "access_count": -1},
        {**good, "namespace": " "},
    ]
    outcome = store.import_rows([*bad, {**good, "key": "new", "value": "<private>x</private>public"}])
    assert (outcome.refused, outcome.cleaned) == (5, 1)
    assert [named.place for named in outcome.named] == [1, 2, 3, 4, 5]
    assert outcome.named[1].reason == "key is not text"
    assert store.recall("a", "new").value == "public"


def test_an_import_of_many_rows_is_many_transactions(store: NoteStore) -> None:
    """More rows than one transaction takes all come in."""
    count = limits.ROWS_AT_ONCE + 3
    template = {"type": "note", "namespace": "a", "value": "v", "expires_at": None, "access_count": 0}
    moment = "2026-01-01T00:00:00.000Z"
    given_rows = [{**template, "key": f"k{n}", "created_at": moment, "updated_at": moment} for n in range(count)]
    assert store.import_rows(given_rows).arrivals == {Arrival.BROUGHT: count}
    assert len(list(store.export_rows())) == count
