"""Files that an earlier version left, made by its own code (commit 624c7ce), served by this one; and the other way."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memsyncd.evidence import schema as evidence_schema
from memsyncd.platforms.local import schema as memory_schema
from tests.end_to_end.conftest import Home

FIXTURES = Path(__file__).parents[1] / "fixtures" / "yesterday"


@pytest.fixture
def yesterday(home: Home) -> Home:
    """Give a home as that version's daemon left it: a delivered session, one that is recorded and unsent, and handoffs
    of a third that no daemon has taken in."""
    data, spool = home.places.data, home.spool()
    for directory in (data, home.places.spools, spool, spool / "pending"):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, place in (("queue.sqlite3", data), ("memory.sqlite3", data), ("evidence.sqlite3", spool)):
        shutil.copyfile(FIXTURES / name, place / name)
        (place / name).chmod(0o600)
    for handoff in (FIXTURES / "pending").iterdir():
        shutil.copyfile(handoff, spool / "pending" / handoff.name)
        (spool / "pending" / handoff.name).chmod(0o600)
    return home


def ask(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_what_yesterday_left_is_delivered_today(yesterday: Home) -> None:
    """Its evidence, queue, memories and handoffs are taken up: what was delivered is not sent again, what was not is,
    and what was learnt is found."""
    home = yesterday
    home.start()
    home.until(lambda: home.status()["jobs"]["done"] >= 4, "the handoffs were not taken up")
    assert home.run("flush", "--wait").returncode == 0
    evidence = home.spool() / "evidence.sqlite3"
    packets = ask(evidence, "SELECT session_id, count(*) FROM flushes WHERE status = 'semantic-succeeded' GROUP BY 1")
    assert packets == [("delivered", 1), ("dropped", 1), ("waiting", 1)]
    found = home.run("search", "which indentation is used?", "--json", cwd=home.project)
    assert found.returncode == 0
    texts = [text for (text,) in ask(home.places.memory_file, "SELECT text FROM memories")]
    assert any("tabs" in text for text in texts)
    assert home.status()["problems"] == []
    home.stop()


def test_every_store_has_taken_its_steps_forward(yesterday: Home) -> None:
    """Versions and tables are today's, no row is lost, and every table and column that version knew is still there
    under its name: steps only add."""
    home = yesterday
    before = ask(FIXTURES / "memory.sqlite3", "SELECT id, text FROM memories ORDER BY number")
    events = ask(FIXTURES / "evidence.sqlite3", "SELECT id, kind, payload_json FROM events ORDER BY id")
    assert ask(FIXTURES / "memory.sqlite3", "PRAGMA user_version") == [(1,)]
    assert ask(FIXTURES / "evidence.sqlite3", "PRAGMA user_version") == [(1,)]
    assert home.run("run", "--once").returncode == 0
    memory, evidence = home.places.memory_file, home.spool() / "evidence.sqlite3"
    assert ask(memory, "PRAGMA user_version") == [(memory_schema.VERSION,)]
    assert ask(memory, "SELECT id, text FROM memories ORDER BY number")[: len(before)] == before
    assert ask(evidence, "PRAGMA user_version") == [(evidence_schema.VERSION,)]
    assert ask(evidence, "SELECT id, kind, payload_json FROM events ORDER BY id")[: len(events)] == events
    indexes = {name for (name,) in ask(evidence, "SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {"flushes_delivered", "retrievals_session"} <= indexes
    for name, path in (
        ("queue.sqlite3", home.places.queue_file),
        ("memory.sqlite3", memory),
        ("evidence.sqlite3", evidence),
    ):
        for (table,) in ask(FIXTURES / name, "SELECT name FROM sqlite_master WHERE type = 'table'"):
            known = {row[1] for row in ask(FIXTURES / name, f"PRAGMA table_info({table})")}
            assert known <= {row[1] for row in ask(path, f"PRAGMA table_info({table})")}, (name, table)


@pytest.mark.parametrize("file", ["queue.sqlite3", "memory.sqlite3"])
def test_a_newer_version_s_file_is_left_byte_equal(yesterday: Home, file: str) -> None:
    """As yesterday's daemon does with today's: it ends with 78 and the file is what it was."""
    path = yesterday.places.data / file
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    done = yesterday.run("run", "--once")
    assert done.returncode == 78
    assert "newer" in done.stderr or "schema version 99" in done.stderr
    assert path.read_bytes() == before
