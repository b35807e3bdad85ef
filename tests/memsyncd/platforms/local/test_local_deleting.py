"""Deleting a session's, a project's or one memory from the memory file, and rows that go out and come in."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.local import deleting, exchange
from memsyncd.platforms.local.deleting import Whose
from memsyncd.platforms.local.exchange import Arrival, Incoming, RefusedMemory, incoming
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Message, Query

NOW = "2026-12-01T00:00:00.000Z"
FACT = "We decided that the zanzibar bucket holds the invoices."


class Store:
    """One file, and what is told to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.platform = LocalPlatform(path, Clock())

    def tell(self, session: str, text: str = FACT, app: str = "tool", *, carry_out: bool = True) -> None:
        messages = [Message("user", text), Message("assistant", "Noted.")]
        batch = Batch(f"p-{session}", 0, messages, "ada", app, f"{app}-1", session, {})
        accepted = self.platform.add(batch)
        if carry_out:
            self.platform.extraction(accepted.event_id)

    def found(self, app: str = "tool") -> list[str]:
        query = Query("Where are the invoices, in which bucket?", "ada", app, (f"{app}-1",))
        return [memory.memory for memory in self.platform.search(query)]

    def holds(self, word: bytes) -> bool:
        files = (self.path, Path(f"{self.path}-wal"))
        return any(word in file.read_bytes() for file in files if file.exists())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give out a fresh one."""
    made = Store(tmp_path / "memory.sqlite3")
    yield made
    made.platform.close()


@pytest.mark.parametrize("whose", [Whose(run_id="s"), Whose(app_id="tool", project_id="tool-1")])
def test_memories_and_waiting_dialogue_go_with_their_words(store: Store, whose: Whose) -> None:
    """From rows, index, free pages and log; another project's stay."""
    store.tell("s")
    store.tell("o", "We decided that the marmalade bucket holds the invoices.", "other")
    deleted = deleting.delete(store.path, whose, at=NOW)
    deleting.give_back_space(store.path)
    assert deleted["memories"] == 1 and deleted["batches"] == 1
    assert not store.holds(b"zanzibar") and store.found() == [] and len(store.found("other")) == 1
    store.tell("late", carry_out=False)
    assert deleting.delete(store.path, Whose(run_id="late"), at=NOW) == {"batches": 1}


def test_what_another_session_said_too_stays(store: Store) -> None:
    """A session that is forgotten takes only its own word for it away."""
    store.tell("s")
    store.tell("t")
    assert deleting.count(store.path, Whose(run_id="t")) == 0
    deleting.delete(store.path, Whose(run_id="t"), at=NOW)
    assert len(store.found()) == 1


def test_a_forgotten_session_may_be_told_anew_and_a_deleted_memory_may_not(store: Store) -> None:
    """The former is a new source; the latter was not wanted."""
    store.tell("s")
    deleting.delete(store.path, Whose(run_id="s"), at=NOW)
    store.tell("t")
    (row,) = exchange.rows(store.path)
    assert deleting.delete(store.path, Whose(memory_id=row["id"]), at=NOW) == {"memories": 1}
    store.tell("u")
    assert store.found() == []


def test_nobody_is_not_everybody_and_no_file_is_made(store: Store, tmp_path: Path) -> None:
    """Whose with no name deletes nothing."""
    store.tell("s")
    assert deleting.delete(store.path, Whose(), at=NOW) == {} and len(store.found()) == 1
    assert deleting.delete(tmp_path / "none.sqlite3", Whose(run_id="s"), at=NOW) == {}
    assert not (tmp_path / "none.sqlite3").exists()


def test_another_process_that_comes_and_goes_takes_no_log_away(store: Store) -> None:
    """Deleting opens the file once more beside the platform; an export or a sqlite3 shell that closes it afterwards must
    not take itself for the last one and fold and remove the log that the platform still writes to."""
    store.tell("s")
    deleting.count(store.path, Whose(run_id="s"))
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM memories'); c.close()"
    subprocess.run([sys.executable, "-c", script, str(store.path)], check=True, timeout=30)
    assert Path(f"{store.path}-wal").exists()
    store.tell("t", "We decided that the marmalade bucket holds the receipts.")
    assert deleting.delete(store.path, Whose(run_id="s"), at=NOW)["memories"] == 1
    assert store.found() == ["We decided that the marmalade bucket holds the receipts."]


def test_rows_come_in_once_and_are_found(store: Store, tmp_path: Path) -> None:
    """Elsewhere as here; what was deleted by its id does not."""
    store.tell("s")
    rows = list(exchange.rows(store.path))
    given = [incoming(row, clean=str, now=2e9) for row in rows]
    other = Store(tmp_path / "other.sqlite3")

    def take_in(given: list[Incoming]) -> list[Arrival]:
        return list(exchange.take_in(other.path, given, is_forgotten=lambda *_: False))

    assert take_in(given) == [Arrival.BROUGHT] and take_in(given) == [Arrival.UNCHANGED]
    assert other.found() == store.found()
    deleting.delete(other.path, Whose(memory_id=rows[0]["id"]), at=NOW)
    assert take_in(given) == [Arrival.FORGOTTEN]
    other.platform.close()


GOOD = {"type": "memory", "id": "m", "memory": "words", "user_id": "ada", "app_id": "tool", "created_at": NOW}


@pytest.mark.parametrize(
    ("change", "lane"),
    [
        ({}, "personal"),
        ({"user_id": "", "agent_id": "tool-1"}, "project"),
        ({"lane": "project", "agent_id": "tool-1"}, "project"),
        ({"created_at": ""}, "personal"),
        ({"memory": 7}, ""),
        ({"memory": " "}, ""),
        ({"memory": "x" * 10_001}, ""),
        ({"memory": "\ud800"}, ""),
        ({"id": ""}, ""),
        ({"app_id": ""}, ""),
        ({"user_id": "**"}, ""),
        ({"lane": "elsewhere"}, ""),
        ({"created_at": "yesterday"}, ""),
        ({"metadata": []}, ""),
        ({"score": True}, ""),
    ],
)
def test_a_row_is_a_memory_or_is_refused(change: dict[str, object], lane: str) -> None:
    """Nothing is guessed but the lane of a platform that tells none."""
    try:
        assert incoming(GOOD | change, clean=str, now=2e9).memory.lane == lane
    except RefusedMemory:
        assert not lane
