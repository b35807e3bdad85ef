"""Databases: a page overwritten under a running daemon, its log too, and one that another program holds."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.end_to_end.conftest import Home
from tests.faults.seen import AMBER, problem, session, until_delivered, until_told, until_well

PAGE = 4096


def overwrite(path: Path, *, log: bool) -> None:
    """Let a disk give other bytes than were written: every page but the first, or the log that holds the newest."""
    if not log:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    target = Path(f"{path}-wal") if log else path
    with target.open("r+b") as file:
        for start in range(PAGE, target.stat().st_size, PAGE):
            file.seek(start)
            file.write(os.urandom(PAGE))


def copies(path: Path) -> list[str]:
    return [each.name for each in path.parent.glob(f"{path.name}.corrupt-*[0-9]")]


def test_evidence_overwritten(hosted: Home) -> None:
    """It is kept and begun anew at once; another spool, and what comes afterwards, is delivered."""
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    evidence = hosted.spool() / "evidence.sqlite3"
    overwrite(evidence, log=False)
    session(hosted, "after")
    session(hosted, "beside", "codex")
    until_delivered(hosted, "before", "beside", "after")
    until_told(hosted, "evidence-renewed", evidence.name, exits=AMBER)
    assert len(copies(evidence)) == 1
    assert not problem(hosted, "spool-failing")


def test_the_queue_overwritten(hosted: Home) -> None:
    """It is kept and begun anew without a restart; what waited for the platform is queued again and delivered once."""
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    hosted.api.refuse_connections()
    session(hosted, "waits")
    hosted.until(lambda: hosted.status()["jobs"]["waiting"] > 1, "nothing waits")
    overwrite(hosted.places.queue_file, log=False)
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
