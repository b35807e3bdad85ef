"""Memories out of one file and into another."""

import shutil
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
from tests.memsyncd.platforms.local.stored import NOW, YESTERDAY, Store, assert_index_is_whole


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


def test_rows_of_the_first_version_are_read_as_they_are(tmp_path: Path) -> None:
    """An export brings no file forward, and needs none that can be written; where there is none it makes none."""
    path = tmp_path / "memory.sqlite3"
    assert list(exchange.rows(path)) == [] and not path.exists()
    shutil.copyfile(YESTERDAY, path)
    assert [row["id"] for row in exchange.rows(path)] == ["m0", "m1"]
    assert path.read_bytes() == YESTERDAY.read_bytes()


def test_what_is_mirrored_is_no_row(store: Store) -> None:
    """It is the other platform's, and exported there."""
    index = LocalIndex(store.path, Clock(), Counters(), platform="mem0 https://api.example.org", redact=str)
    index.learn([Memory("m1", "words", metadata={"user_id": "ada"})], Asker("ada", "tool", ()))
    index.close()
    assert list(exchange.rows(store.path)) == []


def test_rows_of_more_than_one_page_come_in_order(store: Store) -> None:
    """Each once, whatever is written between two pages."""
    rows = [
        {"id": f"m{each}", "memory": f"Host {each} is up.", "created_at": NOW, "user_id": "a", "app_id": "t", "lane": "personal"}
        for each in range(exchange.ROWS_AT_ONCE + 3)
    ]  # fmt: skip
    with closing(Intake(store.path, is_forgotten=lambda _: False)) as intake:
        for start in range(0, len(rows), exchange.ROWS_AT_ONCE):
            intake.take_in([incoming(row, clean=str, now=2e9) for row in rows[start : start + exchange.ROWS_AT_ONCE]])
    assert_index_is_whole(store.path)
    read = exchange.rows(store.path)
    first = next(read)
    deleting.delete(store.path, Whose(memory_id="m1"), at=NOW)  # of the page that was read
    deleting.delete(store.path, Whose(memory_id=f"m{len(rows) - 1}"), at=NOW)
    told = [row["id"] for row in (first, *read)]
    assert told == [row["id"] for row in rows[:-1]]
    assert_index_is_whole(store.path)
