"""Ingest among bad files and failing stores: one failure hurts one thing, and nothing is lost."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.intake.document import MAX_BYTES
from daemon.intake.grace import GRACE_SECONDS
from daemon.intake.spool import EXPIRY_SECONDS, Spool
from jobs.job import JobState
from tests.daemon.intake.ingesting import Ingesting

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
    assert [finding.code for finding in at.findings.all()] == ["spool-failing"]


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


@pytest.mark.parametrize(("slept", "moved"), [(8 * 86_400.0, 0.0), (0.0, 8 * 86_400.0), (0.0, -6 * 3_600.0)])
def test_nothing_expires_because_the_machine_slept_or_the_clock_was_set(
    at: Ingesting, slept: float, moved: float
) -> None:
    """What waited then is taken in by the first scan, whether or not anybody has noticed the gap before it."""
    at.scan()
    at.prompt("waited")
    at.hands.sleep(slept)
    at.hands.wall_now += moved
    at.scan()
    assert at.texts() == ["waited"]


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


def test_a_spool_that_cannot_be_written_is_told_of_until_it_can(at: Ingesting, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing in it as well: a hook would lose what it wants to leave (CONTRACT "Health")."""

    def refuse(_: Spool) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Spool, "check_writable", refuse)
        at.scan()
    assert [finding.code for finding in at.findings.all()] == ["spool-read-only"]
    at.scan()
    assert not at.findings.all()
