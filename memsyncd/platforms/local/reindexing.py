"""The memories' third step: the words of texts in other scripts, as they are asked for today.

The first version's words ended at each vowel sign, and points that may be left out were kept; the second took them
over. Of what was said around a memory only its words are kept, so those stay as they are.
"""

import sqlite3
from collections.abc import Sequence

from memsyncd.platforms.local.terms import terms_of

ROWS_AT_ONCE = 500

INDEXED = "words, parts, grams, context, scope"

_OTHER_THAN_ASCII = f"GLOB '*[^{chr(1)}-{chr(127)}]*'"

_Row = tuple[int, str, str, str, str, str, str, str]
"""Number, text, superseding id or empty, and the five columns of the index."""


def index_anew(connection: sqlite3.Connection) -> None:
    """Take the step, in the transaction it finds."""
    after = 0
    while page := _page(connection, after):
        after = page[-1][0]
        for number, text, superseded_by, *old in page:
            terms = terms_of(text)
            said = (" ".join(terms.words), " ".join(terms.parts), " ".join(terms.grams))
            connection.execute("UPDATE memories SET words = ?, parts = ?, grams = ? WHERE number = ?", (*said, number))
            if not superseded_by:
                _say(connection, number, old, [*said, *old[3:]])


def _page(connection: sqlite3.Connection, after: int) -> Sequence[_Row]:
    return connection.execute(
        f"SELECT number, text, superseded_by, {INDEXED} FROM memories"  # noqa: S608  (constants)
        f" WHERE number > ? AND text {_OTHER_THAN_ASCII} ORDER BY number LIMIT ?",
        (after, ROWS_AT_ONCE),
    ).fetchall()


def _say(connection: sqlite3.Connection, number: int, old: Sequence[str], new: Sequence[str]) -> None:
    marks = "?, ?, ?, ?, ?, ?"
    connection.execute(
        f"INSERT INTO memory_index(memory_index, rowid, {INDEXED}) VALUES('delete', {marks})",
        (number, *old),
    )
    connection.execute(f"INSERT INTO memory_index(rowid, {INDEXED}) VALUES({marks})", (number, *new))
    before, since = set(" ".join(old).split()), set(" ".join(new).split())
    connection.executemany(
        "INSERT INTO terms VALUES(?, 1) ON CONFLICT(term) DO UPDATE SET documents = documents + 1",
        [(term,) for term in since - before],
    )
    gone = [(term,) for term in before - since]
    connection.executemany("UPDATE terms SET documents = documents - 1 WHERE term = ?", gone)
    connection.executemany("DELETE FROM terms WHERE term = ? AND documents <= 0", gone)
