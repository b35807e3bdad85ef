"""Deleting a session's, a project's or one memory from the memory file."""

import subprocess
import sys
from pathlib import Path

import pytest

from memsyncd.counters import Counters
from memsyncd.platforms.local import deleting, exchange
from memsyncd.platforms.local.deleting import Whose
from memsyncd.platforms.local.local_index import LocalIndex
from memsyncd.platforms.local.mirror import Asker
from memsyncd.platforms.platform import Memory
from tests.clocks import HandClock
from tests.memsyncd.platforms.local.stored import NOW, Store


@pytest.mark.parametrize("whose", [Whose(run_id="s"), Whose(app_id="tool", shared=("tool-1", "tool"))])
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
    subprocess.run([sys.executable, "-c", script, str(store.path)], check=True, timeout=60)
    assert Path(f"{store.path}-wal").exists()
    store.tell("t", "We decided that the marmalade bucket holds the receipts.")
    assert deleting.delete(store.path, Whose(run_id="s"), at=NOW)["memories"] == 1
    assert store.found() == ["We decided that the marmalade bucket holds the receipts."]


def mirrored(path: Path) -> LocalIndex:
    """Keep what a hosted platform told of two projects of one short name, and of a lane from before they were told apart."""
    index = LocalIndex(path, HandClock().clock(), Counters(), platform="mem0 https://api.example.org", redact=str)
    asker = Asker("ada", "tool", ("tool-1", "tool-2", "tool"))
    lanes = {"hashed": "tool-1", "legacy": "tool", "other": "tool-2"}
    told = [
        Memory(name, f"{name} keeps invoices", metadata={"agent_id": agent, "app_id": "tool"})
        for name, agent in lanes.items()
    ]
    index.learn([*told, Memory("mine", "mine keeps invoices", metadata={"user_id": "ada", "app_id": "tool"})], asker)
    return index


@pytest.mark.parametrize(
    ("shared", "gone"),
    [(("tool-1", "tool"), {"hashed", "legacy", "mine"}), (("tool-1",), {"hashed", "mine"})],
)
def test_a_projects_mirrored_memories_go_from_each_of_its_lanes(
    tmp_path: Path, shared: tuple[str, ...], gone: set[str]
) -> None:
    """Also from the one of the bare app id, which older versions shared in and search still looks at (facts 5.16); of
    another repository that has the same short name nothing goes."""
    path = tmp_path / "memory.sqlite3"
    index = mirrored(path)
    whose = Whose(app_id="tool", shared=shared)
    assert set(deleting.ids(path, whose)) == gone
    assert deleting.delete(path, whose, at=NOW) == {"memories": len(gone)}
    assert deleting.ids(path, whose) == []
    index.close()
