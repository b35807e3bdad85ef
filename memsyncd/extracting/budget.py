"""What the model may cost: calls and tokens for a session and for a day, counted in `memory.sqlite3`.

A call is counted before it is made, at its estimate, and corrected by the model's own count afterwards: whatever dies
in between was paid for.
"""

import hashlib
import sqlite3
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memsyncd import sqlite_transaction
from memsyncd.clock import Clock, rfc3339
from memsyncd.platforms.local import schema

KEPT_DAYS = 90
"""How long a session's costs are remembered."""

_DAY_SECONDS = 86_400.0


class OverBudget(Exception):
    """A bound is reached, or what was spent cannot be counted; the words say which."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds; 0 is none. Days are of UTC. Tokens are question and answer together."""

    session_calls: int = 0
    session_tokens: int = 0
    day_calls: int = 0
    day_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used up so far."""

    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reserved:
    """One call that was counted: the day and session it stands under, and its estimated tokens."""

    day: str
    session: str
    tokens: int


def exceeded(limits: Limits, *, session: Spent, day: Spent, tokens: int) -> str:
    """Return which bound one more call of `tokens` would break, for a person; empty for none."""
    bounds = (
        (limits.session_calls, session.calls + 1, "calls for a session (extractor.session_calls)"),
        (limits.session_tokens, session.tokens + tokens, "tokens for a session (extractor.session_tokens)"),
        (limits.day_calls, day.calls + 1, "calls for a day (extractor.day_calls)"),
        (limits.day_tokens, day.tokens + tokens, "tokens for a day (extractor.day_tokens)"),
    )
    return next((f"its {limit:,} {what} are used up" for limit, wanted, what in bounds if limit and wanted > limit), "")


class Budget:
    """Safe from any thread; several processes may count in the same file."""

    def __init__(self, path: Path, clock: Clock, limits: Limits) -> None:
        self._path = path
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def reserve(self, session: str, tokens: int) -> Reserved:
        """Count one call that may cost `tokens`. Raises OverBudget, and then it must not be made."""
        now = self._clock.wall()
        reserved = Reserved(rfc3339(now)[:10], _anonymous(session), tokens)
        with self._lock:
            try:
                connection = self._open()
                with sqlite_transaction.transaction(connection):
                    self._reserve(connection, reserved, now)
            except (sqlite3.Error, OSError, schema.NewerSchema) as error:
                raise OverBudget(f"what it costs cannot be counted ({type(error).__name__})") from error
        return reserved

    def settle(self, reserved: Reserved, tokens: int) -> None:
        """Correct a call's tokens to what it cost; where that cannot be written, its estimate stands."""
        with self._lock, suppress(sqlite3.Error, OSError, schema.NewerSchema):
            self._open().execute(
                "UPDATE extractor_spending SET tokens = max(0, tokens + ?) WHERE day = ? AND session = ?",
                (tokens - reserved.tokens, reserved.day, reserved.session),
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _reserve(self, connection: sqlite3.Connection, wanted: Reserved, now: float) -> None:
        session = _sum(connection, "session = ?", wanted.session)
        day = _sum(connection, "day = ?", wanted.day)
        why = exceeded(self._limits, session=session, day=day, tokens=wanted.tokens)
        if why:
            raise OverBudget(why)
        if not day.calls:
            oldest = rfc3339(max(0.0, now - KEPT_DAYS * _DAY_SECONDS))[:10]
            connection.execute("DELETE FROM extractor_spending WHERE day < ?", (oldest,))
        connection.execute(
            "INSERT INTO extractor_spending VALUES(?, ?, 1, ?) ON CONFLICT(day, session)"
            " DO UPDATE SET calls = calls + 1, tokens = tokens + excluded.tokens",
            (wanted.day, wanted.session, wanted.tokens),
        )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = schema.open_store(self._path)
            try:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS extractor_spending(day TEXT NOT NULL, session TEXT NOT NULL,"
                    " calls INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY(day, session)) WITHOUT ROWID"
                )
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def _sum(connection: sqlite3.Connection, where: str, value: str) -> Spent:
    statement = f"SELECT coalesce(sum(calls), 0), coalesce(sum(tokens), 0) FROM extractor_spending WHERE {where}"  # noqa: S608  (one of two constants)
    calls, tokens = connection.execute(statement, (value,)).fetchone()
    return Spent(calls, tokens)


def _anonymous(session: str) -> str:
    """Return a name for a session that tells nothing of it: costs outlive what is forgotten."""
    return hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
