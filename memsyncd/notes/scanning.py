"""Looking for a text as it is written, where no word of it is known: signs, function words, parts of words."""

import sqlite3
from collections.abc import Sequence

SCANNED = 10_000
"""Notes looked through, the newest: some 5 ms."""

MAX_CONTAINING = 200
KEY_SCORE, VALUE_SCORE = 2.0, 1.0


def containing(
    connection: sqlite3.Connection, query: str, *, namespace: int | None, now: int
) -> Sequence[tuple[float, int]]:
    """Return (score, number) of notes whose key or value holds the query, ASCII letters in either case, other letters
    as written or in lower case: those with it in the key first, then the last written; MAX_CONTAINING at most."""
    wanted = query.replace("\0", "").strip()  # at which SQLite's pattern would end
    if not wanted:
        return ()
    where = "" if namespace is None else "WHERE namespace = ?"
    like = [f"%{_escaped(form)}%" for form in dict.fromkeys((wanted, wanted.lower()))]
    in_key = " OR ".join(["key LIKE ? ESCAPE '\\'"] * len(like))
    in_value = " OR ".join(["value LIKE ? ESCAPE '\\'"] * len(like))
    found = connection.execute(
        f"SELECT {in_key}, number FROM (SELECT * FROM notes {where} ORDER BY number DESC LIMIT ?)"  # noqa: S608  (constants and question marks)
        f" WHERE (expires_at IS NULL OR expires_at > ?) AND ({in_key} OR {in_value})"
        " ORDER BY 1 DESC, updated_at DESC, number DESC LIMIT ?",
        (*like, *(() if namespace is None else (namespace,)), SCANNED, now, *like, *like, MAX_CONTAINING),
    )
    return [(KEY_SCORE if hit else VALUE_SCORE, number) for hit, number in found]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
