"""The embedded platform's own memories as rows of JSON: what `export` writes and `import` reads."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from memsyncd.clock import from_rfc3339, rfc3339
from memsyncd.platforms.local import memories, merge, schema
from memsyncd.platforms.local.candidate import PERSONAL, PROJECT
from memsyncd.platforms.local.faults import platform_error
from memsyncd.platforms.local.memories import NewMemory, Source
from memsyncd.platforms.local.schema import EMBEDDED
from memsyncd.platforms.local.scope_filter import CATEGORIES, require_identity
from memsyncd.platforms.platform import PlatformError, Rejected

ROW_TYPE = "memory"
ROWS_AT_ONCE = 200
"""Read or stored in one transaction: other processes wait for it (never-again 44)."""

MAX_TEXT_CHARS = 10_000
"""Of a memory: some ten times the longest that is made here."""

_COLUMNS = "id, text, category, lane, user_id, app_id, agent_id, run_id, metadata, score, created_at, last_seen, seen"


class RefusedMemory(Exception):
    """A row that is no memory; the message says why and holds none of its words."""


class Arrival(Enum):
    """What became of a memory from elsewhere."""

    BROUGHT = "brought"
    UNCHANGED = "unchanged"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A memory from elsewhere, checked and cleaned. Times are RFC 3339."""

    memory: NewMemory
    made_at: float


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every memory that is found by search as a JSON object, in the order they were made. Several short reads:
    what others write meanwhile may be among them or not. Raises PlatformError."""
    if not path.exists():
        return
    with _opened(path) as connection:
        after = 0
        while page := connection.execute(
            f"SELECT number, {_COLUMNS} FROM memories WHERE number > ? AND superseded_by = '' AND platform = ?"  # noqa: S608  (constants)
            " ORDER BY number LIMIT ?",
            (after, EMBEDDED, ROWS_AT_ONCE),
        ).fetchall():
            after = page[-1][0]
            yield from (_row(columns) for _, *columns in page)


def incoming(row: Mapping[str, Any], *, clean: Callable[[str], str], now: float) -> Incoming:
    """Return the memory in a row, whose words go through `clean`. Raises RefusedMemory with the reason.

    A row of a platform elsewhere tells no lane: what only a project owns is the project's.
    """
    text = clean(_text(row, "memory")).strip()
    if not text or len(text) > MAX_TEXT_CHARS:
        raise RefusedMemory("memory is empty" if not text else f"memory is longer than {MAX_TEXT_CHARS:,} characters")
    made = from_rfc3339(_text(row, "created_at", "") or rfc3339(now))
    if made is None:
        raise RefusedMemory("created_at is not a time")
    ids = {name: _text(row, name, "") for name in ("user_id", "app_id", "agent_id", "run_id")}
    lane = row.get("lane") or (PROJECT if ids["agent_id"] and not ids["user_id"] else PERSONAL)
    if lane not in (PERSONAL, PROJECT):
        raise RefusedMemory("lane is none")
    try:
        owner = {"user_id": ids["user_id"]} if lane == PERSONAL else {"agent_id": ids["agent_id"]}
        require_identity(**owner, app_id=ids["app_id"])
    except Rejected as error:
        raise RefusedMemory(error.message) from error
    category = _text(row, "category", "")
    metadata = row.get("metadata", {})
    score = row.get("score", 1.0)
    if not isinstance(metadata, dict) or isinstance(score, bool) or not isinstance(score, int | float):
        raise RefusedMemory("metadata or score is of another type")
    return Incoming(
        NewMemory(
            id=_text(row, "id"),
            text=text,
            category=category if category in CATEGORIES else "project_knowledge",
            lane=str(lane),
            packet_id="",
            batch=0,
            metadata={key: clean(value) if isinstance(value, str) else value for key, value in metadata.items()},
            score=float(score),
            context="",
            created_at=rfc3339(min(made, now)),
            **ids,
        ),
        made,
    )


def take_in(
    path: Path, given: Sequence[Incoming], *, is_forgotten: Callable[[NewMemory, float], bool]
) -> Sequence[Arrival]:
    """Store what is new, in one transaction; return what became of each, in order. Raises PlatformError.

    What was deleted here by its id, or forgotten with its session or project as `is_forgotten` tells, stays away.
    """
    assert len(given) <= ROWS_AT_ONCE
    with _opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        became = [_take_in(connection, each, is_forgotten) for each in given]
        connection.execute("COMMIT")  # closing a connection rolls back what was not committed
    return became


def _take_in(
    connection: sqlite3.Connection, given: Incoming, is_forgotten: Callable[[NewMemory, float], bool]
) -> Arrival:
    memory = given.memory
    owner = memory.user_id if memory.lane == PERSONAL else memory.agent_id
    fingerprint = merge.fingerprint(memory.text, lane=memory.lane, owner=owner, app_id=memory.app_id)
    if memories.is_buried(connection, fingerprint) or is_forgotten(memory, given.made_at):
        return Arrival.FORGOTTEN
    known = connection.execute("SELECT 1 FROM memories WHERE id = ?", (memory.id,)).fetchone()
    if known or memories.with_fingerprint(connection, fingerprint):
        return Arrival.UNCHANGED
    number = memories.insert(connection, memory)
    memories.first_source(connection, number, Source(fingerprint, f"import:{memory.id}", 0, memory.created_at))
    return Arrival.BROUGHT


def _row(columns: Sequence[Any]) -> dict[str, Any]:
    identity, text, category, lane, user_id, app_id, agent_id, run_id, metadata, score, created, seen_at, seen = columns
    return {
        "type": ROW_TYPE,
        "id": identity,
        "memory": text,
        "category": category,
        "lane": lane,
        "user_id": user_id,
        "app_id": app_id,
        "agent_id": agent_id,
        "run_id": run_id,
        "metadata": json.loads(metadata),
        "score": score,
        "created_at": created,
        "last_seen": seen_at,
        "seen": seen,
    }


def _text(row: Mapping[str, Any], name: str, otherwise: str | None = None) -> str:
    found = row.get(name, otherwise)
    if not isinstance(found, str) or (otherwise is None and not found):
        raise RefusedMemory(f"{name} is not text")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise RefusedMemory(f"{name} holds half a character") from None
    return found


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(schema.open_store(path)) as connection:
            yield connection
    except PlatformError:
        raise
    except (sqlite3.Error, OSError, UnicodeError, schema.NewerSchema) as error:
        raise platform_error(error) from error
