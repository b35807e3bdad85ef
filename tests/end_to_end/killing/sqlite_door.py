"""SQLite watched: what changes a database's file, as its own trace tells it."""

import os
import re
import sqlite3
from collections.abc import Callable
from typing import Any

from tests.end_to_end.killing.step import AFTER, BEFORE, place
from tests.end_to_end.killing.watch import Watch

ENDS = re.compile(r"\s*(?:COMMIT|END)\b", re.IGNORECASE)

CHANGES = re.compile(
    r"\s*(?:(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|VACUUM|REINDEX)\b"
    r"|PRAGMA\s+((?:journal_mode|user_version|auto_vacuum)\s*=|incremental_vacuum|wal_checkpoint))",
    re.IGNORECASE,
)
"""What changes a file by itself, where it is no part of a transaction."""


def watch_sqlite(watch: Watch) -> None:
    """Watch every connection that is opened from now on."""
    watched, real = _watched_connection(watch), sqlite3.connect

    def connect(database: Any, *arguments: Any, **named: Any) -> sqlite3.Connection:
        text = os.fsdecode(database)
        file = place(re.sub(r"^file:(//)?|\?.*$", "", text), watch.root)
        if file is None or "mode=ro" in text:
            return real(database, *arguments, **named)
        opened = watch.step(
            watch.database_step(file, "open"), lambda: real(database, *arguments, **{"factory": watched, **named})
        )
        opened.file = file
        opened.set_trace_callback(opened.traced)
        return opened  # type: ignore[no-any-return]

    sqlite3.connect = connect  # type: ignore[assignment]


def _verb(statement: str, *, is_part: bool) -> str:
    """Return what a statement does to the file, empty for nothing yet; `is_part` tells that a transaction is open."""
    if ENDS.match(statement):
        return "commit"
    found = None if is_part else CHANGES.match(statement)
    return (found[1] or found[2].rstrip("= ")).lower() if found else ""


def _watched_connection(watch: Watch) -> type[sqlite3.Connection]:
    class Watched(sqlite3.Connection):
        """A connection to `file`; `under_way` is the step that its present call takes."""

        file = ""
        under_way = ""

        def traced(self, statement: str) -> None:
            """Meet a statement before it runs."""
            verb = _verb(statement, is_part=self.in_transaction)
            if not verb:
                return
            self.under_way = watch.database_step(self.file, verb)
            watch.reached(self.under_way, BEFORE)

        def _call(self, act: Callable[[], Any]) -> Any:
            result = act()
            name, self.under_way = self.under_way, ""
            if name:
                watch.reached(name, AFTER)
            return result

        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            return self._call(lambda: plain.execute(self, *arguments))  # type: ignore[no-any-return]

        def executemany(self, *arguments: Any) -> sqlite3.Cursor:
            return self._call(lambda: plain.executemany(self, *arguments))  # type: ignore[no-any-return]

        def executescript(self, *arguments: Any) -> sqlite3.Cursor:
            return self._call(lambda: plain.executescript(self, *arguments))  # type: ignore[no-any-return]

        def commit(self) -> None:
            self._call(lambda: plain.commit(self))

        def close(self) -> None:
            watch.step(watch.database_step(self.file, "close"), lambda: plain.close(self))

    plain = sqlite3.Connection
    return Watched
