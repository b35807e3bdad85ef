"""Status and jobs from the files: nothing is changed by looking, nothing odd is a traceback."""

import contextlib
import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from daemon.intake.spool import Spool
from daemon.lock import AlreadyRunning, DaemonLock
from daemon.places import Places, resolve
from daemon.status import offline, offline_jobs, snapshot
from daemon.status.report import status_document
from jobs.job import NewJob
from jobs.outcomes import Cool, Done, GiveUp
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore
from tests.daemon.telemetry.switched_on import ON
from tests.unprivileged import unprivileged

NOW = 1_800_000_000.0
ROOT = Path(__file__).parents[3]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"MEMSYNCD_HOME": str(tmp_path / "m")}


@pytest.fixture
def places(tmp_path: Path, environ: dict[str, str]) -> Places:
    return resolve(environ, tmp_path, os.getuid(), "linux")


def queue_at(places: Places) -> SqliteQueue:
    places.data.mkdir(mode=0o700, exist_ok=True)
    return SqliteQueue(places.queue_file, clock=Clock(), policy=Policy(), counters=Counters(), random=Random(1))


def bury(queue: SqliteQueue, job_id: str, why: str = "status 422", **payload: Any) -> None:
    queue.enqueue(NewJob(id=job_id, kind="flush", payload=payload))
    claim = queue.claim()
    assert claim is not None
    assert claim.job.id == job_id
    queue.finish(claim, GiveUp(why))


def fingerprint(directory: Path) -> dict[str, tuple[str, int]]:
    """Every file below with its bytes' digest and its modification time."""
    return {
        str(path.relative_to(directory)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def document(places: Places, environ: dict[str, str]) -> dict[str, Any]:
    return status_document(offline.offline_parts(places, environ, now=NOW))


def spools(places: Places, environ: dict[str, str]) -> list[Spool]:
    return offline.spools_to_serve(places, offline.settings_or_default(places, environ, []))


def codes(told: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in told["problems"]]


def test_a_fresh_machine(places: Places, environ: dict[str, str]) -> None:
    """With no file at all the status says the daemon is down and how to start it, and makes no file."""
    told = document(places, environ)
    assert told["state"] == "down"
    assert "memsyncd run" in told["summary"]
    assert told["problems"] == []
    assert offline_jobs.offline_jobs(places) == {"jobs": []}
    assert offline_jobs.offline_job(places, "x") is None
    assert not places.data.exists()


def test_damaged_copies_are_told_until_they_are_taken_away(places: Places, environ: dict[str, str]) -> None:
    """Each with its path and since when; a plugin's copies, beside its own evidence, are the plugin's business."""
    spool = Spool(places.spools / "codex", "codex", own=True)
    places.spools.mkdir(parents=True)
    spool.prepare()
    copies = [spool.path / "evidence.sqlite3.corrupt-1796000000", places.data / "queue.sqlite3.corrupt-1796000001"]
    plugin = places.home / ".mem0" / "codex-plugin"
    plugin.mkdir(parents=True)
    for path in (*copies, Path(f"{copies[0]}-wal"), plugin / copies[0].name):
        path.write_bytes(b"damaged")
    told = document(places, environ)["problems"]
    assert [problem["code"] for problem in told] == ["evidence-renewed", "queue-renewed"]
    assert [problem["since"] for problem in told] == ["2026-11-30T00:53:20.000Z", "2026-11-30T00:53:21.000Z"]
    for problem, copy in zip(told, copies, strict=True):
        assert f"`rm {copy}*`" in problem["remedy"]
        copy.unlink()
    assert document(places, environ)["problems"] == []


def test_counts_come_from_the_files_and_no_byte_changes(places: Places, environ: dict[str, str]) -> None:
    """Spools, queue, destinations and open extractions are told as they are; looking changes nothing and adds nothing."""
    spool = Spool(places.spools / "codex", "codex", own=True)
    places.spools.mkdir(parents=True)
    spool.prepare()
    for name in ("a.json", "b.json", "c.running"):
        (spool.pending / name).write_text("{}")
        os.utime(spool.pending / name, (NOW - 50, NOW - 50))
    store = EvidenceStore.open(spool.evidence, own=True, clock=Clock())
    store.append([NewEvent("s", "user_prompt", {}, "2027-01-15T07:00:00Z", "h", Scope("r", "a"))])
    packet = store.prepare("s", "manual", list)
    assert packet is not None
    store.begin_post(packet.packet_id, 0, NOW - 30)
    store.accept_post(packet.packet_id, 0, "event-1", 1, NOW - 20)
    store.close()
    queue = queue_at(places)
    bury(queue, "dead-one")
    queue.enqueue(NewJob(id="waits", kind="flush"), NewJob(id="cools", kind="flush", destination="mem0", priority=1))
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, Cool("mem0", "no connection", "offline"))
    queue.close()
    before = fingerprint(places.data)
    told = document(places, environ)
    assert told["spools"][0] | {"path": ""} == {
        "harness": "codex", "path": "", "pending": 2, "running": 1, "dead": 0, "corrupt": 0,
        "oldest_pending_seconds": 50.0, "paused": False,
    }  # fmt: skip
    assert (told["jobs"]["ready"], told["jobs"]["waiting"], told["jobs"]["dead"]) == (1, 1, 1)
    assert told["extraction"] == {"open": 1, "oldest_seconds": 20.0}
    assert {"offline", "dead-letters"} <= set(codes(told))
    assert {job["id"] for job in offline_jobs.offline_jobs(places)["jobs"]} == {"dead-one", "waits", "cools"}
    assert [job["id"] for job in offline_jobs.offline_jobs(places, state="dead")["jobs"]] == ["dead-one"]
    shown = offline_jobs.offline_job(places, "dead-one")
    assert shown is not None
    assert shown["reason"] == "status 422"
    assert fingerprint(places.data) == before


def test_what_a_killed_daemon_left_in_the_log_counts(places: Places, environ: dict[str, str]) -> None:
    """Jobs that stand only in the write-ahead log of a daemon that was killed are told, and the log stays as it is."""
    script = """
import os, sys
from pathlib import Path
from random import Random
from jobs.job import NewJob
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.clock import Clock
from memsyncd.counters import Counters
queue = SqliteQueue(Path(sys.argv[1]), clock=Clock(), policy=Policy(), counters=Counters(), random=Random(1))
queue.enqueue(NewJob(id="late", kind="flush"))
os.kill(os.getpid(), 9)
"""
    places.data.mkdir()
    ended = subprocess.run([sys.executable, "-c", script, str(places.queue_file)], cwd=ROOT, timeout=60, check=False)
    assert ended.returncode == -9
    assert Path(f"{places.queue_file}-wal").stat().st_size > 0
    before = fingerprint(places.data)
    assert document(places, environ)["jobs"]["ready"] == 1
    assert [job["id"] for job in offline_jobs.offline_jobs(places)["jobs"]] == ["late"]
    assert fingerprint(places.data) == before


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\x00" + b"\x00" * 200])
def test_foreign_files_are_problems(places: Places, environ: dict[str, str], content: bytes) -> None:
    """A queue or evidence file that is none becomes a problem naming it; jobs say they cannot be read."""
    (places.spools / "codex").mkdir(parents=True)
    places.queue_file.write_bytes(content)
    (places.spools / "codex/evidence.sqlite3").write_bytes(content)
    told = document(places, environ)
    assert {"queue-unreadable", "spool-unreadable"} <= set(codes(told))
    assert str(places.queue_file) in " ".join(problem["message"] for problem in told["problems"])
    with pytest.raises(snapshot.NotADatabaseError):
        offline_jobs.offline_jobs(places)
    assert places.queue_file.read_bytes() == content


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "directory"])
def test_what_is_no_file_is_a_problem(places: Places, environ: dict[str, str], make: Callable[[Path], None]) -> None:
    """A pipe or a directory in a database's place is told and not waited for."""
    (places.spools / "codex").mkdir(parents=True)
    make(places.queue_file)
    make(places.spools / "codex/evidence.sqlite3")
    assert set(codes(document(places, environ))) == {"queue-unreadable", "spool-unreadable"}


def test_an_empty_file_is_an_empty_queue(places: Places, environ: dict[str, str]) -> None:
    """What a crash between creating and filling leaves is no problem."""
    places.data.mkdir()
    places.queue_file.touch()
    assert document(places, environ)["problems"] == []
    assert offline_jobs.offline_jobs(places) == {"jobs": []}
    assert places.queue_file.read_bytes() == b""


def test_newer_files_are_named_and_left(places: Places, environ: dict[str, str]) -> None:
    """Queue, memories and evidence of a newer version are problems of their own, byte-equal afterwards."""
    (places.spools / "codex").mkdir(parents=True)
    for path in (places.queue_file, places.memory_file, places.spools / "codex/evidence.sqlite3"):
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    before = fingerprint(places.data)
    assert set(codes(document(places, environ))) == {"queue-newer", "memory-newer", "newer-evidence"}
    with pytest.raises(snapshot.NotADatabaseError):
        offline_jobs.change_jobs(places, [], "retry", ["x"])
    assert {name: seen for name, seen in fingerprint(places.data).items() if name != "daemon.lock"} == before


def test_an_unreadable_spool_is_a_problem(places: Places, environ: dict[str, str]) -> None:
    """A spool whose directory may not be read is told with its path."""
    pending = places.spools / "codex" / "pending"
    pending.mkdir(parents=True)
    pending.chmod(0)
    with unprivileged():
        assert "spool-unreadable" in codes(document(places, environ))
    pending.chmod(0o700)


@pytest.mark.parametrize("closed", ["m", "."])
def test_a_directory_that_is_closed_is_told_and_not_taken_for_empty(tmp_path: Path, closed: str) -> None:
    """Another user's data: no traceback, nobody is said to have paused anything, and nothing is said of what waits."""
    root = tmp_path / "home"
    environ = {"MEMSYNCD_HOME": str(root / "m")}
    places = resolve(environ, root, os.getuid(), "linux")
    places.data.mkdir(parents=True)
    (places.data / "pauses.json").write_text("{}")
    (root / closed).chmod(0)
    with unprivileged():
        told = document(places, environ)
    (root / closed).chmod(0o700)
    assert (codes(told), told["state"], told["paused"]) == (["data-closed"], "down", False)
    assert "is closed to you" in told["summary"] and "nothing waits" not in told["summary"]


def test_a_file_where_a_directory_should_be(places: Places, environ: dict[str, str]) -> None:
    """A regular file in place of `pending/` is a problem, not a traceback."""
    (places.spools / "codex").mkdir(parents=True)
    (places.spools / "codex/pending").write_text("in the way")
    assert "spool-no-directory" in codes(document(places, environ))


def test_a_wrong_config_is_told_and_the_rest_too(places: Places, environ: dict[str, str]) -> None:
    """With a config that does not parse the status still counts our own spools."""
    (places.spools / "codex/pending").mkdir(parents=True)
    places.config_file.write_text("no = [toml")
    told = document(places, environ)
    assert "config-wrong" in codes(told)
    assert [spool["harness"] for spool in told["spools"]] == ["codex"]


def test_a_daemon_that_holds_the_lock_is_not_down(places: Places, environ: dict[str, str]) -> None:
    """Somebody holds the lock and does not answer: degraded and named with its pid, never `down` (never-again 136)."""
    places.data.mkdir()
    held = DaemonLock.acquire(places.lock_file, pid=4321, run_id="r")
    try:
        told = document(places, environ)
        queue_at(places).close()
        with pytest.raises(AlreadyRunning):
            offline_jobs.change_jobs(places, spools(places, environ), "retry", ["x"])
    finally:
        held.release()
    assert told["state"] == "degraded"
    assert codes(told) == ["not-answering"]
    assert "4321" in told["problems"][0]["message"]
    assert document(places, environ)["state"] == "down"


def test_retry_and_discard_work_on_the_file(places: Places, environ: dict[str, str]) -> None:
    """A dead job becomes ready, or is let go together with the handoff kept for it; each refusal says why."""
    spool = Spool(places.spools / "codex", "codex", own=True)
    places.spools.mkdir(parents=True)
    spool.prepare()
    for name in ("h0.json", "h0.reason.json", "h1.json"):
        (spool.dead / name).write_text("{}")
    queue = queue_at(places)
    bury(queue, "one", spool="codex", handoff="h0")
    bury(queue, "two", spool="codex", handoff="h1")
    queue.enqueue(NewJob(id="ready", kind="flush"))
    queue.close()
    assert offline_jobs.change_jobs(places, spools(places, environ), "retry", ["one", "none", "ready"]) == {
        "one": "", "none": "there is no such job", "ready": "",
    }  # fmt: skip
    assert offline_jobs.change_jobs(places, spools(places, environ), "discard", ["two", "ready"]) == {
        "two": "",
        "ready": "it is ready, not dead",
    }
    assert list(spool.dead.iterdir()) == []
    assert [path.name for path in spool.pending.iterdir()] == ["h0.json"]
    assert offline_jobs.change_jobs(places, spools(places, environ), "discard", ["two"]) == {"two": ""}
    shown = offline_jobs.offline_job(places, "one")
    assert shown is not None
    assert (shown["state"], shown["attempts"]) == ("ready", 0)


def test_changing_jobs_of_no_queue_makes_none(places: Places) -> None:
    """Without a queue there is no job to change, and nothing is created."""
    assert offline_jobs.change_jobs(places, [], "retry", ["x"]) == {"x": "there is no such job"}
    assert not places.data.exists()


def test_another_program_s_database_is_a_problem(places: Places, environ: dict[str, str]) -> None:
    """A sound database without our tables in the queue's place is told as unreadable, and not written to."""
    places.data.mkdir()
    with contextlib.closing(sqlite3.connect(places.queue_file)) as connection:
        connection.execute("CREATE TABLE theirs(x)")
        connection.execute("PRAGMA user_version = 1")
    before = fingerprint(places.data)
    assert codes(document(places, environ)) == ["queue-unreadable"]
    assert fingerprint(places.data) == before


def test_the_daemon_s_own_timer_is_nobody_s_work(places: Places) -> None:
    """A poll job that waits for something to ask about is counted as waiting, but nothing waits."""
    queue = queue_at(places)
    queue.enqueue(NewJob(id="poll:local", kind="poll", delay=100, reason="nothing open"))
    queue.close()
    told = document(places, {"MEMSYNCD_HOME": str(places.data)})
    assert told["jobs"]["waiting"] == 1
    assert "nothing waits" in told["summary"]


def test_the_platform_s_last_success_is_remembered(places: Places) -> None:
    """With the daemon down the platform is told with its address, its last success and its trouble."""
    queue = queue_at(places)
    name = "mem0 https://platform.test"
    queue.enqueue(NewJob(id="one", kind="flush", destination=name), NewJob(id="two", kind="flush", destination=name))
    for outcome, answered in ((Done(), True), (Cool(name, "no connection", "offline"), False)):
        claim = queue.claim()
        assert claim is not None
        queue.finish(claim, outcome, answered=answered)
    queue.close()
    told = document(places, {"MEMSYNCD_HOME": str(places.data), "MEMSYNCD_PLATFORM_KIND": "mem0"})["platform"]
    assert (told["url"], told["ok"], told["last_error"]) == ("https://platform.test", False, "no connection")
    assert told["last_success_at"]


def test_an_address_is_told_without_its_secrets(places: Places) -> None:
    """As the daemon itself tells it, which sends neither user nor query (CONTRACT: Status socket)."""
    url = "https://u:pw@127.0.0.1:9/x?token=t"
    told = document(places, {"MEMSYNCD_HOME": str(places.data), "MEM0_API_URL": url, "MEM0_API_KEY": "k"})["platform"]
    assert told["url"] == "https://127.0.0.1:9/x"


def test_paused_is_told(places: Places, environ: dict[str, str]) -> None:
    """The user's pause is told also while the daemon is down."""
    places.data.mkdir()
    (places.data / "paused").touch()
    assert document(places, environ)["paused"] is True


@pytest.mark.parametrize("off", [{}, {"DO_NOT_TRACK": "1"}])
def test_telemetry_is_counted_only_while_it_is_on(places: Places, environ: dict[str, str], off: dict[str, str]) -> None:
    """The same as a running daemon tells; its standing job is no work that waits."""
    spool = places.spools / "codex"
    spool.mkdir(parents=True)
    (spool / "telemetry.jsonl").write_bytes(b"{}\n{}\n")
    queue = queue_at(places)
    queue.enqueue(NewJob("telemetry:http://127.0.0.1:9", "telemetry", delay=60.0, reason="an interval"))
    queue.close()
    parts = offline.offline_parts(places, {**environ, **ON, **off}, now=NOW)
    told = status_document(parts)["telemetry"]
    assert (told["enabled"], told["spooled"]) == ((False, 0) if off else (True, 2))
    assert told["endpoint"] == ("" if off else "http://127.0.0.1:9")
    assert parts.standing_jobs == 1
    assert "nothing waits" in status_document(parts)["summary"]
