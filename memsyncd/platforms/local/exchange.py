"""The embedded platform's own memories as rows of JSON: what `export` writes and `import` reads."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from memsyncd.platforms.local import memories, merge, reading, schema
from memsyncd.platforms.local.candidate import PERSONAL
from memsyncd.platforms.local.door import Door
from memsyncd.platforms.local.incoming import Incoming
from memsyncd.platforms.local.memories import Source
from memsyncd.platforms.local.schema import EMBEDDED

ROW_TYPE = "memory"
ROWS_AT_ONCE = 500
"""Read or stored in one transaction: other processes wait for it (never-again 44)."""

CACHE_KILOBYTES = 32 * 1024
"""Of an import's connection: its rows go to places all over the indexes, and a page that left is read again."""

LOG_PAGES = 8_000
"""Of an import's log, of 4 KB each, before they are written into the file: the same ones change again and again."""

_COLUMNS = (
    "id, text, category, lane, user_id, app_id, agent_id, run_id, metadata, score, created_at, last_seen, seen,"
    " superseded_by"
)


class Arrival(Enum):
    """What became of a memory from elsewhere."""

    BROUGHT = "brought"
    UNCHANGED = "unchanged"
    FORGOTTEN = "forgotten"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every memory as a JSON object: those that are found by search, in the order they were made, and then those
    that another overrules, each after the one it names in `superseded_by`. Several short reads: what others write
    meanwhile may be among them or not; nothing is changed or made. Raises PlatformError."""
    after = 0
    while page := _page(path, "number > ? AND superseded_by = ''", [after]):
        after = page[-1][0]
        yield from (_row(columns) for _, *columns in page)
    overruled = list(_overruled(path))
    for start in range(0, len(overruled), ROWS_AT_ONCE):
        numbers = overruled[start : start + ROWS_AT_ONCE]
        marks = ",".join("?" * len(numbers))
        found = {number: columns for number, *columns in _page(path, f"number IN ({marks})", numbers)}
        yield from (_row(found[number]) for number in numbers if number in found)


def _page(path: Path, condition: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    if not path.exists():
        return ()
    with reading.looked_at(path) as connection:
        ours = f"platform = '{EMBEDDED}'" if schema.known_version(connection, path) > 1 else "TRUE"
        return connection.execute(
            f"SELECT number, {_COLUMNS} FROM memories WHERE {condition} AND {ours}"  # noqa: S608  (constants and question marks)
            f" ORDER BY number LIMIT {ROWS_AT_ONCE}",
            values,
        ).fetchall()


def _overruled(path: Path) -> Iterator[int]:
    """Yield the numbers of the memories that another overrules, each after the other."""
    if not path.exists():
        return
    with reading.looked_at(path) as connection:
        hidden = connection.execute(
            "SELECT number, id, superseded_by FROM memories WHERE superseded_by <> ''"
        ).fetchall()
    overruled: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, memory_id, by in hidden:
        overruled[by].append((number, memory_id))
    told = list(overruled.keys() - {memory_id for _, memory_id, _ in hidden})
    while told:
        for number, memory_id in overruled.get(told.pop(), ()):
            yield number
            told.append(memory_id)


class Intake:
    """Takes memories into the file at `path`, which is opened with the first of them and stays open until `close`.

    One that another overrules stays hidden where that one is here, and is found where it is not.

    What was deleted here by its id, or forgotten with its session or project as `is_forgotten` tells, stays away.
    """

    def __init__(self, path: Path, *, is_forgotten: Callable[[Incoming], bool]) -> None:
        self._is_forgotten = is_forgotten
        self._door = Door(path, lambda path: _roomy(schema.open_store(path)), begin="BEGIN IMMEDIATE")

    def take_in(self, given: Sequence[Incoming]) -> Sequence[Arrival]:
        """Store what is new, in one transaction; return what became of each, in order. Raises PlatformError."""
        assert len(given) <= ROWS_AT_ONCE
        counts: Counter[str] = Counter()
        with self._door.transaction() as connection:
            became = [self._take_in(connection, each, counts) for each in given]
            memories.count_terms(connection, counts)
        return became

    def close(self) -> None:
        """Close the file, its log folded in."""
        self._door.close()

    def _take_in(self, connection: sqlite3.Connection, given: Incoming, counts: Counter[str]) -> Arrival:
        memory = given.memory
        if connection.execute("SELECT 1 FROM memories WHERE id = ?", (memory.id,)).fetchone():
            return Arrival.UNCHANGED
        owner = memory.user_id if memory.lane == PERSONAL else memory.agent_id
        fingerprint = merge.fingerprint(memory.text, lane=memory.lane, owner=owner, app_id=memory.app_id)
        if memories.is_buried(connection, fingerprint) or self._is_forgotten(given):
            return Arrival.FORGOTTEN
        known = memories.with_fingerprint(connection, fingerprint)
        if any(not merge.are_contrary(memory.text, text) for _, text, _ in known):
            return Arrival.UNCHANGED
        overruled = connection.execute("SELECT 1 FROM memories WHERE id = ?", (given.superseded_by,)).fetchone()
        number = memories.insert(connection, memory, None if overruled else counts)
        memories.first_source(connection, number, Source(fingerprint, f"import:{memory.id}", 0, memory.created_at))
        if overruled:
            memories.supersede(connection, number, given.superseded_by)
        return Arrival.BROUGHT


def _roomy(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    return connection


def _row(columns: Sequence[Any]) -> dict[str, Any]:
    identity, text, category, lane, user_id, app_id, agent_id, run_id, metadata, score, created, seen_at, seen, by = (
        columns
    )
    row = {
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
    return {**row, "superseded_by": by} if by else row
