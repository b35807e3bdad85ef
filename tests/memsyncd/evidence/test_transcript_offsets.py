"""How far transcripts were read: stored with their events, bounded, and moved along by a pause."""

from pathlib import Path

import pytest

from memsyncd.counters import Counters
from memsyncd.evidence import transcript_offsets
from memsyncd.evidence.store import EvidenceStore
from memsyncd.evidence.transcript_offsets import LastPrompt, TranscriptOffset
from tests.memsyncd.evidence.conftest import NewEventMaker

OFFSET = TranscriptOffset("s-1", "/h/t.jsonl", (1 << 64) - 1, 1 << 63, 1024, "ab" * 16, 77, 12.5, ("one", "two"))


def test_an_offset_comes_back_as_it_was(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """With any number of a device or an inode; a session without one has none."""
    assert store.transcript("s-1") is None
    store.append([new_event("assistant_stop", "a")], [OFFSET])
    assert store.transcript("s-1") == OFFSET
    assert store.transcript("s-2") is None
    store.append([], [TranscriptOffset("s-1", "/h/u.jsonl")])
    assert store.transcript("s-1") == TranscriptOffset("s-1", "/h/u.jsonl")


def test_an_offset_is_not_kept_without_its_events(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """One transaction holds both, so that a failure leaves both out."""
    with pytest.raises(TypeError):
        store.append([new_event("assistant_stop", payload={"text": object()})], [OFFSET])
    assert store.transcript("s-1") is None


def test_only_so_many_are_kept(store: EvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those read longest ago go."""
    monkeypatch.setattr(transcript_offsets, "MAX_ROWS", 3)
    for number in range(6):
        store.append([], [TranscriptOffset(f"s-{number}")])
    kept = [number for number in range(6) if store.transcript(f"s-{number}") is not None]
    assert len(kept) == 3


def test_a_pause_moves_every_session_along(store: EvidenceStore) -> None:
    """Forward only."""
    store.pass_over_transcripts(5.0)
    store.append([], [OFFSET, TranscriptOffset("s-2", not_before=99.0)])
    store.pass_over_transcripts(50.0)
    assert [found.not_before for name in ("s-1", "s-2") if (found := store.transcript(name))] == [50.0, 99.0]


def test_the_last_prompt_and_whether_it_is_answered(store: EvidenceStore, new_event: NewEventMaker) -> None:
    """An answer before it is another's."""
    assert store.last_prompt("s-1") == LastPrompt()
    store.append([new_event("assistant_stop", "a")])
    assert store.last_prompt("s-1") == LastPrompt("", is_answered=True)
    store.append([new_event("user_prompt", "q")])
    assert store.last_prompt("s-1") == LastPrompt("2026-11-30T10:00:00.000Z", is_answered=False)
    store.append([new_event("assistant_stop", "b")])
    assert store.last_prompt("s-1").is_answered


def test_odd_rows_are_read_as_nothing_taken(store: EvidenceStore, own_path: Path, counters: Counters) -> None:
    """What another version wrote costs a repetition at worst."""
    store.append([], [OFFSET])
    with store._database.writing() as connection:
        connection.execute("UPDATE memsyncd_transcripts SET taken = 'odd', device = 'x', inode = ''")
    found = store.transcript("s-1")
    assert found is not None
    assert (found.taken, found.device, found.inode, found.offset) == ((), 0, 0, 77)
