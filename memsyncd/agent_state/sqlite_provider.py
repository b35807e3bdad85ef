"""The memory provider that keeps everything in a SQLite file."""

import os

from memsyncd.agent_state.database import Database, Transaction
from memsyncd.agent_state.provider import KEPT_TOOL_EVENTS, DocumentKind, StateProvider
from memsyncd.agent_state.sources import rank
from memsyncd.clock import Clock

_UPSERT_FACT = """
    INSERT INTO state_facts(user_id, scoped, topic_id, key, value, source, source_rank) VALUES(?,?,?,?,?,?,?)
    ON CONFLICT(user_id, scoped, topic_id, key)
    DO UPDATE SET value = excluded.value, source = excluded.source, source_rank = excluded.source_rank
    WHERE source_rank <= excluded.source_rank
"""
_FACTS_OF_SCOPE = """
    SELECT key, value FROM state_facts WHERE user_id = ? AND scoped = ? AND topic_id = ? ORDER BY number
"""
_MOST_ROWS = 2**63 - 1


class SqliteMemoryProvider(StateProvider):
    """A MemoryProvider whose state outlives the process and is shared by all that open the file.

    `db_path` is opened at the first call, made with mode 0600 where there is none, and may be a file that has other
    tables of this program; its directory must exist. What is saved is on disk when the call returns. Besides NotJson,
    methods raise StoreUnavailable (NewerSchema, StoreClosed), and have then changed nothing.
    """

    def __init__(self, db_path: str | os.PathLike[str], *, clock: Clock | None = None) -> None:
        super().__init__(clock or Clock())
        self._database = Database(db_path)

    def close(self) -> None:
        """Release the file. Not needed before exit: what was saved is saved."""
        self._database.close()

    async def _append_message(self, user_id: str, topic_id: str, body: str) -> None:
        statement = "INSERT INTO state_messages(user_id, topic_id, body) VALUES(?,?,?)"
        await self._database.write(lambda store: store.execute(statement, (user_id, topic_id, body)))

    async def _last_messages(self, user_id: str, topic_id: str, limit: int) -> list[str]:
        query = "SELECT body FROM state_messages WHERE user_id = ? AND topic_id = ? ORDER BY number DESC LIMIT ?"
        values = (user_id, topic_id, min(limit, _MOST_ROWS))
        rows = await self._database.read(lambda store: store.all(query, values))
        return [body for (body,) in reversed(rows)]

    async def _count_messages(self, user_id: str, topic_id: str) -> int:
        query = "SELECT count(*) FROM state_messages WHERE user_id = ? AND topic_id = ?"
        return await self._database.read(lambda store: _number(store, query, (user_id, topic_id)))

    async def _cut_messages(self, user_id: str, topic_id: str, kept: int) -> int:
        statement = """
            DELETE FROM state_messages WHERE number IN (
                SELECT number FROM state_messages WHERE user_id = ? AND topic_id = ?
                ORDER BY number DESC LIMIT -1 OFFSET ?)
        """
        values = (user_id, topic_id, min(kept, _MOST_ROWS))
        return await self._database.write(lambda store: store.execute(statement, values))

    async def _put_fact(self, user_id: str, topic_id: str | None, key: str, value: str, source: str) -> None:
        scope = (topic_id is not None, topic_id or "")
        values = (user_id, *scope, key, value, source, rank(source))
        await self._database.write(lambda store: store.execute(_UPSERT_FACT, values))

    async def _facts(self, user_id: str, topic_id: str | None) -> list[tuple[str, str]]:
        scopes = [(False, "")] if topic_id is None else [(False, ""), (True, topic_id)]
        rows = await self._database.read(
            lambda store: [row for scope in scopes for row in store.all(_FACTS_OF_SCOPE, (user_id, *scope))]
        )
        return [(key, value) for key, value in rows]

    async def _put(self, kind: DocumentKind, user_id: str, topic_id: str, body: str, *, replace: bool = True) -> None:
        act = "REPLACE" if replace else "IGNORE"
        statement = f"INSERT OR {act} INTO state_documents(kind, user_id, topic_id, body) VALUES(?,?,?,?)"
        await self._database.write(lambda store: store.execute(statement, (kind, user_id, topic_id, body)))

    async def _get(self, kind: DocumentKind, user_id: str, topic_id: str) -> str | None:
        query = "SELECT body FROM state_documents WHERE kind = ? AND user_id = ? AND topic_id = ?"
        row = await self._database.read(lambda store: store.one(query, (kind, user_id, topic_id)))
        return None if row is None else row[0]

    async def _append_tool_event(self, user_id: str, topic_id: str, body: str) -> None:
        def append(store: Transaction) -> None:
            number = 1 + _newest_tool_event(store, user_id)
            store.execute("INSERT INTO state_tool_events VALUES(?,?,?,?)", (user_id, number, topic_id, body))
            store.execute(
                "DELETE FROM state_tool_events WHERE user_id = ? AND number <= ?", (user_id, number - KEPT_TOOL_EVENTS)
            )

        await self._database.write(append)

    async def _last_tool_events(self, user_id: str, topic_id: str | None, limit: int) -> list[str]:
        of_topic, values = ("", [user_id]) if topic_id is None else ("AND topic_id = ?", [user_id, topic_id])
        query = f"SELECT body FROM state_tool_events WHERE user_id = ? {of_topic} ORDER BY number DESC LIMIT ?"  # noqa: S608  (constants)
        rows = await self._database.read(lambda store: store.all(query, [*values, min(limit, _MOST_ROWS)]))
        return [body for (body,) in reversed(rows)]

    async def _dropped_tool_events(self, user_id: str) -> int:
        def count(store: Transaction) -> int:
            query = "SELECT count(*) FROM state_tool_events WHERE user_id = ?"
            return _newest_tool_event(store, user_id) - _number(store, query, (user_id,))

        return await self._database.read(count)


def _newest_tool_event(store: Transaction, user_id: str) -> int:
    return _number(store, "SELECT coalesce(max(number), 0) FROM state_tool_events WHERE user_id = ?", (user_id,))


def _number(store: Transaction, query: str, values: tuple[str, ...]) -> int:
    row = store.one(query, values)
    assert row is not None
    return int(row[0])
