"""Notes from elsewhere: which come in, and rows going out and in."""

from pathlib import Path

import pytest

from memsyncd.notes import limits
from memsyncd.notes.arriving import verdict
from memsyncd.notes.note import Arrival, IncomingNote, Note
from memsyncd.notes.store import NoteStore
from tests.clocks import HandClock

NOW = 10_000


def incoming(value: str = "old", at: int | None = 1_000, expires_at: int | None = None, key: str = "k") -> IncomingNote:
    return IncomingNote("default", key, value, at or 5_000, at, at or 5_000, expires_at, 3)


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
    outcome = store.import_rows([*bad, {**good, "key": "new", "value": "was <private>x</private> said"}])
    assert (outcome.refused, outcome.cleaned) == (5, 1)
    assert [named.place for named in outcome.named] == [1, 2, 3, 4, 5]
    assert outcome.named[1].reason == "key is not text"
    assert store.recall("a", "new").value == "was   said"


def test_an_import_of_many_rows_is_many_transactions(store: NoteStore) -> None:
    """More rows than one transaction takes all come in."""
    count = limits.ROWS_AT_ONCE + 3
    template = {"type": "note", "namespace": "a", "value": "v", "expires_at": None, "access_count": 0}
    moment = "2026-01-01T00:00:00.000Z"
    given_rows = [{**template, "key": f"k{n}", "created_at": moment, "updated_at": moment} for n in range(count)]
    assert store.import_rows(given_rows).arrivals == {Arrival.BROUGHT: count}
    assert len(list(store.export_rows())) == count
