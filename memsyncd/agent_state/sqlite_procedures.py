"""Procedural memory in a SQLite file, suggested through a full-text index."""

import json
import os

from memsyncd.agent_state.database import Database, Row, Transaction
from memsyncd.agent_state.procedure import Procedure, decode_procedure, encode_procedure, procedure_words
from memsyncd.agent_state.words import index_term, index_terms, words_of

_UPSERT = """
    INSERT INTO state_procedures(id, success_count, failure_count, body) VALUES(?,?,?,?)
    ON CONFLICT(id) DO UPDATE SET
        success_count = excluded.success_count, failure_count = excluded.failure_count, body = excluded.body
    RETURNING number
"""
_SUGGEST = """
    SELECT body, success_count, failure_count FROM state_procedures JOIN (
        SELECT state_procedure_words.rowid AS found, count(*) AS shared
        FROM json_each(?) AS word CROSS JOIN state_procedure_words
        WHERE state_procedure_words MATCH word.value GROUP BY 1
    ) ON number = found
    ORDER BY shared + coalesce(CAST(success_count AS REAL) / (success_count + failure_count), 0) DESC,
        success_count DESC, number
    LIMIT ?
"""
_MOST_ROWS = 2**63 - 1


class SqliteProceduralMemory:
    """A ProceduralMemory in the file at `db_path`, which is opened as by SqliteMemoryProvider, or in memory."""

    def __init__(self, db_path: str | os.PathLike[str] = ":memory:") -> None:
        self._database = Database(db_path)

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    async def store(self, procedure: Procedure) -> None:
        """Keep a procedure, in place of the one with its id, counts included. Raises NotJson, StoreUnavailable."""
        row = (procedure.id, procedure.success_count, procedure.failure_count, encode_procedure(procedure))
        terms = index_terms(procedure_words(procedure))

        def store(transaction: Transaction) -> None:
            kept = transaction.one(_UPSERT, row)
            assert kept is not None
            transaction.execute("DELETE FROM state_procedure_words WHERE rowid = ?", kept)
            transaction.execute("INSERT INTO state_procedure_words(rowid, words) VALUES(?,?)", (*kept, terms))

        await self._database.write(store)

    async def suggest(self, query: str, *, top_k: int = 3) -> list[Procedure]:
        """Return those that share words with `query`, by the number of shared words plus the success rate.

        Of equals, the one that succeeded more often comes first, then the one stored first.
        """
        terms = json.dumps([index_term(word) for word in words_of(query)])
        values = (terms, min(max(top_k, 0), _MOST_ROWS))
        rows = await self._database.read(lambda store: store.all(_SUGGEST, values))
        return [_procedure(row) for row in rows]

    async def record_outcome(self, proc_id: str, *, success: bool) -> None:
        """Count one use; nothing happens where there is no such procedure."""
        column = "success_count" if success else "failure_count"
        statement = f"UPDATE state_procedures SET {column} = {column} + 1 WHERE id = ?"  # noqa: S608  (two constants)
        await self._database.write(lambda store: store.execute(statement, (proc_id,)))

    async def get(self, proc_id: str) -> Procedure | None:
        """Return one, or None."""
        query = "SELECT body, success_count, failure_count FROM state_procedures WHERE id = ?"
        row = await self._database.read(lambda store: store.one(query, (proc_id,)))
        return None if row is None else _procedure(row)

    async def count(self) -> int:
        """Return how many are kept."""
        row = await self._database.read(lambda store: store.one("SELECT count(*) FROM state_procedures"))
        assert row is not None
        return int(row[0])


def _procedure(row: Row) -> Procedure:
    body, success_count, failure_count = row
    return decode_procedure(body, {"success_count": success_count, "failure_count": failure_count})
