"""Ingest while evidence, queue or a whole spool cannot be used: all is given back, told, and taken in later."""

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.intake.spool import Spool
from jobs.job import JobState
from jobs.queue.errors import QueueUnavailable
from tests.daemon.intake.ingesting import Ingesting


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def found(at: Ingesting) -> list[str]:
    return [finding.code for finding in at.findings.all()]


def test_a_locked_store_gives_everything_back(at: Ingesting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's lock is told, and the next scan takes in what this one gave back (never-again 43)."""
    monkeypatch.setattr("memsyncd.evidence.opening.BUSY_SECONDS", 0.01)
    at.restart()
    at.prompt("waits")
    stem = at.end()
    with closing(sqlite3.connect(at.spool.evidence, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        at.scan()
        assert found(at) == ["spool-locked"]
        assert all(name.endswith(".json") for name in at.pending())
        other.execute("ROLLBACK")
    at.scan()
    assert found(at) == []
    assert at.texts() == ["waits"]
    assert at.pending() == [f"{stem}.running"]


def test_a_full_disk_gives_everything_back(at: Ingesting) -> None:
    """No room for the evidence: the files stay, and go in once there is room (never-again 54)."""
    at.prompt("first")
    at.scan()
    with at.served.store("claude-code")._database.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    at.prompt("large " + "x" * 400_000, name="y")
    at.scan()
    assert at.pending() == ["y.json"]
    assert "space" in at.findings.all()[0].detail
    with at.served.store("claude-code")._database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    at.scan()
    assert len(at.texts()) == 2
    assert found(at) == []


class Failing:
    """A queue that cannot be used while `broken`: none of it, or `only` one method."""

    def __init__(self, queue: Any, only: str = "") -> None:
        self._queue = queue
        self._only = only
        self.broken = True

    def __getattr__(self, name: str) -> Any:
        if self.broken and name == (self._only or name):

            def fail(*_: object, **__: object) -> None:
                raise QueueUnavailable("the queue cannot be used: disk I/O error")

            return fail
        return getattr(self._queue, name)


def test_without_a_queue_flushes_wait_and_nothing_is_stored_twice(at: Ingesting) -> None:
    """What is committed already is known when it comes again; the flush and a due checkpoint are queued later."""
    queue = Failing(at.queue)
    at.ingest.queue = at.ingest.requests.queue = queue
    for number in range(5):
        at.prompt(f"q{number}")
        at.answer(f"a{number}")
    stem = at.end(name="z")
    at.scan()
    assert found(at) == ["spool-waits"]
    assert f"{stem}.json" in at.pending()
    at.ingest.requests.beat()
    queue.broken = False
    at.scan()
    assert len(at.texts()) == 10
    assert sorted(job.payload["reason"] for job in at.jobs()) == ["periodic", "session-end"]
    assert at.pending() == [f"{stem}.running"]


def test_a_queue_that_fails_half_way_costs_no_request(at: Ingesting) -> None:
    """The handoff went back though its job was stored: a heartbeat must not take it for withdrawn (facts 1.19)."""
    queue = Failing(at.queue, "get")
    stem = at.end()
    at.ingest.requests.queue = queue
    at.scan()
    assert at.jobs()[0].state is JobState.READY
    assert at.pending() == [f"{stem}.json"]
    queue.broken = False
    at.ingest.requests.beat()
    at.scan()
    assert at.pending() == [f"{stem}.running"]
    assert at.jobs()[0].state is JobState.READY


@pytest.mark.parametrize("broken", ["spool", "queue"])
def test_a_heartbeat_that_fails_stops_nobody(at: Ingesting, broken: str) -> None:
    """The thread that owns the spools outlives a spool that became a file and a queue that is away."""
    at.end()
    at.scan()
    if broken == "spool":
        shutil.rmtree(at.spool_path)
        at.spool_path.write_text("in the way")
    else:
        (at.spool_path / "pending" / next(iter(at.pending()))).unlink()
        at.ingest.requests.queue = Failing(at.queue)
    at.ingest.requests.beat()
    at.ingest.requests.give_back()


def test_a_handoff_that_cannot_be_let_go_of_goes_with_the_next_scan(
    at: Ingesting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job was over while the disk took no change: it does not stay in work for the 300 s of a stale claim."""

    def refuse(*_: object) -> bool:
        raise OSError(errno.EROFS, "Read-only file system")

    stem = at.end()
    at.scan()
    (job,) = at.jobs()
    with monkeypatch.context() as patched:
        patched.setattr(Spool, "finish", refuse)
        at.ingest.requests.over(job.id, JobState.DONE, "")
        at.scan()
        assert at.pending() == [f"{stem}.running"]
    at.scan()
    assert at.pending() == []
    assert not at.ingest.requests.held


def test_a_spool_that_became_a_file_is_told_and_hurts_no_other(at: Ingesting) -> None:
    """One spool cannot be read; the next is taken in."""
    other = at.root / "spools" / "gemini-cli"
    (other / "pending").mkdir(parents=True, mode=0o700)
    at.served.refresh(at.findings)
    shutil.rmtree(at.spool_path)
    at.spool_path.write_text("in the way")
    at.prompt("elsewhere", pending=other / "pending")
    at.scan()
    assert at.events("gemini-cli") == [("user_prompt", "elsewhere")]
    assert found(at) == ["spool-no-directory"]


def test_a_spool_deleted_and_made_again_is_served_again(at: Ingesting) -> None:
    """A hook makes the directories anew; what it drops goes into a new store, without a restart."""
    at.prompt("before")
    at.scan()
    shutil.rmtree(at.spool_path)
    (at.spool_path / "pending").mkdir(parents=True, mode=0o700)
    at.prompt("after")
    at.scan()
    assert at.texts() == ["after"]
    assert at.pending() == []
