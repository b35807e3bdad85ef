"""A note store on a real file, its clock moved by hand, and the tools over it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memsyncd.notes.store import NoteStore
from memsyncd.notes.tools import NoteTools
from tests.clocks import HandClock


class Asking:
    """Calls tools with JSON as the answer's format."""

    def __init__(self, tools: NoteTools) -> None:
        self.tools = tools

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer, parsed; it says the same as `is_error`."""
        answer = self.tools.call(name, {**arguments, "format": "json"})
        document: dict[str, Any] = json.loads(answer.text)
        assert (document["status"] == "error") == answer.is_error
        assert document == dict(answer.document)
        return document


@pytest.fixture(name="hands")
def hands_fixture() -> HandClock:
    """Return the clock's hands."""
    return HandClock()


@pytest.fixture(name="path")
def path_fixture(tmp_path: Path) -> Path:
    """Return where the store lies."""
    return tmp_path / "memory.sqlite3"


@pytest.fixture(name="store")
def store_fixture(path: Path, hands: HandClock) -> Iterator[NoteStore]:
    """Return a store."""
    store = NoteStore(path, hands.clock())
    yield store
    store.close()


@pytest.fixture(name="ask")
def ask_fixture(store: NoteStore) -> Asking:
    """Return what calls the tools over the store."""
    return Asking(NoteTools(store))
