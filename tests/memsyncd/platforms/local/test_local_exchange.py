"""Memories out of one file and into another."""

from contextlib import closing
from pathlib import Path

import pytest

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.platforms.local import deleting, exchange
from memsyncd.platforms.local.deleting import Whose
from memsyncd.platforms.local.exchange import Arrival, Intake
from memsyncd.platforms.local.incoming import incoming
from memsyncd.platforms.local.local_index import LocalIndex
from memsyncd.platforms.local.mirror import Asker
from memsyncd.platforms.platform import Memory, PlatformError, Query
from tests.memsyncd.platforms.local.stored import NOW, Store


def test_rows_come_in_once_and_are_found(store: Store, tmp_path: Path) -> None:
    """Elsewhere as here; what was deleted by its id does not."""
    store.tell("s")
    rows = list(exchange.rows(store.path))
    given = [incoming(row, clean=str, now=2e9) for row in rows]
    other = Store(tmp_path / "other.sqlite3")
    intake = Intake(other.path, is_forgotten=lambda _: False)
    assert intake.take_in(given) == [Arrival.BROUGHT] and intake.take_in(given) == [Arrival.UNCHANGED]
    assert other.found() == store.found()
    deleting.delete(other.path, Whose(memory_id=rows[0]["id"]), at=NOW)
    assert intake.take_in(given) == [Arrival.FORGOTTEN]
    intake.close()
    other.platform.close()


def test_what_is_mirrored_of_a_platform_comes_in_as_a_memory_of_this_machine(store: Store) -> None:
    """An export of the hosted platform, brought in where that platform was used before: its rows are known here by the
    same ids, and not found by who keeps memories on this machine."""
    index = LocalIndex(store.path, Clock(), Counters(), platform="mem0 https://api.example.org", redact=str)
    told = {"user_id": "ada", "app_id": "tool"}
    index.learn([Memory("m1", "The bucket is called zanzibar.", metadata=told)], Asker("ada", "tool", ()))
    row = {"id": "m1", "memory": "The bucket is called zanzibar.", "created_at": NOW, **told}
    with closing(Intake(store.path, is_forgotten=lambda _: False)) as intake:
        assert intake.take_in([incoming(row, clean=str, now=2e9)]) == [Arrival.BROUGHT]
        assert intake.take_in([incoming(row, clean=str, now=2e9)]) == [Arrival.UNCHANGED]
    assert store.found() == ["The bucket is called zanzibar."]
    assert [each.id for each in index.search(Query("which bucket", "ada", "tool"))] == ["m1"]
    index.close()


def test_a_store_that_was_closed_before_takes_nothing(tmp_path: Path) -> None:
    """It is not opened again behind its owner's back."""
    intake = Intake(tmp_path / "memory.sqlite3", is_forgotten=lambda _: False)
    intake.close()
    with pytest.raises(PlatformError):
        intake.take_in([])
    assert not (tmp_path / "memory.sqlite3").exists()
