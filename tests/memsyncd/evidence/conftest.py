"""Stores and events for the tests of evidence."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore

NewEventMaker = Callable[..., NewEvent]

SCOPE = Scope(
    "https://git.example.org/team/tool", "team-tool", "team-tool-0123456789", "/w/tool", "main", "abc123", "src"
)


@pytest.fixture(name="scope")
def scope_fixture() -> Scope:
    """Return where the sessions of these tests belong."""
    return SCOPE


@pytest.fixture(name="new_event")
def new_event_maker() -> NewEventMaker:
    """Return a maker of events: a kind, a text, and what differs from the usual; handoff ids rise by themselves."""
    numbers = itertools.count(1)

    def make(kind: str, text: str = "", session_id: str = "s-1", **more: Any) -> NewEvent:
        fields: dict[str, Any] = {
            "payload": {"text": text},
            "created_at": "2026-11-30T10:00:00.000Z",
            "handoff_id": f"handoff-{next(numbers):06}",
            "scope": SCOPE,
            "harness": "claude-code",
        }
        return NewEvent(session_id=session_id, kind=kind, **(fields | more))

    return make


@pytest.fixture(name="counters")
def counters_fixture() -> Counters:
    """Return counters to look at."""
    return Counters()


@pytest.fixture(name="own_path")
def own_path_fixture(tmp_path: Path) -> Path:
    """Return where a store of ours goes."""
    return tmp_path / "evidence.sqlite3"


@pytest.fixture(name="store")
def store_fixture(own_path: Path, counters: Counters) -> Iterator[EvidenceStore]:
    """Give out a fresh store of ours at a wall clock that stands still."""
    store = EvidenceStore.open(own_path, own=True, clock=Clock(wall=lambda: 1_796_000_000.0), counters=counters)
    yield store
    store.close()
