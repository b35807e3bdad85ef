"""The notes' second step: an index that takes terms as they are, and the words of notes as they are asked for today.

The first index took its terms apart once more by SQLite's tables of letters, which know no vowel signs, and words of
some scripts were other ones then. A file of that version may also lack the list of words that replaced values said.
"""

import sqlite3
from collections.abc import Sequence

from memsyncd.notes.words import words_of

ROWS_AT_ONCE = 500

_UNSAID = "CREATE TABLE IF NOT EXISTS note_unsaid(term TEXT PRIMARY KEY) WITHOUT ROWID"

_INDEX = """
    CREATE VIRTUAL TABLE note_index USING fts5(
        words, content='note_words', content_rowid='number', detail=none,
        tokenize="ascii tokenchars '_:'"
    )
    """

_OTHER_THAN_ASCII = f"GLOB '*[^{chr(1)}-{chr(127)}]*'"


def index_anew(connection: sqlite3.Connection) -> None:
    """Take the step, in the transaction it finds."""
    connection.execute("DROP TABLE note_index")
    connection.execute(_UNSAID)
    after = 0
    while page := _page(connection, after):
        after = page[-1][0]
        for number, key, value, old in page:
            _say(connection, number, old, f"{old.split(' ', 1)[0]} {words_of(key, value)}")
    connection.execute(_INDEX)
    connection.execute("INSERT INTO note_index(note_index) VALUES('rebuild')")


def _page(connection: sqlite3.Connection, after: int) -> Sequence[tuple[int, str, str, str]]:
    """Return number, key, value and words of notes after `after`; those in ASCII have their words already."""
    return connection.execute(
        "SELECT n.number, n.key, n.value, w.words FROM notes n JOIN note_words w ON w.number = n.number"  # noqa: S608  (a constant)
        f" WHERE n.number > ? AND (n.key {_OTHER_THAN_ASCII} OR n.value {_OTHER_THAN_ASCII}) ORDER BY n.number LIMIT ?",
        (after, ROWS_AT_ONCE),
    ).fetchall()


def _say(connection: sqlite3.Connection, number: int, old: str, new: str) -> None:
    connection.execute("UPDATE note_words SET words = ? WHERE number = ?", (new, number))
    plain = {word for word in new.split() if ":" not in word}
    gone = {word for word in old.split() if ":" not in word} - plain
    connection.executemany("INSERT OR IGNORE INTO note_vocabulary VALUES(?)", [(term,) for term in plain])
    connection.executemany("INSERT OR IGNORE INTO note_unsaid VALUES(?)", [(term,) for term in gone])
