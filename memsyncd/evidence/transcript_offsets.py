"""How far each session's transcript was read, written in the commit that holds what was read from it."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from memsyncd.evidence.payloads import clean

MAX_ROWS = 5_000
"""Sessions remembered; those read longest ago go first. What they said is met as a session's in its middle."""

_CREATE = """CREATE TABLE IF NOT EXISTS memsyncd_transcripts(
    session_id TEXT PRIMARY KEY, path TEXT NOT NULL DEFAULT '', device TEXT NOT NULL DEFAULT '',
    inode TEXT NOT NULL DEFAULT '', head_bytes INTEGER NOT NULL DEFAULT 0, head_digest TEXT NOT NULL DEFAULT '',
    offset INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0, taken TEXT NOT NULL DEFAULT '[]',
    updated_at REAL NOT NULL DEFAULT 0) WITHOUT ROWID"""

_EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'memsyncd_transcripts'"

_READ = """SELECT path, device, inode, head_bytes, head_digest, offset, not_before, taken
    FROM memsyncd_transcripts WHERE session_id = ?"""

_WRITE = """INSERT OR REPLACE INTO memsyncd_transcripts(session_id, path, device, inode, head_bytes, head_digest,
    offset, not_before, taken, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""

_PRUNE = """DELETE FROM memsyncd_transcripts WHERE session_id IN (
    SELECT session_id FROM memsyncd_transcripts ORDER BY updated_at DESC LIMIT -1 OFFSET ?)"""

_LAST_PROMPT = (
    "SELECT id, created_at FROM events WHERE session_id = ? AND kind = 'user_prompt' ORDER BY id DESC LIMIT 1"
)

_ANSWERED = "SELECT 1 FROM events WHERE session_id = ? AND answer_digest IS NOT NULL AND id > ? LIMIT 1"


@dataclass(frozen=True, slots=True)
class TranscriptOffset:
    """How far a session's transcript was read. It holds none of its words.

    The file is known by `device` and `inode` and by the digest of its first `head_bytes`; an empty `path` is one that
    was not read yet. `offset` is where an exchange begins. What was said before `not_before`, in Unix seconds, is
    passed over: the session was not ours yet, or capture was paused. `taken` names the exchanges taken last.
    """

    session_id: str
    path: str = ""
    device: int = 0
    inode: int = 0
    head_bytes: int = 0
    head_digest: str = ""
    offset: int = 0
    not_before: float = 0.0
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LastPrompt:
    """A session's last prompt: when it was captured (RFC 3339, empty where there is none), and whether it has its
    answer."""

    at: str = ""
    is_answered: bool = False


def read(connection: sqlite3.Connection, session_id: str) -> TranscriptOffset | None:
    """Return how far a session's transcript was read; None where it was not."""
    if connection.execute(_EXISTS).fetchone() is None:
        return None
    row = connection.execute(_READ, (clean(session_id),)).fetchone()
    if row is None:
        return None
    path, device, inode, head_bytes, head_digest, offset, not_before, taken = row
    file = (path, _number(device), _number(inode), head_bytes, head_digest)
    return TranscriptOffset(session_id, *file, offset, not_before, _names(taken))


def write(connection: sqlite3.Connection, offsets: Iterable[TranscriptOffset], now: float) -> None:
    """Keep how far transcripts were read; of one session the last counts."""
    offsets = tuple(offsets)
    if not offsets:
        return
    connection.execute(_CREATE)
    for each in offsets:
        file = (clean(each.path), str(each.device), str(each.inode), each.head_bytes, each.head_digest)
        row = (clean(each.session_id), *file, each.offset, each.not_before, json.dumps(each.taken), now)
        connection.execute(_WRITE, row)
    connection.execute(_PRUNE, (MAX_ROWS,))


def pass_over(connection: sqlite3.Connection, before: float) -> None:
    """Let nothing be taken that was said `before`, in Unix seconds, in any session's transcript."""
    if connection.execute(_EXISTS).fetchone() is not None:
        connection.execute(
            "UPDATE memsyncd_transcripts SET not_before = ?1 WHERE not_before < ?1",
            (before,),
        )


def last_prompt(connection: sqlite3.Connection, session_id: str) -> LastPrompt:
    """Return a session's last prompt."""
    session_id = clean(session_id)
    row = connection.execute(_LAST_PROMPT, (session_id,)).fetchone()
    number, at = row or (0, "")
    return LastPrompt(at, connection.execute(_ANSWERED, (session_id, number)).fetchone() is not None)


def _names(text: str) -> tuple[str, ...]:
    try:
        names = json.loads(text)
    except ValueError:
        return ()
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
