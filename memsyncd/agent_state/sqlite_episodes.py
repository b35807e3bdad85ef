"""Episodic memory in a SQLite file, recalled through a full-text index."""

import json
import os
from collections.abc import Sequence
from typing import Any

from memsyncd.agent_state.database import Database, Transaction
from memsyncd.agent_state.episode import Episode, decode_episode, encode_episode, episode_words, moment
from memsyncd.agent_state.words import index_term, index_terms, words_of

_UPSERT = """
    INSERT INTO state_episodes(id, moment, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET moment = excluded.moment, body = excluded.body
    RETURNING number
"""
_RECALL = """
    SELECT body FROM state_episodes JOIN (
        SELECT state_episode_words.rowid AS found, count(*) AS shared
        FROM json_each(?) AS word CROSS JOIN state_episode_words
        WHERE state_episode_words MATCH word.value GROUP BY 1
    ) ON number = found
    ORDER BY shared DESC, moment DESC, number DESC LIMIT ?
"""
_RECENT = "SELECT body FROM state_episodes ORDER BY moment DESC, number DESC LIMIT ?"
_TAGGED = """
    SELECT body FROM state_episode_tags JOIN state_episodes ON number = episode
    WHERE tag = ? ORDER BY moment DESC, number DESC
"""
_MOST_ROWS = 2**63 - 1


class SqliteEpisodicMemory:
    """An EpisodicMemory in the file at `db_path`, which is opened as by SqliteMemoryProvider, or in memory."""

    def __init__(self, db_path: str | os.PathLike[str] = ":memory:") -> None:
        self._database = Database(db_path)

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    async def store(self, episode: Episode) -> None:
        """Keep an episode, in place of the one with its id. Raises NotJson, StoreUnavailable."""
        row = (episode.id, moment(episode.timestamp), encode_episode(episode))
        terms = index_terms(episode_words(episode))
        tags = frozenset(episode.tags)

        def store(transaction: Transaction) -> None:
            kept = transaction.one(_UPSERT, row)
            assert kept is not None
            transaction.execute("DELETE FROM state_episode_words WHERE rowid = ?", kept)
            transaction.execute("INSERT INTO state_episode_words(rowid, words) VALUES(?,?)", (*kept, terms))
            transaction.execute("DELETE FROM state_episode_tags WHERE episode = ?", kept)
            for tag in tags:
                transaction.execute("INSERT INTO state_episode_tags(tag, episode) VALUES(?,?)", (tag, *kept))

        await self._database.write(store)

    async def recall(self, query: str, *, top_k: int = 5) -> list[Episode]:
        """Return the episodes that share words with `query`, most shared words first, then newest first."""
        terms = json.dumps([index_term(word) for word in words_of(query)])
        return await self._select(_RECALL, (terms, _limit(top_k)))

    async def recall_recent(self, n: int = 10) -> list[Episode]:
        """Return the `n` newest, newest first; none where `n` is 0 or below."""
        return await self._select(_RECENT, (_limit(n),))

    async def recall_by_tag(self, tag: str) -> list[Episode]:
        """Return all with exactly this tag, newest first."""
        return await self._select(_TAGGED, (tag,))

    async def count(self) -> int:
        """Return how many are kept."""
        row = await self._database.read(lambda store: store.one("SELECT count(*) FROM state_episodes"))
        assert row is not None
        return int(row[0])

    async def _select(self, query: str, values: Sequence[Any]) -> list[Episode]:
        rows = await self._database.read(lambda store: store.all(query, values))
        return [decode_episode(body) for (body,) in rows]


def _limit(count: int) -> int:
    """SQLite takes a negative limit for none at all."""
    return min(max(count, 0), _MOST_ROWS)
