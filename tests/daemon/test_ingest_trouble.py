"""Ingest among bad files and failing stores: one failure hurts one thing, and nothing is lost."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon.grace import GRACE_SECONDS
from daemon.intake import MAX_BYTES
from daemon.spool import EXPIRY_SECONDS, Spool
from jobs.errors import QueueUnavailable
from jobs.job import JobState
from tests.daemon.ingesting import Ingesting

TORN = b'{"hook_input": {"prompt": "ha'


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def test_torn_bytes_get_their_grace_and_are_kept_whole(at: Ingesting) -> None:
    """Half a minute without growth, then `corrupt/`; neighbours pass at once (CONTRACT "Grace")."""
    at.put("a", TORN)
    at.prompt("whole")
    at.scan()
    assert at.texts() == ["whole"]
    assert at.pending() == ["a.json"]
    at.hands.move(GRACE_SECONDS - 1)
    at.scan()
    assert at.pending() == ["a.json"]
    at.hands.move(2)
    at.scan()
    assert at.set_aside("corrupt") == {"a.json": "corrupt"}
    assert (at.spool_path / "corrupt" / "a.json").read_bytes() == TORN
    assert at.counters.snapshot()["handoffs_corrupt"] == 1


def test_a_file_that_grows_to_a_handoff_is_taken(at: Ingesting) -> None:
    """A writer of another kind than our hook, which writes in place, loses nothing."""
    at.put("a", TORN)
    at.scan()
    at.hands.move(GRACE_SECONDS - 1)
    at.put("a", TORN + b"lf")
    at.scan()
    at.hands.move(GRACE_SECONDS - 1)
    at.put("a", b'{"action": "user-prompt", "hook_input": {"prompt": "half and half", "session_id": "s"}}')
    at.scan()
    assert at.texts() == ["half and half"]
    assert at.set_aside("corrupt") == {}


def test_a_suspect_that_its_writer_removes_is_no_reason_to_look_again(at: Ingesting) -> None:
    """Else the thread would scan twenty times a second for ever after (never-again 69)."""
    at.put("a", TORN)
    at.scan()
    (at.spool_path / "pending" / "a.json").unlink()
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert at.ingest.grace.next_look_seconds() is None


@pytest.mark.parametrize("content", [b"[1, 2]", b'"text"', b"{}", b'{"hook_input": "no object"}', b"\xff\xfe\x00"])
def test_what_is_no_handoff_goes_aside(at: Ingesting, content: bytes) -> None:
    """Whole documents of another shape too, after the same grace."""
    at.put("a", content)
    at.scan()
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert list(at.set_aside("corrupt")) == ["a.json"]


def test_an_oversized_file_is_given_up_unread(at: Ingesting) -> None:
    """It is not read into memory and not deleted."""
    path = at.spool_path / "pending" / "a.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    os.utime(path, (at.hands.wall_now, at.hands.wall_now))
    at.prompt("small")
    at.scan()
    assert at.set_aside("dead") == {"a.json": "oversized"}
    assert at.texts() == ["small"]


def test_an_expired_handoff_is_never_deleted_unseen(at: Ingesting) -> None:
    """Older than seven days: into `dead/`, counted, and a person can have it taken in after all (facts 1.13)."""
    at.prompt("old", name="old", age=EXPIRY_SECONDS + 60)
    at.prompt("fresh")
    at.scan()
    assert at.texts() == ["fresh"]
    assert at.set_aside("dead") == {"old.json": "expired"}
    assert at.counters.snapshot()["handoffs_expired"] == 1
    at.spool.revive("old")
    at.scan()
    assert at.texts() == ["fresh", "old"]


def test_odd_things_named_like_handoffs_are_left_alone(at: Ingesting, tmp_path: Path) -> None:
    """A link, a directory and a pipe are neither followed nor opened nor removed, and hold nobody up."""
    secret = tmp_path / "secret"
    secret.write_text(json.dumps({"action": "user-prompt", "hook_input": {"prompt": "not yours"}}))
    pending = at.spool_path / "pending"
    (pending / "a.json").symlink_to(secret)
    (pending / "b.json").mkdir()
    os.mkfifo(pending / "c.json")
    at.prompt("mine", name="z")
    at.scan()
    assert at.texts() == ["mine"]
    assert at.pending() == ["a.json", "b.json", "c.json"]


def test_names_that_are_no_text_are_taken(at: Ingesting) -> None:
    """Bytes that are no UTF-8 in a name cost neither the handoff nor the thread, for records and for flushes."""
    name = os.fsdecode(b"a\xff\xfe")
    at.prompt("odd name", name=name)
    at.drop("flush", name=os.fsdecode(b"b\xff"), envelope={"reason": "session-end"})
    at.put(os.fsdecode(b"c\xff"), TORN)
    at.scan()
    assert at.texts() == ["odd name"]
    (job,) = at.jobs()
    job.id.encode("ascii")
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    at.ingest.requests.over(job.id, JobState.DEAD, "refused")
    assert at.pending() == []
    assert len(list((at.spool_path / "corrupt").glob("*.json"))) == 2  # the file and its reason


def test_two_odd_names_are_two_handoffs(at: Ingesting) -> None:
    """Handoffs without an id of their own are told apart by the bytes of their names."""
    for raw in (b"a\xff", b"a\xfe"):
        content = {"action": "user-prompt", "hook_input": {"prompt": repr(raw), "session_id": "s"}}
        at.put(os.fsdecode(raw), json.dumps(content).encode())
        at.scan()
    assert len(at.texts()) == 2


class Unreadable(Spool):
    """A spool in which one file cannot be read, as another user's."""

    error = PermissionError(13, "Permission denied")

    def read(self, stem: str) -> bytes:
        if stem == "a":
            raise self.error
        return super().read(stem)


def test_a_file_of_another_user_goes_aside_and_blocks_nobody(at: Ingesting) -> None:
    """It gets the same grace, and its neighbours do not wait for it."""
    at.served._spools["claude-code"] = Unreadable(at.spool_path, "claude-code", own=True)
    at.prompt("locked", name="a")
    at.prompt("open", name="b")
    at.scan()
    assert at.texts() == ["open"]
    assert at.pending() == ["a.json"]
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert list(at.set_aside("corrupt")) == ["a.json"]


def test_a_failing_disk_condemns_nothing(at: Ingesting, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk or of the process is told, and everything claimed waits again."""
    at.served._spools["claude-code"] = Unreadable(at.spool_path, "claude-code", own=True)
    monkeypatch.setattr(Unreadable, "error", OSError(5, "Input/output error"))
    at.prompt("unlucky", name="a")
    at.scan()
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    assert at.pending() == ["a.json"]
    assert [finding.code for finding in at.findings.all()] == ["spool-read-only"]


def test_a_handoff_taken_away_while_it_is_read(at: Ingesting) -> None:
    """A plugin that withdraws its handoff in between costs nobody anything."""
    at.served._spools["claude-code"] = Unreadable(at.spool_path, "claude-code", own=True)
    Unreadable.error = FileNotFoundError(2, "No such file")  # type: ignore[assignment]
    try:
        at.prompt("gone", name="a")
        at.prompt("here", name="b")
        at.scan()
    finally:
        Unreadable.error = PermissionError(13, "Permission denied")
    assert at.texts() == ["here"]


def test_a_paused_spool_stays_young(at: Ingesting) -> None:
    """Nothing is taken and nothing expires, however long the pause (facts 1.28)."""
    stem = at.prompt("later", age=EXPIRY_SECONDS - 60)
    (at.spool_path / "paused").touch()
    at.scan()
    assert at.texts() == []
    (at.spool_path / "paused").unlink()
    path = at.spool_path / "pending" / f"{stem}.json"
    assert at.hands.wall_now - path.stat().st_mtime < 60
    at.scan()
    assert at.texts() == ["later"]


def test_a_pause_that_cannot_be_kept_up_stops_nobody(at: Ingesting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spool on a disk that became read-only is told of; the others are served."""
    other = at.root / "spools" / "codex"
    (other / "pending").mkdir(parents=True, mode=0o700)
    at.served.refresh(at.findings)
    (at.spool_path / "paused").touch()

    def refuse(_: Spool) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Spool, "refresh", refuse)
    at.prompt("elsewhere", pending=other / "pending")
    at.scan()
    assert at.events("codex") == [("user_prompt", "elsewhere")]
    assert [finding.code for finding in at.findings.all()] == ["spool-read-only"]


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
        assert found(at) == ["spool-read-only"]
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
    """A queue that cannot be used while `broken`: none of it, or `only` one method from its `first` call on."""

    def __init__(self, queue: Any, only: str = "", first: int = 1) -> None:
        self._queue = queue
        self._only = only
        self._left = first
        self.broken = True

    def __getattr__(self, name: str) -> Any:
        self._left -= name == self._only
        if self.broken and (not self._only or (name == self._only and self._left <= 0)):

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
    assert found(at) == ["spool-read-only"]
    assert f"{stem}.json" in at.pending()
    at.ingest.requests.beat()
    queue.broken = False
    at.scan()
    assert len(at.texts()) == 10
    assert sorted(job.payload["reason"] for job in at.jobs()) == ["periodic", "session-end"]
    assert at.pending() == [f"{stem}.running"]


def test_a_queue_that_fails_half_way_costs_no_request(at: Ingesting) -> None:
    """The handoff went back though its job was stored: a heartbeat must not take it for withdrawn (facts 1.19)."""
    queue = Failing(at.queue, "get", first=2)
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
    assert found(at) == ["spool-read-only"]


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
