"""Rows of memories and their full-text index, kept in step inside the caller's transaction."""

# ruff: noqa: E501  (a statement's columns stand together)

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.platforms.local.schema import EMBEDDED
from memsyncd.platforms.local.scope_filter import memory_tokens
from memsyncd.platforms.local.terms import Terms, terms_of

INDEXED = "words, parts, grams, context, scope"
_HIDDEN_BY = "superseded_by = ? AND superseded_by <> ''"
"""The second half has SQLite look into the index of hidden memories alone."""


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to store. Times are RFC 3339. `lane` names one, or several apart by blanks; `platform` is whose memory it
    is (schema.EMBEDDED: our own)."""

    id: str
    text: str
    category: str
    lane: str
    user_id: str
    app_id: str
    agent_id: str
    run_id: str
    packet_id: str
    batch: int
    metadata: Mapping[str, Any]
    score: float
    context: str
    created_at: str
    platform: str = EMBEDDED


@dataclass(frozen=True, slots=True)
class Source:
    """A batch that says what a memory says, by the content's fingerprint; `at` RFC 3339."""

    fingerprint: str
    packet_id: str
    batch: int
    at: str


def insert(connection: sqlite3.Connection, memory: NewMemory, counts: Counter[str] | None = None) -> int:
    """Store and index a memory; return its number. With `counts` its terms are counted there, for `count_terms` once
    many have come."""
    terms = terms_of(memory.text)
    context = terms_of(memory.context)
    extra = [term for term in dict.fromkeys([*context.words, *context.parts, *context.grams]) if term not in terms.all]
    listed = memory.metadata.get("dirs")
    directories = [value for value in listed if isinstance(value, str)] if isinstance(listed, list | tuple) else []
    scope = memory_tokens(
        *memory.lane.split(),
        user_id=memory.user_id,
        app_id=memory.app_id,
        agent_id=memory.agent_id,
        run_id=memory.run_id,
        category=memory.category,
        directories=directories,
        platform=memory.platform,
    )
    branch = memory.metadata.get("branch")
    indexed = (*_columns(terms), " ".join(extra), " ".join(scope))
    cursor = connection.execute(
        "INSERT INTO memories(id, text, category, lane, user_id, app_id, agent_id, run_id, packet_id, batch, branch, metadata,"
        f" score, created_at, last_seen, platform, {INDEXED}) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            memory.id, memory.text, memory.category, memory.lane, memory.user_id, memory.app_id, memory.agent_id, memory.run_id,
            memory.packet_id, memory.batch, branch if isinstance(branch, str) else "", json.dumps(memory.metadata), memory.score,
            memory.created_at, memory.created_at, memory.platform, *indexed,
        ),
    )  # fmt: skip
    number = cursor.lastrowid
    assert number is not None
    connection.execute(f"INSERT INTO memory_index(rowid, {INDEXED}) VALUES(?,?,?,?,?,?)", (number, *indexed))
    said = dict.fromkeys(" ".join(indexed).split(), 1)
    if counts is None:
        count_terms(connection, said)
    else:
        counts.update(said)
    return number


def count_terms(connection: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    """Note in how many more memories each term stands."""
    connection.executemany(
        "INSERT INTO terms VALUES(?, ?) ON CONFLICT(term) DO UPDATE SET documents = documents + excluded.documents",
        counts.items(),
    )


def replace_text(connection: sqlite3.Connection, number: int, text: str) -> None:
    """Give a memory other words."""
    _unindex(connection, number)
    words, parts, grams = _columns(terms_of(text))
    connection.execute(
        "UPDATE memories SET text = ?, words = ?, parts = ?, grams = ? WHERE number = ?",
        (text, words, parts, grams, number),
    )
    _index(connection, number)


def first_source(connection: sqlite3.Connection, number: int, source: Source) -> None:
    """Note what a memory was made from."""
    connection.execute(
        "INSERT OR IGNORE INTO sources VALUES(?,?,?,?,?)",
        (number, source.fingerprint, source.packet_id, source.batch, source.at),
    )


def add_source(connection: sqlite3.Connection, number: int, source: Source) -> bool:
    """Note that a batch said this again; return whether that was news. A memory keeps every wording it was made
    from, so that deleting it buries them all."""
    known = connection.execute(
        "SELECT 1 FROM sources WHERE memory = ? AND packet_id = ? AND batch = ?",
        (number, source.packet_id, source.batch),
    ).fetchone()
    first_source(connection, number, source)
    if known is None:
        connection.execute("UPDATE memories SET seen = seen + 1, last_seen = ? WHERE number = ?", (source.at, number))
    return known is None


def supersede(connection: sqlite3.Connection, number: int, by: str) -> None:
    """Hide a memory from search because memory `by` overrules it; the row stays, and is found again without `by`."""
    _unindex(connection, number)
    connection.execute("UPDATE memories SET superseded_by = ? WHERE number = ?", (by, number))


def delete(
    connection: sqlite3.Connection, memory_id: str, at: str, *, bury: bool = True, platform: str = EMBEDDED
) -> bool:
    """Delete a memory and, unless it only makes room, bury its contents so that no replay brings it back, with what was
    hidden of the same content; of a mirrored one bury its id, so that no answer of its platform brings it back.

    What it overruled is found again, or stays hidden by what overruled it in turn.
    """
    row = connection.execute(
        "SELECT number, superseded_by FROM memories WHERE id = ? AND platform = ?", (memory_id, platform)
    ).fetchone()
    if row is None:
        return False
    number, superseded_by = row
    if bury:
        _bury(connection, number, at)
        if platform != EMBEDDED:
            connection.execute("INSERT OR IGNORE INTO tombstones VALUES(?, ?)", (grave(platform, memory_id), at))
    if not superseded_by:
        _unindex(connection, number)
    connection.execute("DELETE FROM memories WHERE number = ?", (number,))
    for (older,) in connection.execute(f"SELECT number FROM memories WHERE {_HIDDEN_BY}", (memory_id,)).fetchall():  # noqa: S608  (a constant)
        connection.execute("UPDATE memories SET superseded_by = ? WHERE number = ?", (superseded_by, older))
        if not superseded_by:
            _index(connection, older)
    return True


def _bury(connection: sqlite3.Connection, number: int, at: str) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO tombstones SELECT DISTINCT fingerprint, ? FROM sources WHERE memory = ?", (at, number)
    )
    hidden = connection.execute(
        "SELECT DISTINCT m.id FROM sources s JOIN sources t ON t.fingerprint = s.fingerprint"
        " JOIN memories m ON m.number = t.memory WHERE s.memory = ? AND m.number <> ? AND m.superseded_by <> ''",
        (number, number),
    ).fetchall()
    for (memory_id,) in hidden:
        delete(connection, memory_id, at, bury=False)


def is_buried(connection: sqlite3.Connection, fingerprint: str) -> bool:
    """Whether a memory of this content was deleted."""
    return connection.execute("SELECT 1 FROM tombstones WHERE fingerprint = ?", (fingerprint,)).fetchone() is not None


def grave(platform: str, memory_id: str) -> str:
    """Return what stands for a mirrored memory among the fingerprints of what was deleted."""
    return hashlib.blake2b(f"{platform}\0{memory_id}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def with_fingerprint(connection: sqlite3.Connection, fingerprint: str) -> Sequence[tuple[int, str, str]]:
    """Return number, text and superseding id (or empty) of the memories made from this content, the newest first."""
    return connection.execute(
        "SELECT number, text, superseded_by FROM memories WHERE number IN"
        " (SELECT memory FROM sources WHERE fingerprint = ?) ORDER BY number DESC",
        (fingerprint,),
    ).fetchall()


def weakest_of_run(connection: sqlite3.Connection, app_id: str, run_id: str) -> tuple[int, str, float]:
    """Return how many memories a session has left in search, and the id and score of the weakest."""
    count = connection.execute(
        "SELECT count(*) FROM memories WHERE app_id = ? AND run_id = ? AND superseded_by = '' AND platform = 'local'",
        (app_id, run_id),
    ).fetchone()[0]
    row = connection.execute(
        "SELECT id, score FROM memories WHERE app_id = ? AND run_id = ? AND superseded_by = '' AND platform = 'local' ORDER BY score, number LIMIT 1",
        (app_id, run_id),
    ).fetchone()
    return (count, row[0], row[1]) if row else (0, "", 0.0)


def documents(connection: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return in how many memories each of `terms` stands; those in none are left out."""
    wanted = list(dict.fromkeys(terms))
    found: dict[str, int] = {}
    for start in range(0, len(wanted), 500):
        chunk = wanted[start : start + 500]
        marks = ",".join("?" * len(chunk))
        found.update(connection.execute(f"SELECT term, documents FROM terms WHERE term IN ({marks})", chunk))  # noqa: S608  (question marks only)
    return found


def _columns(terms: Terms) -> Sequence[str]:
    return [" ".join(group) for group in (terms.words, terms.parts, terms.grams)]


def _index(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(
        f"INSERT INTO memory_index(rowid, {INDEXED}) SELECT number, {INDEXED} FROM memories WHERE number = ?",  # noqa: S608  (a constant)
        (number,),
    )
    count_terms(connection, dict.fromkeys((term for (term,) in _counted(connection, number)), 1))


def _unindex(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(
        f"INSERT INTO memory_index(memory_index, rowid, {INDEXED}) SELECT 'delete', number, {INDEXED} FROM memories WHERE number = ?",  # noqa: S608  (a constant)
        (number,),
    )
    counted = _counted(connection, number)
    connection.executemany("UPDATE terms SET documents = documents - 1 WHERE term = ?", counted)
    connection.executemany("DELETE FROM terms WHERE term = ? AND documents <= 0", counted)


def _counted(connection: sqlite3.Connection, number: int) -> Sequence[tuple[str]]:
    row = connection.execute(
        "SELECT words, parts, grams, context, scope FROM memories WHERE number = ?",
        (number,),
    ).fetchone()
    return [(term,) for term in dict.fromkeys(" ".join(row).split())]
