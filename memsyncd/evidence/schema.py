"""The tables of an evidence store: ours in full, and what a plugin's file must have for us to serve it.

Ours are the tables of existing plugins (issue 2, last section) with columns of our own, so one reader serves both.
`memsyncd_posts` is the one table we add to a plugin's file. Its row with batch -1 belongs to the packet itself: what
its request was made from (branch, commit) and, where `flushes` has no such column yet, the attempts.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from memsyncd import schema_steps

VERSION = 2
"""`PRAGMA user_version` of our own files."""

APPLICATION_ID = 0x6D737964
"""`PRAGMA application_id` of our own files, wherever they lie: the letters msyd."""

UNCONFIRMED_SQL = "status NOT IN ('semantic-succeeded', 'explicitly-stored', 'gave-up')"
"""Facts 2.4 as SQL. The partial index needs the very same words."""

OPEN_SQL = f"({UNCONFIRMED_SQL} AND status <> 'shared')"
"""What this machine has still to see to: what a shared queue has taken is delivered by another."""

DELIVERED_SQL = "status IN ('semantic-succeeded', 'explicitly-stored')"
"""Packets whose delivery was confirmed. The partial index needs the very same words."""

FIRST_PROMPT_SEARCH = "first-prompt-search"
"""The operation of the recall at a session's first prompt (facts 7.4)."""

POSTS_SQL = """CREATE TABLE IF NOT EXISTS memsyncd_posts(
    packet_id TEXT NOT NULL, batch INTEGER NOT NULL, started_at REAL NOT NULL DEFAULT 0,
    event_id TEXT NOT NULL DEFAULT '', waiting_since REAL NOT NULL DEFAULT 0,
    branch TEXT NOT NULL DEFAULT '', head_sha TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (packet_id, batch)) WITHOUT ROWID"""

# AUTOINCREMENT: a packet's id follows from its events' ids, so an id must not come back after a forget.
_OWN_TABLES: Mapping[str, Mapping[str, str]] = {
    "events": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "repo_id": "TEXT NOT NULL DEFAULT ''",
        "app_id": "TEXT NOT NULL DEFAULT ''",
        "session_id": "TEXT NOT NULL DEFAULT ''",
        "created_at": "TEXT NOT NULL DEFAULT ''",
        "kind": "TEXT NOT NULL DEFAULT ''",
        "payload_json": "TEXT NOT NULL DEFAULT '{}'",
        "flush_id": "TEXT",
        "harness": "TEXT NOT NULL DEFAULT ''",
        "handoff_id": "TEXT",
        "duplicate_key": "TEXT",
        "answer_digest": "TEXT",
    },
    "session_scopes": {
        "session_id": "TEXT PRIMARY KEY",
        "repo_id": "TEXT NOT NULL DEFAULT ''",
        "app_id": "TEXT NOT NULL DEFAULT ''",
        "root": "TEXT NOT NULL DEFAULT ''",
        "branch": "TEXT NOT NULL DEFAULT ''",
        "head_sha": "TEXT NOT NULL DEFAULT ''",
        "created_at": "TEXT NOT NULL DEFAULT ''",
        "directory": "TEXT NOT NULL DEFAULT ''",
        "project_id": "TEXT NOT NULL DEFAULT ''",
        "harness": "TEXT NOT NULL DEFAULT ''",
    },
    "flushes": {
        "packet_id": "TEXT PRIMARY KEY",
        "repo_id": "TEXT NOT NULL DEFAULT ''",
        "app_id": "TEXT NOT NULL DEFAULT ''",
        "session_id": "TEXT NOT NULL DEFAULT ''",
        "reason": "TEXT NOT NULL DEFAULT ''",
        "event_start": "INTEGER NOT NULL DEFAULT 0",
        "event_end": "INTEGER NOT NULL DEFAULT 0",
        "status": "TEXT NOT NULL DEFAULT 'prepared'",
        "episode_event_id": "TEXT",
        "semantic_event_id": "TEXT",
        "error": "TEXT NOT NULL DEFAULT ''",
        "attempts": "INTEGER NOT NULL DEFAULT 0",
        "created_at": "TEXT NOT NULL DEFAULT ''",
        "updated_at": "TEXT NOT NULL DEFAULT ''",
    },
    "retrievals": {
        "session_id": "TEXT NOT NULL DEFAULT ''",
        "repo_id": "TEXT NOT NULL DEFAULT ''",
        "memory_id": "TEXT NOT NULL DEFAULT ''",
        "injected_at": "TEXT NOT NULL DEFAULT ''",
        "rank": "INTEGER",
        "score": "REAL",
        "memory_text": "TEXT NOT NULL DEFAULT ''",
        "context_chars": "INTEGER NOT NULL DEFAULT 0",
    },
    "operations": {
        "id": "INTEGER PRIMARY KEY",
        "created_at": "TEXT NOT NULL DEFAULT ''",
        "repo_id": "TEXT NOT NULL DEFAULT ''",
        "session_id": "TEXT NOT NULL DEFAULT ''",
        "operation": "TEXT NOT NULL DEFAULT ''",
        "duration_ms": "REAL NOT NULL DEFAULT 0",
        "success": "INTEGER NOT NULL DEFAULT 0",
        "item_count": "INTEGER NOT NULL DEFAULT 0",
        "request_chars": "INTEGER NOT NULL DEFAULT 0",
        "response_chars": "INTEGER NOT NULL DEFAULT 0",
        "error": "TEXT NOT NULL DEFAULT ''",
    },
    "subagent_runs": {
        "repo_id": "TEXT NOT NULL DEFAULT ''",
        "session_id": "TEXT NOT NULL DEFAULT ''",
        "agent_id": "TEXT NOT NULL DEFAULT ''",
        "agent_type": "TEXT NOT NULL DEFAULT ''",
        "started_at": "TEXT NOT NULL DEFAULT ''",
        "stopped_at": "TEXT",
        "transcript_path": "TEXT NOT NULL DEFAULT ''",
        "context_chars": "INTEGER NOT NULL DEFAULT 0",
        "final_message": "TEXT NOT NULL DEFAULT ''",
    },
    "settings": {"key": "TEXT PRIMARY KEY", "value": "TEXT", "updated_at": "TEXT NOT NULL DEFAULT ''"},
}

_OWN_INDEXES = (
    "CREATE UNIQUE INDEX IF NOT EXISTS events_handoff ON events(handoff_id) WHERE handoff_id IS NOT NULL",
    """CREATE UNIQUE INDEX IF NOT EXISTS events_duplicate ON events(session_id, duplicate_key)
    WHERE duplicate_key IS NOT NULL""",
    "CREATE INDEX IF NOT EXISTS events_unflushed ON events(session_id, repo_id) WHERE flush_id IS NULL",
    "CREATE INDEX IF NOT EXISTS events_packet ON events(flush_id) WHERE flush_id IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS events_session ON events(session_id)",
    "CREATE INDEX IF NOT EXISTS events_prompt ON events(session_id) WHERE kind = 'user_prompt'",
    "CREATE INDEX IF NOT EXISTS events_answer ON events(session_id, answer_digest) WHERE answer_digest IS NOT NULL",
    f"CREATE INDEX IF NOT EXISTS flushes_open ON flushes(session_id) WHERE {UNCONFIRMED_SQL}",
)

_SECOND_STEP = (
    "CREATE INDEX IF NOT EXISTS retrievals_session ON retrievals(session_id)",
    f"CREATE INDEX IF NOT EXISTS operations_recall ON operations(session_id) WHERE operation = '{FIRST_PROMPT_SEARCH}'",
    f"CREATE INDEX IF NOT EXISTS flushes_delivered ON flushes(updated_at) WHERE {DELIVERED_SQL}",
)

_NEEDED: Mapping[str, frozenset[str]] = {
    "events": frozenset({"id", "repo_id", "session_id", "kind", "payload_json", "flush_id"}),
    "flushes": frozenset(
        {"packet_id", "repo_id", "session_id", "reason", "event_start", "event_end", "status", "semantic_event_id"}
    ),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The tables and columns a file has. `problem` says what we need and do not find, empty if all is there."""

    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    order: str = "rowid"
    problem: str = ""
    numeric_times: bool = False
    _lists: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict, repr=False, compare=False)

    def has(self, table: str, column: str = "") -> bool:
        """Tell whether the table, or a column of it, is there."""
        return table in self.tables and (not column or column in self.tables[table])

    def select(self, table: str, columns: tuple[str, ...]) -> str:
        """Return a select list of `columns`, with NULL in place of those the file lacks."""
        known = self._lists.get((table, columns))
        if known is None:
            known = ", ".join(column if self.has(table, column) else f"NULL AS {column}" for column in columns)
            self._lists[table, columns] = known
        return known

    def known(self, table: str, values: Mapping[str, object]) -> Mapping[str, object]:
        """Return those of `values` for which the file has a column."""
        return {column: value for column, value in values.items() if self.has(table, column)}


def create(connection: sqlite3.Connection, *, first_event: int) -> None:
    """Bring a file of ours to VERSION, a transaction a step; a plugin's file handed over to us is completed in place.

    The ids of a new file's events begin at `first_event`, which must be above those of any file before it: a packet's
    id follows from its events' ids, and the platform knows the packets of the file that was lost.
    """
    complete = partial(_complete, first_event=first_event)
    schema_steps.forward(connection, (complete, schema_steps.sql(*_SECOND_STEP)), _MARK)


def version(connection: sqlite3.Connection) -> int:
    """Return the version of a file of ours; 0 for one that is not marked as ours, whatever its own number means."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        return 0
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _write_version(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {number:d}")


_MARK = schema_steps.Mark(version, _write_version)


def _complete(connection: sqlite3.Connection, *, first_event: int) -> None:
    for table, columns in _OWN_TABLES.items():
        declared = ", ".join(f"{column} {declaration}" for column, declaration in columns.items())
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}({declared})")
        present = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for column in columns:
            if column not in present:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {columns[column]}")
    for statement in (POSTS_SQL, *_OWN_INDEXES):
        connection.execute(statement)
    if connection.execute("SELECT 1 FROM events LIMIT 1").fetchone() is None:
        connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('events', ?)", (first_event - 1,))


def inspect(connection: sqlite3.Connection) -> Shape:
    """Return the shape of the file behind `connection`."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in names}
    columns = {name: list(connection.execute(f"PRAGMA table_info({quoted[name]})")) for name in names}
    tables = {name: frozenset(row[1] for row in rows) for name, rows in columns.items()}
    problem = _missing(tables) or _unfillable(columns["flushes"]) or _odd_ids(connection)
    if problem:
        return Shape(tables, problem=f"evidence store of an unknown form, served read-only: {problem}")
    return Shape(tables, order=_order(connection), numeric_times=_numeric_times(connection, tables))


def _missing(tables: Mapping[str, frozenset[str]]) -> str:
    for table, needed in _NEEDED.items():
        if table not in tables:
            return f"no table {table}"
        if absent := sorted(needed - tables[table]):
            return f"no column {absent[0]} in {table}"
    return ""


def _unfillable(columns: Sequence[tuple[object, ...]]) -> str:
    for _, name, _, required, default, key in columns:
        if required and default is None and not key and name not in _OWN_TABLES["flushes"]:
            return f"column {name} of flushes needs a value we do not know"
    return ""


def _odd_ids(connection: sqlite3.Connection) -> str:
    odd = connection.execute("SELECT typeof(id) FROM events LIMIT 1").fetchone()
    return "" if odd is None or odd[0] == "integer" else "ids of events are no whole numbers"


def _order(connection: sqlite3.Connection) -> str:
    """Return the column that tells the order of recording: a WITHOUT ROWID table has only its ids."""
    try:
        connection.execute("SELECT rowid FROM events LIMIT 0")
    except sqlite3.OperationalError:
        return "id"
    return "rowid"


def _numeric_times(connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> bool:
    for table in ("flushes", "events"):
        if "created_at" in tables[table]:
            row = connection.execute(f"SELECT typeof(created_at) FROM {table} LIMIT 1").fetchone()  # noqa: S608  (two names from the line above)
            if row is not None:
                return row[0] in ("integer", "real")
    return False
