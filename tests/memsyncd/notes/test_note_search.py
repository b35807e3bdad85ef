"""Searching: what is found, in which order, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.notes import words
from memsyncd.notes.limits import MAX_NOTE_TERMS, MAX_SEARCH_VALUE_CHARS
from memsyncd.notes.note import IncomingNote
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local.terms import MAX_TERMS
from tests.clocks import HandClock
from tests.memsyncd.notes.conftest import Asking

NOTES = {
    "db-url": "the database runs on port 5432",
    "retry policy": "maxRetries is 5, with jitter",
    "style": "We prefer tabs; deployment is by hand.",
    "日本語メモ": "東京のサーバーは再起動が必要です",
    "größe": "Die Größe des Puffers",
    "बैकअप": "डेटाबेस रात में सहेजा जाता है",
    "todo": "what is not to be done: a::b 100% 🎉",
}


@pytest.fixture(name="filled")
def filled_fixture(store: NoteStore) -> NoteStore:
    """Return a store with some notes."""
    for key, value in NOTES.items():
        store.remember("default", key, value)
    return store


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("database", "db-url"),
        ("DATABASES", "db-url"),
        ("db_url", "db-url"),
        ("max_retries", "retry policy"),
        ("retries", "retry policy"),
        ("deployed", "style"),
        ("data", "db-url"),
        ("abas", "db-url"),
        ("サーバー", "日本語メモ"),
        ("grösse", "größe"),
        ("डेटाबेस", "बैकअप"),
        ("🎉", "todo"),
        ("100%", "todo"),
        ("a::b", "todo"),
        ("not to be", "todo"),
        ("by hand.", "style"),
    ],
)
def test_a_note_is_found_by(filled: NoteStore, query: str, key: str) -> None:
    """Words in any case and ending, parts of names and of words, other scripts, signs, function words."""
    found = filled.search(query)
    assert found.hits[0].key == key


@pytest.mark.parametrize(
    "query", ["zebra", "%", "_", "\\", '"', "'; DROP TABLE notes", "NOT", "a AND", "(", "\x00", "k:db"]
)
def test_no_query_is_an_error(filled: NoteStore, query: str) -> None:
    """Signs of the index's own language are taken as text."""
    for hit in filled.search(query).hits:
        assert query.casefold() in f"{hit.key} {hit.value}".casefold() or query in ("'; DROP TABLE notes", "k:db")


@given(st.text(max_size=60))
def test_any_text_can_be_asked_for(searched: NoteStore, query: str) -> None:
    """No query raises, and what is found is told consistently."""
    found = searched.search(query)
    assert len(found.hits) <= found.total
    assert len({(hit.namespace, hit.key) for hit in found.hits}) == len(found.hits)


@pytest.fixture(name="searched", scope="module")
def searched_fixture(tmp_path_factory: pytest.TempPathFactory) -> NoteStore:
    """Return a store for many queries."""
    store = NoteStore(tmp_path_factory.mktemp("notes") / "memory.sqlite3", HandClock().clock())
    store.take_in([IncomingNote("default", key, value, 1, 1, 1) for key, value in NOTES.items()])
    return store


def test_one_namespace_is_searched_alone(store: NoteStore) -> None:
    """With its name only its notes are found and counted, without it all; an unknown one has none."""
    for namespace in ("a", "b"):
        store.remember(namespace, "k", "apple")
        store.remember(namespace, "::", "of the")
    assert [(hit.namespace, hit.key) for hit in store.search("apple", "a").hits] == [("a", "k")]
    assert (store.search("apple").total, store.search("apple", "b").total, store.search("apple", "c").total) == (
        2,
        1,
        0,
    )
    assert [hit.namespace for hit in store.search("::", "b").hits] == ["b"]


def test_a_value_is_shown_by_its_beginning(ask: Asking) -> None:
    """The first 500 characters; a longer one is marked as cut."""
    ask("memory_remember", key="long", value="apple " * 200)
    ask("memory_remember", key="short", value="apple")
    results = {each["key"]: each for each in ask("memory_search", query="apple")["results"]}
    assert len(results["long"]["value"]) == MAX_SEARCH_VALUE_CHARS
    assert results["long"]["truncated"] is True
    assert "truncated" not in results["short"]


def test_the_query_as_it_is_written_counts_more(store: NoteStore) -> None:
    """Of two notes with the same words, the one that has them in this order comes first."""
    store.remember("a", "one", "cache warm start up")
    store.remember("a", "two", "start with warm up of cache")
    assert [hit.key for hit in store.search("warm up").hits] == ["two", "one"]


def test_equals_stand_in_a_stable_order(store: NoteStore, hands: HandClock) -> None:
    """The last written first, then by name."""
    for key in ("k2", "k1", "k3"):
        store.remember("n", key, "apple")
    hands.move(1)
    store.remember("n", "k0", "apple")
    assert [hit.key for hit in store.search("apple").hits] == ["k0", "k1", "k2", "k3"]


def test_many_matches_are_counted_up_to_a_bound(store: NoteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above it the answer says that there are at least so many; the best are found all the same."""
    monkeypatch.setattr("memsyncd.notes.searching.COUNTED", 10)
    monkeypatch.setattr("memsyncd.notes.searching.POOL", 5)
    store.take_in([IncomingNote("n", f"k{number}", "apple pie", 1, 1, 1) for number in range(50)])
    store.remember("n", "pie chart", "an apple a day")
    found = store.search("apple pie chart", limit=3)
    assert (found.total, found.at_least) == (10, True)
    assert found.hits[0].key == "pie chart"


def test_the_end_of_a_long_note_is_found_too(store: NoteStore) -> None:
    """A word at the end of many thousand characters is indexed."""
    store.remember("a", "k", "filler words of all kinds " * 2_000 + "zebra")
    assert store.search("zebra").total == 1


def test_the_words_of_one_note_are_bounded() -> None:
    """A text of nothing but different words gives so many."""
    assert len(words.words_of("k", " ".join(f"w{number}x" for number in range(20_000))).split()) <= MAX_NOTE_TERMS + 1


@given(st.text(max_size=1_500))
def test_pieces_of_a_text_lose_nothing(text: str) -> None:
    """Cut into pieces small enough to be looked at whole, a text has every character still, in order."""
    pieces = list(words._pieces(text))
    assert all(len(piece) <= MAX_TERMS for piece in pieces)
    at = 0
    for piece in pieces:
        at -= not text.startswith(piece, at)
        assert text.startswith(piece, at)
        at += len(piece)
    assert at >= len(text) - 1
