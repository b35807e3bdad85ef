"""An evidence file shrinks, also one of an older version, which was not made for it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd.evidence import retiring
from memsyncd.evidence.store import EvidenceStore
from tests.clocks import HandClock


def test_a_new_file_can_give_pages_back(tmp_path: Path) -> None:
    """Files are made so that free pages can be given back in small steps."""
    EvidenceStore.open(tmp_path / "e.sqlite3", own=True, clock=HandClock().clock()).close()
    with closing(sqlite3.connect(tmp_path / "e.sqlite3")) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


@pytest.mark.parametrize(("megabytes", "kept", "shrinks"), [(17, 0, True), (17, 40, False), (2, 0, False)])
def test_an_older_file_is_written_anew_once_it_is_worth_it(
    tmp_path: Path, megabytes: int, kept: int, shrinks: bool
) -> None:
    """Where most of a large file is free it is rewritten, once, and can shrink by itself from then on."""
    path = tmp_path / "old.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("CREATE TABLE events(id INTEGER PRIMARY KEY, payload BLOB)")
        for size in (megabytes, kept):
            connection.execute("INSERT INTO events(payload) VALUES (?)", (os.urandom(size << 20),))
        connection.execute("DELETE FROM events WHERE id = 1")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        before = path.stat().st_size
        assert retiring.shrink(connection, 10) is False
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert (path.stat().st_size < before / 10) is shrinks
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2 if shrinks else 0,)
