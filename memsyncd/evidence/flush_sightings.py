"""When hooks last asked for a flush: that leaves no event, so it is kept among the settings of a file of ours.

One row for each reason (`session-end`, `pre-compact`), and one for when that began to be watched, without which nobody
could tell a hook that never came from a file that is older than these rows. Times are RFC 3339.
"""

import sqlite3
from collections.abc import Mapping

BEGUN = ""
"""In place of a reason: since when they are watched."""

_KEY = "flush-seen:"

_BEGIN = "INSERT INTO settings(key, value, updated_at) VALUES (?, ?, ?) ON CONFLICT(key) DO NOTHING"
_SEEN = """INSERT INTO settings(key, value, updated_at) VALUES (?, ?, ?)
    ON CONFLICT(key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
    WHERE excluded.value > value"""


def note(connection: sqlite3.Connection, seen: Mapping[str, str], now: str) -> None:
    """Keep when hooks asked for each reason, and, if it is not known yet, that they are watched from `now` on."""
    connection.execute(_BEGIN, (_KEY + BEGUN, now, now))
    connection.executemany(_SEEN, [(_KEY + reason, at, now) for reason, at in seen.items()])


def read(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Return the times by reason, that of BEGUN among them; nothing of a file that was not watched yet."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'settings'").fetchone() is None:
        return {}
    rows = connection.execute("SELECT key, value FROM settings WHERE substr(key, 1, ?) = ?", (len(_KEY), _KEY))
    return {str(key).removeprefix(_KEY): str(value) for key, value in rows.fetchall()}
