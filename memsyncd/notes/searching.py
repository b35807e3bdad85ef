"""A search: which words of the index count as those of the query, the notes that have them, and their order."""

# ruff: noqa: E501  (a statement's columns stand together)

import heapq
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memsyncd.notes import ranking, rows, words
from memsyncd.notes.limits import MAX_SEARCH_VALUE_CHARS
from memsyncd.notes.note import Found, Hit
from memsyncd.notes.ranking import Candidate, QueryWord
from memsyncd.notes.scanning import containing
from memsyncd.platforms.local.ranking import rarity

POOL = 120
"""Notes the ranking looks at; the best ten are rarely below the 40th by their rarest words."""

COUNTED = 5_000
"""Matches counted one by one; of more it is only told that there are as many at least."""

PHRASED = 40
"""Notes beyond the limit whose value is read for the query as it is written."""

MAX_DOCUMENTS = 10_000
"""Notes counted with one word, to tell how rare it is: above, all are equally common."""

TOUCHED, TOUCHED_PER_WORD = 1_500, 500
"""Rows of the index read for the words one by one, the rarest word's first, and for one of them, the newest."""

MAX_BEGINNINGS, MAX_INSIDE = 16, 16
MIN_BEGINNING_CHARS, MIN_INSIDE_CHARS = 2, 3
COMMON, RARE = 100, 20
"""A word that stands in fewer notes than these is looked for at the beginning, and inside, of other words too."""

MAX_VOCABULARY = 30_000
"""Distinct words of letters alone among which a part of a word is looked for. Reading them takes some 5 ms."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a search may see: one namespace or all, and what has not expired at `now`."""

    namespace: int | None
    now: int

    def matching(self, expression: str) -> str:
        """Return `expression` restricted to the namespace."""
        if self.namespace is None:
            return expression
        return f"({expression}) AND {words.quoted(words.namespace_mark(self.namespace))}"


def search(connection: sqlite3.Connection, query: str, namespace: str | None, *, limit: int, now: int) -> Found:
    """Return the notes that have any word of the query, those that have the most and rarest of them first.

    Where there is none, those that hold the query as it is written, punctuation and function words included.
    """
    number = None
    if namespace is not None:
        number = rows.namespace_number(connection, namespace)
        if number is None:
            return Found(0, ())
    scope = _Scope(number, now)
    asked = _with_alike(connection, ranking.query_words(query))
    total = _count(connection, scope.matching(_any(asked)), now) if asked else 0
    if total:
        best = _ranked(connection, query, asked, scope, limit=limit)
    else:
        best = containing(connection, query, namespace=number, now=now)
        total = len(best)
    return Found(total, _hits(connection, query, best, limit=limit), at_least=total >= COUNTED)


def _with_alike(connection: sqlite3.Connection, asked: Sequence[QueryWord]) -> Sequence[QueryWord]:
    """Give each word those of the index that begin with it, and where it is rare those that hold it."""
    known = {word.term: words.count(connection, words.quoted(word.term), upto=COMMON) for word in asked}
    inside = _inside(connection, [word.term for word in asked if known[word.term] < RARE])
    found = []
    for word in asked:
        alike = dict.fromkeys(inside.get(word.term, ()), ranking.INSIDE_SHARE)
        if known[word.term] < COMMON:
            alike |= dict.fromkeys(_beginnings(connection, word.term), ranking.BEGINNING_SHARE)
        found.append(replace(word, alike={**alike, **word.alike}))
    return found


def _beginnings(connection: sqlite3.Connection, term: str) -> Sequence[str]:
    """Return words that begin with a stem, also where its last `i` was a `y`: `deployed` and `deployment` differ so."""
    if len(term) < MIN_BEGINNING_CHARS or not term.isalpha():
        return ()
    found: list[str] = []
    for beginning in (term, term[:-1] + "y") if term.endswith("i") else (term,):
        rows_ = connection.execute(
            "SELECT term FROM note_vocabulary WHERE term >= ? AND term < ? LIMIT ?",
            (beginning, beginning + "\U0010ffff", MAX_BEGINNINGS),
        )
        found += [other for (other,) in rows_]
    return found


def _inside(connection: sqlite3.Connection, terms: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return, for each of `terms`, words that hold it. The vocabulary is read once, as one text to look through."""
    wanted = [term for term in terms if len(term) >= MIN_INSIDE_CHARS]
    if not wanted:
        return {}
    (everything,) = connection.execute(
        "SELECT group_concat(term, char(10)) FROM"
        " (SELECT term FROM note_vocabulary WHERE term NOT GLOB '*[0-9_]*' LIMIT ?)",
        (MAX_VOCABULARY,),
    ).fetchone()
    return {term: _lines_with(everything or "", term) for term in wanted}


def _lines_with(text: str, part: str) -> Sequence[str]:
    found: list[str] = []
    at = text.find(part)
    while at >= 0 and len(found) < MAX_INSIDE:
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        found.append(text[start : end if end >= 0 else len(text)])
        at = text.find(part, end) if end >= 0 else -1
    return found


def _any(asked: Iterable[QueryWord]) -> str:
    return " OR ".join(_alternatives(word) for word in asked)


def _alternatives(word: QueryWord, prefix: str = "") -> str:
    return "(" + " OR ".join(words.quoted(prefix + term) for term in word.alike) + ")"


def _count(connection: sqlite3.Connection, expression: str, now: int) -> int:
    """Return how many notes match that have not expired, up to COUNTED."""
    matching = "SELECT rowid FROM note_index WHERE note_index MATCH ?"
    waiting = connection.execute("SELECT 1 FROM notes WHERE expires_at <= ? LIMIT 1", (now,)).fetchone()
    if waiting:
        matching += " AND rowid IN (SELECT number FROM notes WHERE expires_at IS NULL OR expires_at > ?)"
    statement = f"SELECT count(*) FROM ({matching} LIMIT ?)"  # noqa: S608  (constants)
    count: int = connection.execute(statement, (expression, *((now,) if waiting else ()), COUNTED)).fetchone()[0]
    return count


def _ranked(
    connection: sqlite3.Connection, query: str, asked: Sequence[QueryWord], scope: _Scope, *, limit: int
) -> Sequence[tuple[float, int]]:
    """Return (score, number) of the best notes, the best first, more than `limit` of them if there are."""
    everything: int = connection.execute("SELECT notes FROM note_store").fetchone()[0]
    worth = {
        word.term: rarity(words.count(connection, _alternatives(word), upto=MAX_DOCUMENTS), everything)
        for word in asked
    }
    numbers = _pool(connection, query, asked, worth, scope, size=max(POOL, 2 * limit))
    gains = ranking.gains(asked, worth)
    scored = [
        (ranking.score(query, gains, note), note.updated_at, note.number)
        for note in _candidates(connection, numbers, scope.now)
    ]
    return [(score, number) for score, _, number in heapq.nlargest(limit + PHRASED, scored) if score > 0]


def _pool(
    connection: sqlite3.Connection,
    query: str,
    asked: Sequence[QueryWord],
    worth: Mapping[str, float],
    scope: _Scope,
    *,
    size: int,
) -> Sequence[int]:
    """Return the notes worth ranking: the one of that key, those with every word in the key, those with every word,
    then those with the rarest ones."""
    same = connection.execute(
        "SELECT number FROM notes WHERE key = ?1 AND (?2 IS NULL OR namespace = ?2) LIMIT ?3",
        (query.strip(), scope.namespace, size),
    )
    pool = dict.fromkeys(number for (number,) in same)
    in_key = " AND ".join(_alternatives(word, words.IN_KEY) for word in asked)
    pool |= dict.fromkeys(_newest(connection, scope.matching(in_key), size))
    pool |= dict.fromkeys(_newest(connection, scope.matching(" AND ".join(map(_alternatives, asked))), size))
    if len(pool) < size and len(asked) > 1:
        pool |= dict.fromkeys(_with_rarest(connection, asked, worth, scope, size=size))
    return list(pool)[:size]


def _with_rarest(
    connection: sqlite3.Connection,
    asked: Sequence[QueryWord],
    worth: Mapping[str, float],
    scope: _Scope,
    *,
    size: int,
) -> Sequence[int]:
    sums: dict[int, float] = {}
    left = TOUCHED
    for word in sorted(asked, key=lambda word: -worth[word.term]):
        found = _newest(connection, scope.matching(_alternatives(word)), min(left, TOUCHED_PER_WORD))
        for number in found:
            sums[number] = sums.get(number, 0.0) + word.weight * worth[word.term]
        left -= len(found)
        if left <= 0:
            break
    best = heapq.nlargest(size, ((value, number) for number, value in sums.items()))
    return [number for _, number in best]


def _newest(connection: sqlite3.Connection, expression: str, limit: int) -> Sequence[int]:
    found = connection.execute(
        "SELECT rowid FROM note_index WHERE note_index MATCH ? ORDER BY rowid DESC LIMIT ?", (expression, limit)
    )
    return [number for (number,) in found]


def _candidates(connection: sqlite3.Connection, numbers: Sequence[int], now: int) -> Iterable[Candidate]:
    found = connection.execute(
        "SELECT n.number, n.key, w.words, n.updated_at FROM notes n JOIN note_words w ON w.number = n.number"  # noqa: S608  (question marks only)
        f" WHERE n.number IN ({words.marks(numbers)}) AND (n.expires_at IS NULL OR n.expires_at > ?)",
        (*numbers, now),
    )
    return [Candidate(number, key, frozenset(row.split()), updated_at) for number, key, row, updated_at in found]


def _hits(
    connection: sqlite3.Connection, query: str, best: Sequence[tuple[float, int]], *, limit: int
) -> Sequence[Hit]:
    """Return the `limit` best of `best`, once the query as it is written has been looked for in their values."""
    worth = {number: value for value, number in best[: limit + PHRASED]}
    found = connection.execute(
        "SELECT n.number, s.name, n.key, n.value, n.created_at, n.updated_at, n.access_count"  # noqa: S608  (question marks only)
        f" FROM notes n JOIN note_namespaces s ON s.number = n.namespace WHERE n.number IN ({words.marks(list(worth))})",
        list(worth),
    )
    hits = []
    for number, namespace, key, value, created_at, updated_at, access_count in found:
        score = worth[number] * (1 + ranking.phrase_gain(query, value))
        start = value[:MAX_SEARCH_VALUE_CHARS]
        hits.append(Hit(namespace, key, start, len(value), created_at, updated_at, access_count, round(score, 4)))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.updated_at, hit.namespace, hit.key))[:limit]
