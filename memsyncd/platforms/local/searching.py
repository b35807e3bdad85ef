"""A search over the full-text index: which terms to ask for, the asking, and the rows for the ranking."""

# ruff: noqa: E501  (a statement's columns stand together)

import heapq
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memsyncd.clock import from_rfc3339
from memsyncd.platforms.local import memories, ranking
from memsyncd.platforms.local.ranking import QueryWord, Row
from memsyncd.platforms.local.schema import EMBEDDED
from memsyncd.platforms.local.scope_filter import ScopeFilter, filter_of
from memsyncd.platforms.local.terms import is_lone_character
from memsyncd.platforms.platform import Memory, Query

DOCUMENT_BUDGET = 3_000
"""Rows a search may touch in the index, its rarest words' first. One costs about half a microsecond
(bench/local_memory.py)."""

ALIKE_BUDGET = 1_000
"""The same for a near-duplicate, which shares the rarest words too; it is looked for inside the write transaction."""

POOL = 80
"""Rows fetched for the ranking; the best five are rarely below the 40th by rarity alone."""

ROWS_AT_ONCE = 80
MOST_EXAMINED = 2_000
"""Rows fetched at most where the filter is applied to rows."""

FILTERED_BY_INDEX = 10_000
"""Up to so many visible memories the index filters; above, walking their list costs more than looking at rows."""

KIN_UP_TO = 24
"""Words of a question up to which other endings are looked for; a longer prompt says enough as it is."""

MAX_PAIRS = 40
"""Pairs of characters looked for in the place of a single one."""

FEW_TERMS = 8
"""Up to so many terms are filtered by the index even where all that may be seen could be read first."""

COMMON_SHARE = 4
"""A term in so many times more memories than may be seen is looked for among these by the index."""

MAX_TOP_K = 1_000
MAX_KIN, MAX_KIN_LONGER = 12, 4
"""Words of the index taken as endings of one question word, and how many characters longer they may be."""

_SECONDS_PER_DAY = 86_400.0
_MATCHING = "SELECT rowid FROM memory_index WHERE memory_index MATCH ?"


def search(connection: sqlite3.Connection, query: Query, *, now: float, platform: str = EMBEDDED) -> Sequence[Memory]:
    """Return one platform's memories found, best first, at most `top_k`. Raises Rejected as scope_filter.filter_of."""
    scope = filter_of(query, platform)
    asked = ranking.question_terms(query.text)
    words = ranking.question_words(asked, memories.documents(connection, asked))
    if len(words) <= KIN_UP_TO:
        words = [_with_kin(connection, word) for word in words]
    every = {word.term for word in words} | {term for word in words for term in word.near | word.kin}
    counts = memories.documents(connection, [*every, *scope.lanes])
    visible = sum(counts.get(lane, 0) for lane in scope.lanes)
    if not visible:
        return []
    by_index = visible <= FILTERED_BY_INDEX
    within = {term: min(number, visible) if by_index else number for term, number in counts.items()}
    idf = {term: ranking.rarity(number, visible) for term, number in within.items()}
    idf.update({word.term: ranking.rarity(0, visible) for word in words if word.term not in idf})
    gains = ranking.gains(words, idf)
    terms = ranking.chosen_terms(words, within, budget=DOCUMENT_BUDGET)
    worth = {term: max(gains[term].values()) for term in terms}
    touched = _touched_among(connection, worth, counts, scope) if by_index else _touched(connection, worth)
    numbers = _best_first(touched)
    top_k = max(1, min(query.top_k, MAX_TOP_K))
    rows = _rows(connection, numbers, scope, limit=max(POOL, top_k), now=now)
    best = ranking.order(query.text, gains, rows)[:top_k]
    found = _memories(connection, [number for number, _ in best])
    return [replace(found[number], score=round(score, 4)) for number, score in best if number in found]


def alike(
    connection: sqlite3.Connection, terms: Sequence[str], lane: str, *, limit: int
) -> Sequence[tuple[int, str, str, str]]:
    """Return (number, id, text, category) of at most `limit` memories of one lane that share the rarest of `terms`."""
    counts = memories.documents(connection, [*terms, lane])
    visible = counts.pop(lane, 0)
    words = [QueryWord(term, 1.0) for term in dict.fromkeys(terms)]
    chosen = ranking.chosen_terms(words, counts, budget=ALIKE_BUDGET)
    worth = {term: ranking.rarity(counts[term], max(visible, counts[term])) for term in chosen}
    touched = _touched(connection, worth, lane if visible <= FILTERED_BY_INDEX else "")
    numbers = list(itertools.islice(_best_first(touched), ROWS_AT_ONCE))
    marks = ",".join("?" * len(numbers))
    rows = connection.execute(
        f"SELECT number, id, text, category, scope FROM memories WHERE number IN ({marks})",  # noqa: S608  (question marks only)
        numbers,
    )
    near = [row for row in _in_order(rows, numbers) if lane in _tokens(row)][:limit]
    return [(number, memory_id, text, category) for number, memory_id, text, category, _ in near]


def _touched(connection: sqlite3.Connection, worth: Mapping[str, float], scope: str = "") -> Mapping[int, float]:
    """Return the memories in which any term of `worth` stands, and how much of it does; with `scope` the index filters."""
    sums: dict[int, float] = {}
    known = sums.get
    for term, value in worth.items():
        match = f"{_quoted(term)} AND {scope}" if scope else _quoted(term)
        for (number,) in connection.execute(_MATCHING, (match,)):
            sums[number] = known(number, 0.0) + value
    return sums


def _touched_among(
    connection: sqlite3.Connection, worth: Mapping[str, float], counts: Mapping[str, int], scope: ScopeFilter
) -> Mapping[int, float]:
    """Return the same of the few memories that `scope` admits; where all of them go into the ranking, without sums.

    The index walks their list for every question it filters by it. So it is asked once for all terms, and for a single
    one only where the terms are few, or where that stands in far more memories than there are on the list.
    """
    if len(worth) <= FEW_TERMS:
        return _touched(connection, worth, scope.expression)
    any_of_them = f"{scope.expression} AND ({' OR '.join(map(_quoted, worth))})"
    visible = {number for (number,) in connection.execute(_MATCHING, (any_of_them,))}
    if len(visible) <= POOL:
        return dict.fromkeys(visible, 0.0)
    most = COMMON_SHARE * sum(counts.get(lane, 0) for lane in scope.lanes)
    usual = {term: value for term, value in worth.items() if counts.get(term, 0) > most}
    sums = dict(_touched(connection, usual, scope.expression))
    known = sums.get
    for term in worth.keys() - usual.keys():
        value = worth[term]
        for (number,) in connection.execute(_MATCHING, (_quoted(term),)):
            if number in visible:
                sums[number] = known(number, 0.0) + value
    return sums


def _best_first(sums: Mapping[int, float]) -> Iterator[int]:
    """Yield memories, those with the largest sum first, of equals the newest; at most MOST_EXAMINED. Lazily: of
    thousands touched, a hundred are mostly enough."""
    heap = [(-value, -number) for number, value in sums.items()]
    heapq.heapify(heap)
    for _ in range(min(MOST_EXAMINED, len(heap))):
        yield -heapq.heappop(heap)[1]


def _with_kin(connection: sqlite3.Connection, word: QueryWord) -> QueryWord:
    """Add the index's words that begin as this one: `arrondit` finds `arrondis`, `Messwert` finds `Messwerte`."""
    if is_lone_character(word.term):
        pairs = connection.execute(
            "SELECT term FROM terms WHERE length(term) = 2 AND instr(term, ?) LIMIT ?", (word.term, MAX_PAIRS)
        )
        return replace(word, kin=frozenset(term for (term,) in pairs))
    prefix = ranking.kin_prefix(word.term)
    if not prefix:
        return word
    rows = connection.execute(
        "SELECT term FROM terms WHERE term > ? AND term < ? AND length(term) <= ? LIMIT ?",
        (prefix, prefix + "\U0010ffff", len(word.term) + MAX_KIN_LONGER, MAX_KIN),
    )
    parts = memories.documents(connection, ranking.compound_parts(word.term))
    return replace(word, kin=frozenset(term for (term,) in rows) - {word.term} | frozenset(parts))


def _rows(
    connection: sqlite3.Connection, numbers: Iterator[int], scope: ScopeFilter, *, limit: int, now: float
) -> Sequence[Row]:
    """Return the first `limit` of `numbers` that the filter admits."""
    rows: list[Row] = []
    while chunk := list(itertools.islice(numbers, ROWS_AT_ONCE)):
        marks = ",".join("?" * len(chunk))
        found = connection.execute(
            f"SELECT number, text, words, parts, grams, context, category, seen, last_seen, scope FROM memories WHERE number IN ({marks})",  # noqa: S608  (question marks only)
            chunk,
        )
        rows += [_row(columns, now) for columns in _in_order(found, chunk) if scope.admits(_tokens(columns))]
        if len(rows) >= limit:
            break
    return rows[:limit]


def _in_order(rows: Iterable[Sequence[Any]], numbers: Sequence[int]) -> Sequence[Sequence[Any]]:
    """Return rows, whose first column is their number, in the order of `numbers`."""
    place = {number: index for index, number in enumerate(numbers)}
    return sorted(rows, key=lambda row: place[row[0]])


def _tokens(columns: Sequence[Any]) -> frozenset[str]:
    return frozenset(columns[-1].split())


def _row(columns: Sequence[Any], now: float) -> Row:
    number, text, words, parts, grams, context, category, seen, last_seen, _ = columns
    return Row(
        number=number,
        text=text,
        words=frozenset(f"{words} {grams}".split()),
        parts=frozenset(parts.split()),
        context=frozenset(context.split()),
        category=category,
        seen=seen,
        age_days=(now - (from_rfc3339(last_seen) or now)) / _SECONDS_PER_DAY,
    )


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _memories(connection: sqlite3.Connection, numbers: Sequence[int]) -> Mapping[int, Memory]:
    marks = ",".join("?" * len(numbers))
    rows = connection.execute(
        "SELECT number, id, text, category, created_at, last_seen, lane, user_id, app_id, agent_id, run_id, seen, metadata"  # noqa: S608  (question marks only)
        f" FROM memories WHERE number IN ({marks})",
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
