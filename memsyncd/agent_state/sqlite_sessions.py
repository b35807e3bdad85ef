"""Session states in a SQLite file."""

import os
from typing import Any

from memsyncd.agent_state.database import Database
from memsyncd.agent_state.encoding import decode, encode

_UPSERT = "INSERT INTO state_sessions(key, state) VALUES(?,?) ON CONFLICT(key) DO UPDATE SET state = excluded.state"


class SqliteSessionBackend:
    """A SessionBackend in the file at `db_path`, which is opened as by SqliteMemoryProvider."""

    def __init__(self, db_path: str | os.PathLike[str] = "memsyncd_sessions.sqlite3") -> None:
        self._database = Database(db_path)

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    async def save(self, key: str, state: dict[str, Any]) -> None:
        """Put a state in place of the last. Raises NotJson, StoreUnavailable."""
        body = encode(state)
        await self._database.write(lambda store: store.execute(_UPSERT, (key, body)))

    async def load(self, key: str) -> dict[str, Any] | None:
        """Return a copy of the state, or None."""
        query = "SELECT state FROM state_sessions WHERE key = ?"
        row = await self._database.read(lambda store: store.one(query, (key,)))
        return None if row is None else decode(row[0])

    async def delete(self, key: str) -> bool:
        """Delete a state; return whether there was one."""
        statement = "DELETE FROM state_sessions WHERE key = ?"
        return bool(await self._database.write(lambda store: store.execute(statement, (key,))))

    async def list_keys(self) -> list[str]:
        """Return the keys in the order they were first saved."""
        rows = await self._database.read(lambda store: store.all("SELECT key FROM state_sessions ORDER BY number"))
        return [key for (key,) in rows]
