"""Databases: a page overwritten under a running daemon, its log too, and one that another program holds."""

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.faults.disks import FailingDisk
from tests.faults.seen import AMBER, delivered, problem, session, until_delivered, until_told, until_well

PAGE = 4096


def overwrite(path: Path, *, log: bool) -> None:
    """Let a disk give other bytes than were written: every page but the first, or the log that holds the newest."""
    forgotten(path, fold=not log)
    target = Path(f"{path}-wal") if log else path
    with target.open("r+b") as file:
        for start in range(PAGE, target.stat().st_size, PAGE):
            file.seek(start)
            file.write(os.urandom(PAGE))


def forgotten(path: Path, *, fold: bool) -> None:
    """Make old what the daemon remembers of a database's pages, as any other program does that writes there; with
    `fold` they all lie in the file itself then."""
    with closing(sqlite3.connect(path)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version}")
        if fold:
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def copies(path: Path) -> list[str]:
    return [each.name for each in path.parent.glob(f"{path.name}.corrupt-*[0-9]")]


BOTH = pytest.mark.parametrize("log", [False, True], ids=["its pages", "its log"])


@BOTH
def test_evidence_overwritten(hosted: Home, log: bool) -> None:
    """It is kept and begun anew at once; another spool, and what comes afterwards, is delivered."""
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    evidence = hosted.spool() / "evidence.sqlite3"
    overwrite(evidence, log=log)
    session(hosted, "after")
    session(hosted, "beside", "codex")
    until_delivered(hosted, "before", "beside", "after")
    until_told(hosted, "evidence-renewed", evidence.name, exits=AMBER)
    assert len(copies(evidence)) == 1
    assert not problem(hosted, "spool-failing")


@BOTH
def test_the_queue_overwritten(hosted: Home, log: bool) -> None:
    """It is kept and begun anew without a restart; what waited for the platform is queued again and delivered once."""
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    hosted.api.refuse_connections()
    session(hosted, "waits")
    hosted.until(lambda: hosted.status()["jobs"]["waiting"] > 1, "nothing waits")
    overwrite(hosted.places.queue_file, log=log)
    session(hosted, "beside", "codex")
    until_told(hosted, "queue-renewed", str(hosted.places.queue_file), exits=AMBER)
    hosted.api.accept_connections()
    until_delivered(hosted, "before", "waits", "beside")
    assert len(copies(hosted.places.queue_file)) == 1
    assert daemon.poll() is None


def test_a_queue_overwritten_while_the_daemon_is_down(hosted: Home) -> None:
    """The command tells it from the files, and the next start is no failure."""
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    assert hosted.stop() == 0
    overwrite(hosted.places.queue_file, log=False)
    session(hosted, "within")
    down = hosted.run("status")
    assert down.returncode == 3
    assert "start memsyncd run" in " ".join(down.stdout.replace("`", "").split())
    hosted.start()
    until_delivered(hosted, "before", "within")
    until_told(hosted, "queue-renewed", exits=AMBER)


def test_the_memories_overwritten(home: Home) -> None:
    """Nothing is read from them or written, and that is told; what is captured waits, and is learnt once the file was
    moved aside as the remedy says, which is never done by itself."""
    home.start()
    session(home, "before")
    home.until_quiet()
    memories = home.places.memory_file
    overwrite(memories, log=False)
    session(home, "after")
    until_told(home, "platform-failed", "damaged", memories.name)
    home.until(lambda: not any((home.spool() / "pending").glob("*.json")), "capture does not go on")
    assert home.run("search", "question").returncode == 1
    for path in memories.parent.glob(f"{memories.name}*"):
        path.rename(f"{path}.aside")
    home.until_quiet()
    until_well(home, "platform-failed")
    with closing(sqlite3.connect(memories)) as learnt:
        assert [run for (run,) in learnt.execute("SELECT run_id FROM extraction_events")] == ["after"]
    assert home.run("search", "question").returncode == 0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock of a database, as a program does that thinks for long inside a transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_evidence_locked(hosted: Home) -> None:
    """The neighbour is delivered while it lasts; what waits is once the lock is gone."""
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with locked(hosted.spool() / "evidence.sqlite3"):
        session(hosted, "waits")
        until_told(hosted, "spool-locked", f"fuser {hosted.spool()}/evidence.sqlite3")
        session(hosted, "beside", "codex")
        hosted.until(lambda: delivered(hosted) == ["before", "beside"], "the neighbour is not delivered")
    until_delivered(hosted, "before", "beside", "waits")
    until_well(hosted, "spool-locked")


def test_the_queue_locked(hosted: Home) -> None:
    """What is captured is recorded, and questions are answered; nothing is sent twice or given up for it."""
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with locked(hosted.places.queue_file):
        session(hosted, "waits")
        until_told(hosted, "spool-waits", "locked", "fuser")
        assert hosted.run("search", "question").returncode == 0
        assert hosted.run("jobs", "list").returncode == 0
    until_delivered(hosted, "before", "waits")
    until_well(hosted, "spool-waits")
    assert hosted.status()["jobs"]["dead"] == 0


def test_the_memories_locked(home: Home) -> None:
    """What waits for them uses up no attempt, and searches are answered from what is there."""
    home.environ["MEMSYNCD_PLATFORM_MAX_COOLDOWN_SECONDS"] = "1"
    home.start()
    session(home, "before")
    home.until_quiet()
    with locked(home.places.memory_file):
        session(home, "waits")
        until_told(home, "busy", "in use by another process")
        assert home.run("search", "question").returncode == 0
    home.until_quiet()
    until_well(home, "busy")
    assert home.status()["jobs"]["dead"] == 0


def test_the_memories_on_a_disk_that_refuses(home: Home, failing_disk: FailingDisk) -> None:
    """A read that ends in EIO is no damage, so nobody is told to move a sound file aside: it says what it is, capture
    goes on, and with the disk so does the rest."""
    failing_disk.holds(home)
    home.start()
    session(home, "before")
    home.until_quiet()
    forgotten(home.places.memory_file, fold=True)
    failing_disk.fail(errno.EIO, home.places.memory_file, reads=True)
    session(home, "waits")
    until_told(home, "offline", "Input/output error")
    home.until(lambda: not any((home.spool() / "pending").glob("*.json")), "capture does not go on")
    failing_disk.mend()
    home.until_quiet()
    until_well(home, "offline")
    with closing(sqlite3.connect(home.places.memory_file)) as learnt:
        assert {run for (run,) in learnt.execute("SELECT run_id FROM extraction_events")} == {"before", "waits"}


def test_evidence_overwritten_before_a_run_that_ends(hosted: Home) -> None:
    """What had not been sent is in the copy alone: the run says so and has failed, and every later one, the status and
    the doctor say so too, until somebody has taken the copy away."""
    hosted.exchange("s", 1)
    assert hosted.run("run", "--once").returncode == 0
    evidence = hosted.spool() / "evidence.sqlite3"
    evidence.write_bytes(os.urandom(20_000))
    Path(f"{evidence}-wal").unlink(missing_ok=True)
    ran = hosted.run("run", "--once")
    [name] = copies(evidence)
    assert ran.returncode == 1
    assert f"not sent is in {evidence.with_name(name)} alone" in ran.stdout
    assert "evidence-renewed" in ran.stderr
    again = hosted.run("run", "--once")
    assert (again.returncode, name in again.stdout, name in again.stderr) == (0, True, True)
    assert "evidence-renewed" in hosted.run("status", "--json").stdout
    doctor = hosted.run("doctor")
    assert doctor.returncode == 1
    assert "FAIL  damaged copies" in doctor.stdout
    evidence.with_name(name).unlink()
    assert name not in hosted.run("run", "--once").stdout
    assert "evidence-renewed" not in hosted.run("status", "--json").stdout


@pytest.mark.parametrize("content", [b"{torn", b""], ids=["torn", "empty"])
def test_what_was_forgotten_damaged(hosted: Home, content: bytes) -> None:
    """What would come back is not let in: every command tells the file, nobody blames a spool, and typing what they
    say lets in what waited."""
    assert hosted.run("forget", "--session", "gone", "--yes").returncode == 0
    hosted.start()
    path = hosted.places.data / "forgotten.json"
    path.write_bytes(content)
    session(hosted, "waits")
    until_told(hosted, "forgotten-unreadable", f"{path} is damaged", "memsyncd forget")
    hosted.stop()
    ended = hosted.run("run", "--once")
    assert (ended.returncode, f"{path} is damaged" in ended.stdout) == (1, True)
    refused = hosted.run("forget", "--session", "gone", "--yes")
    assert (refused.returncode, f"{path} is damaged" in refused.stderr) == (1, True)
    from_files = json.loads(hosted.run("status", "--json").stdout)["problems"]
    assert [problem["code"] for problem in from_files] == ["forgotten-unreadable"]
    doctor = hosted.run("doctor")
    assert (doctor.returncode, "FAIL  forgotten" in doctor.stdout) == (1, True)
    hosted.start()
    until_told(hosted, "forgotten-unreadable")
    assert [problem["code"] for problem in hosted.status()["problems"]] == ["forgotten-unreadable"]
    assert delivered(hosted) == []
    path.rename(f"{path}.old")
    until_delivered(hosted, "waits")
    until_well(hosted, "forgotten-unreadable")


def test_the_queue_overwritten_under_a_run_that_ends(hosted: Home) -> None:
    """`run --once` begins anew as well, delivers what is on disk, and ends as if nothing had been."""
    api = hosted.api
    assert api is not None
    session(hosted, "s")
    api.script("add", behave.commit_and_answer_late(2.0))
    hosted.start("--once", wait=False)
    api.wait_for(lambda fake: len(fake.requests("add")) == 1)
    overwrite(hosted.places.queue_file, log=False)
    assert hosted.daemon is not None
    assert hosted.daemon.wait(60) == 0
    assert delivered(hosted) == ["s"]
    assert len(copies(hosted.places.queue_file)) == 1
