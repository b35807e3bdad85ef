"""The deep checks: a marker is written, read back and deleted, and nothing of it stays."""

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from daemon.doctor import account, deep
from memsyncd.platforms.platform import Accepted, Extraction, ExtractionState, KeyRefused, Memory
from tests.daemon.composed import composed
from tests.daemon.doctor.examined import examine_home, found
from tests.fakes.mem0_api import KEY, FakeMem0

TABLES = ("memories", "extraction_events", "sources", "tombstones")


def rows(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES]


def test_the_embedded_platform_keeps_finds_and_forgets_a_marker(tmp_path: Path) -> None:
    """Beside an open daemon's file; afterwards no row of it is left, not even that it was deleted."""
    with composed(tmp_path) as home:
        home.spool()
        home.parts.platform.ping()
        told = found(deep.probes(examine_home(tmp_path)))
        assert all(check.ok and check.ran for check in told.values()), told
        assert set(told) == {"write data", "write claude-code", "memory"}
        assert rows(home.places.memory_file) == [0, 0, 0, 0]
        assert list((home.spool() / "pending").iterdir()) == []


def test_a_file_that_is_not_ready_is_left_to_the_daemon(tmp_path: Path) -> None:
    """Only the daemon makes the memory file and brings it forward (never-again 53)."""
    (tmp_path / "m").mkdir(mode=0o700)
    assert not found(deep.probes(examine_home(tmp_path)))["memory"].ran
    path = tmp_path / "m" / "memory.sqlite3"
    assert not path.exists()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    before = path.read_bytes()
    assert not found(deep.probes(examine_home(tmp_path)))["memory"].ran
    assert path.read_bytes() == before


def test_the_hosted_platform_keeps_finds_and_forgets_a_marker(tmp_path: Path) -> None:
    """With the key, over HTTP; its memory is gone from the platform afterwards."""
    with FakeMem0() as api:
        told = found(deep.probes(examine_home(tmp_path, MEM0_API_URL=api.url, MEM0_API_KEY=KEY)))["memory"]
        assert told.ok, told
        assert "found by a search, and deleted" in told.message


class Played:
    """A platform that answers as it is told."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.deleted: list[str] = []

    def add(self, batch: Any) -> Any:
        self.token = batch.packet_id.removeprefix("doctor-")
        return self._answer("add", Accepted("e"))

    def extraction(self, event_id: str) -> Any:
        return self._answer("extraction", Extraction("e", ExtractionState.SUCCEEDED, memories=1))

    def search(self, query: Any) -> Any:
        return self._answer("search", [Memory("m1", f"The marker is {self.token}")])

    def delete(self, memory_id: str) -> bool:
        self.deleted.append(memory_id)
        return True

    def _answer(self, name: str, otherwise: Any) -> Any:
        answer = self.answers.get(name, otherwise)
        if isinstance(answer, Exception):
            raise answer
        return answer


DONE = Extraction("e", ExtractionState.SUCCEEDED, memories=1)


@pytest.mark.parametrize(
    ("answers", "ok", "words", "deleted"),
    [
        ({}, True, "deleted (1)", ["m1"]),
        ({"add": Accepted("", finished=True, memories=1)}, True, "deleted (1)", ["m1"]),
        ({"extraction": replace(DONE, memories=0)}, True, "nothing in it worth keeping", []),
        ({"extraction": replace(DONE, state=ExtractionState.FAILED)}, False, "FAILED", []),
        ({"extraction": replace(DONE, state=ExtractionState.PENDING)}, False, "PENDING", []),
        ({"search": [], "extraction": replace(DONE, told=(Memory("m2", "x"),))}, False, "does not find it", ["m2"]),
        ({"add": KeyRefused("the key is refused", status=401)}, False, "the key is refused", []),
    ],
)
def test_each_way_a_round_trip_ends_is_told(answers: dict[str, Any], ok: bool, words: str, deleted: list[str]) -> None:
    """Kept, found and deleted; nothing kept; failed, late, not found, refused."""
    hands = [0.0]
    platform: Any = Played(**answers)

    def wait(seconds: float) -> None:
        hands[0] += seconds

    told = deep.round_trip(platform, "ada", "zq1", delete=platform.delete, monotonic=lambda: hands[0], wait=wait)
    assert told.ok is ok
    assert words in told.message
    assert told.ok or told.remedy
    assert platform.deleted == deleted
    assert hands[0] <= deep.EXTRACTION_SECONDS + deep.ASK_SECONDS


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The disk's own word, and what to look at; nothing is left behind."""
    told = deep.marker_file("write x", tmp_path / "gone", b"x" * 16, time.monotonic)
    assert not told.ok
    assert "No such file" in told.message


def test_an_edge_without_a_key_has_nothing_to_make_a_memory_with(tmp_path: Path) -> None:
    """It is no fault of its: workers deliver."""
    edge = {"MEMSYNCD_QUEUE_URL": "postgresql://h/q", "MEMSYNCD_QUEUE_ROLE": "edge", "MEMSYNCD_PLATFORM_KIND": "mem0"}
    told = found([*deep.probes(examine_home(tmp_path, **edge)), *account.probes(examine_home(tmp_path, **edge))])
    assert all(told[name].ok for name in ("memory", "key", "authentication"))
    assert not told["memory"].ran
