"""Episodic memory in this process."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from memsyncd.agent_state.episode import Episode, decode_episode, encode_episode, episode_words, moment
from memsyncd.agent_state.words import words_of


class _Kept(NamedTuple):
    body: str
    moment: int
    tags: frozenset[str]
    words: frozenset[str]


class InMemoryEpisodicMemory:
    """An EpisodicMemory without a file."""

    def __init__(self) -> None:
        self._episodes: dict[str, _Kept] = {}

    async def store(self, episode: Episode) -> None:
        """Keep an episode, in place of the one with its id. Raises NotJson."""
        body = encode_episode(episode)
        self._episodes[episode.id] = _Kept(
            body, moment(episode.timestamp), frozenset(episode.tags), episode_words(episode)
        )

    async def recall(self, query: str, *, top_k: int = 5) -> list[Episode]:
        """Return the episodes that share words with `query`, most shared words first, then newest first."""
        words = words_of(query)
        return self._newest(lambda kept: len(kept.words & words), top_k)

    async def recall_recent(self, n: int = 10) -> list[Episode]:
        """Return the `n` newest, newest first; none where `n` is 0 or below."""
        return self._newest(lambda _: 1, n)

    async def recall_by_tag(self, tag: str) -> list[Episode]:
        """Return all with exactly this tag, newest first."""
        return self._newest(lambda kept: int(tag in kept.tags), len(self._episodes))

    async def count(self) -> int:
        """Return how many are kept."""
        return len(self._episodes)

    def _newest(self, weight: Callable[[_Kept], int], limit: int) -> list[Episode]:
        """Return those of any weight: the heaviest first, then the newest, then the last that came."""
        weighed: Iterable[tuple[int, int, int, str]] = (
            (weight(kept), kept.moment, number, kept.body) for number, kept in enumerate(self._episodes.values())
        )
        ordered = sorted((item for item in weighed if item[0]), reverse=True)
        return [decode_episode(body) for *_, body in ordered[: max(limit, 0)]]
