"""A search over the full-text index: which terms to ask for, the asking, and the rows for the ranking."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memsyncd.clock import from_rfc3339
from memsyncd.platforms.local import memories, ranking
from memsyncd.platforms.local.ranking import QueryWord, Row
from memsyncd.platforms.local.scope_filter import lanes_of, match_expression
from memsyncd.platforms.platform import Memory, Query

DOCUMENT_BUDGET = 12_000
"""Matching rows a search may touch, most of the time it takes: bench/local_memory.py shows about 0.4 µs a row."""

POOL = 120
"""Rows fetched for the ranking; the best five of it are rarely below the 40th by bm25 alone."""

MAX_TOP_K = 1_000
MAX_KIN, MAX_KIN_LONGER = 12, 4
"""Words of the index taken as endings of one question word, and how many characters longer they may be."""

_WEIGHTS = "1.0, 0.7, 1.0, 0.25, 0.0"
_SECONDS_PER_DAY = 86_400.0


def search(connection: sqlite3.Connection, query: Query, *, now: float) -> Sequence[Memory]:
    """Return the memories found, best first, at most `top_k`. Raises Rejected as scope_filter.lanes_of."""
    scope = match_expression(query)
    words = [_with_kin(connection, word) for word in ranking.question_words(query.text)]
    every = {word.term for word in words} | {term for word in words for term in word.near | word.kin}
    lanes = lanes_of(query)
    counts = memories.documents(connection, [*every, *lanes])
    visible = sum(counts.pop(lane, 0) for lane in lanes)
    within = {term: min(number, visible) for term, number in counts.items()}
    terms = ranking.chosen_terms(words, within, budget=DOCUMENT_BUDGET)
    if not terms or not visible:
        return []
    rows = _rows(connection, terms, scope, pool=max(POOL, min(query.top_k, MAX_TOP_K)), now=now)
    idf = {term: ranking.rarity(number, visible) for term, number in within.items()}
    absent = ranking.rarity(0, visible)
    idf.update({word.term: absent for word in words if word.term not in idf})
    best = ranking.order(query.text, words, rows, idf)[: max(1, min(query.top_k, MAX_TOP_K))]
    found = _memories(connection, [number for number, _ in best])
    return [_with_score(found[number], score) for number, score in best if number in found]


def alike(
    connection: sqlite3.Connection, terms: Sequence[str], lane: str, *, limit: int
) -> Sequence[tuple[int, str, str, str]]:
    """Return (number, id, text, category) of memories of one lane that share the rarest of `terms`."""
    counts = memories.documents(connection, terms)
    chosen = ranking.chosen_terms(
        [QueryWord(term, 1.0) for term in dict.fromkeys(terms)], counts, budget=DOCUMENT_BUDGET
    )
    if not chosen:
        return []
    return connection.execute(
        "SELECT m.number, m.id, m.text, m.category FROM (SELECT rowid AS number FROM memory_index WHERE memory_index MATCH ?"
        f" ORDER BY bm25(memory_index, {_WEIGHTS}) LIMIT ?) AS f JOIN memories AS m USING (number)",
        (f"scope : {lane} AND {_any_of(chosen, '{words grams}')}", limit),
    ).fetchall()


def _with_kin(connection: sqlite3.Connection, word: QueryWord) -> QueryWord:
    """Add the index's words that begin as this one: `arrondit` finds `arrondis`, `Messwert` finds `Messwerte`."""
    prefix = ranking.kin_prefix(word.term)
    if not prefix:
        return word
    rows = connection.execute(
        "SELECT term FROM terms WHERE term > ? AND term < ? AND length(term) <= ? LIMIT ?",
        (prefix, prefix + "\U0010ffff", len(word.term) + MAX_KIN_LONGER, MAX_KIN),
    )
    parts = memories.documents(connection, ranking.compound_parts(word.term))
    return replace(word, kin=frozenset(term for (term,) in rows) - {word.term} | frozenset(parts))


def _rows(connection: sqlite3.Connection, terms: Sequence[str], scope: str, *, pool: int, now: float) -> Sequence[Row]:
    found = connection.execute(
        "SELECT m.number, m.text, m.words, m.parts, m.grams, m.context, m.category, m.seen, m.last_seen"
        " FROM (SELECT rowid AS number FROM memory_index WHERE memory_index MATCH ?"
        f" ORDER BY bm25(memory_index, {_WEIGHTS}) LIMIT ?) AS f JOIN memories AS m USING (number)",
        (f"{scope} AND {_any_of(terms, '{words parts grams context}')}", pool),
    )
    return [
        Row(
            number=number,
            text=text,
            words=frozenset(own.split()) | frozenset(grams.split()),
            parts=frozenset(parts.split()),
            context=frozenset(context.split()),
            category=category,
            seen=seen,
            age_days=(now - (from_rfc3339(last_seen) or now)) / _SECONDS_PER_DAY,
        )
        for number, text, own, parts, grams, context, category, seen, last_seen in found
    ]


def _any_of(terms: Sequence[str], columns: str) -> str:
    quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    return f"{columns} : ({quoted})"


def _memories(connection: sqlite3.Connection, numbers: Sequence[int]) -> Mapping[int, Memory]:
    marks = ",".join("?" * len(numbers))
    rows = connection.execute(
        "SELECT number, id, text, category, created_at, last_seen, lane, user_id, app_id, agent_id, run_id, seen, metadata"
        f" FROM memories WHERE number IN ({marks})",  # noqa: S608  (question marks only)
        list(numbers),
    )
    return {
        number: Memory(
            id=memory_id,
            memory=text,
            category=category,
            created_at=created_at,
            metadata={
                **json.loads(metadata),
                "lane": lane,
                "user_id": user_id,
                "app_id": app_id,
                "agent_id": agent_id,
                "run_id": run_id,
                "seen": seen,
                "last_seen": last_seen,
            },
        )
        for number, memory_id, text, category, created_at, last_seen, lane, user_id, app_id, agent_id, run_id, seen, metadata in rows
    }


def _with_score(memory: Memory, score: float) -> Memory:
    return Memory(memory.id, memory.memory, memory.category, round(score, 4), memory.created_at, memory.metadata)
