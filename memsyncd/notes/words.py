"""The words of a note, and the full-text index of them, kept in step inside the caller's transaction.

One column holds all: the terms of key and value, each term of the key once more with `k:` before it, and the
namespace's mark. So one index without positions answers "in the key", "in this namespace" and "anywhere".
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from memsyncd.notes.limits import MAX_NOTE_TERMS
from memsyncd.platforms.local.terms import MAX_TERMS, terms_of

_Value = TypeVar("_Value")

IN_KEY = "k:"
_MARKS = 500
"""Question marks in one statement; SQLite of any age takes 999."""


def namespace_mark(number: int) -> str:
    """Return the word that says a note is of namespace `number`."""
    return f"n:{number}"


def text_terms(text: str) -> Iterator[str]:
    """Yield the terms of a text of any length, in order and with repeats.

    `terms_of` takes MAX_TERMS at most and gives no more terms than characters, so it is asked piece by piece.
    """
    for piece in _pieces(text):
        terms = terms_of(piece)
        yield from terms.words
        yield from terms.grams
        yield from terms.parts


def words_of(key: str, value: str) -> str:
    """Return what is indexed of a note beside its namespace's mark: at most MAX_NOTE_TERMS terms, the key's first."""
    in_key = list(dict.fromkeys(text_terms(key)))
    plain: dict[str, None] = dict.fromkeys(in_key)
    for term in text_terms(value):
        if len(plain) >= MAX_NOTE_TERMS:
            break
        plain[term] = None
    return " ".join([*(IN_KEY + term for term in in_key), *plain])


def add(connection: sqlite3.Connection, number: int, namespace: int, words: str) -> None:
    """Index note `number`."""
    row = f"{namespace_mark(namespace)} {words}"
    connection.execute("INSERT INTO note_words VALUES(?, ?)", (number, row))
    connection.execute("INSERT INTO note_index(rowid, words) VALUES(?, ?)", (number, row))
    connection.executemany("INSERT OR IGNORE INTO note_vocabulary VALUES(?)", [(term,) for term in _plain(row)])


def replace(connection: sqlite3.Connection, number: int, namespace: int, words: str) -> None:
    """Give note `number` other words. Whether others still say the old ones is looked at later, by `forget_unsaid`: it
    takes longer than all the rest of remembering."""
    (old,) = connection.execute("SELECT words FROM note_words WHERE number = ?", (number,)).fetchone()
    connection.execute("INSERT INTO note_index(note_index, rowid, words) VALUES('delete', ?, ?)", (number, old))
    connection.execute("DELETE FROM note_words WHERE number = ?", (number,))
    add(connection, number, namespace, words)
    gone = set(_plain(old)).difference(words.split())
    connection.executemany("INSERT OR IGNORE INTO note_unsaid VALUES(?)", [(term,) for term in gone])


def remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Take notes out of the index, and out of the vocabulary what only they said."""
    gone: set[str] = set()
    for chunk in _chunks(numbers):
        rows = connection.execute(f"SELECT number, words FROM note_words WHERE number IN ({marks(chunk)})", chunk)  # noqa: S608  (question marks only)
        for number, row in rows.fetchall():
            gone.update(_plain(row))
            connection.execute("INSERT INTO note_index(note_index, rowid, words) VALUES('delete', ?, ?)", (number, row))
        connection.execute(f"DELETE FROM note_words WHERE number IN ({marks(chunk)})", chunk)  # noqa: S608  (question marks only)
    _forget_unsaid(connection, gone)


def forget_unsaid(connection: sqlite3.Connection, limit: int) -> int:
    """Take out of the vocabulary what only values said that were replaced since; look at `limit` words at most, and
    return at how many."""
    waiting = [term for (term,) in connection.execute("SELECT term FROM note_unsaid LIMIT ?", (limit,))]
    _forget_unsaid(connection, waiting)
    connection.executemany("DELETE FROM note_unsaid WHERE term = ?", [(term,) for term in waiting])
    return len(waiting)


def _forget_unsaid(connection: sqlite3.Connection, terms: Iterable[str]) -> None:
    unsaid = [(term,) for term in terms if not count(connection, quoted(term), upto=1)]
    connection.executemany("DELETE FROM note_vocabulary WHERE term = ?", unsaid)


def count(connection: sqlite3.Connection, expression: str, *, upto: int) -> int:
    """Return how many notes match a full-text expression, counted no further than `upto`."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT rowid FROM note_index WHERE note_index MATCH ? LIMIT ?)", (expression, upto)
    )
    return int(found.fetchone()[0])


def quoted(term: str) -> str:
    """Return a term as a full-text expression; it holds no quotation mark, only letters, digits, `_` and `:`."""
    return f'"{term}"'


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ",".join("?" * len(values))


def _plain(row: str) -> Sequence[str]:
    return [word for word in row.split() if ":" not in word]


def _chunks(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    for start in range(0, len(values), _MARKS):
        yield values[start : start + _MARKS]


def _pieces(text: str) -> Iterator[str]:
    """Yield the text in pieces of MAX_TERMS characters or fewer, cut at white space where there is any; a cut inside
    a long run repeats one character, so that no pair of neighbours is lost."""
    start = 0
    while len(text) - start > MAX_TERMS:
        end = start + MAX_TERMS
        cut = next((at for at in range(end, start, -1) if text[at].isspace()), 0)
        yield text[start : cut or end]
        start = cut or end - 1
    yield text[start:]
