"""Facts that many episodes together show, kept where facts are kept."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from memsyncd.agent_state.episode import Episode, EpisodicMemory
from memsyncd.agent_state.protocols import FactStore

FACTS_OWNER = "system"
"""The user under whom consolidated facts are kept."""

TAGS_LOOKED_AT = 5
"""The commonest tags of which a fact is made."""


@runtime_checkable
class FactExtractor(Protocol):
    """Finds facts in episodes."""

    async def extract(self, episodes: list[Episode]) -> list[str]:
        """Return what the episodes show, a sentence each."""
        ...


class KeywordFactExtractor:
    """A FactExtractor that counts: which tool successful episodes share, and how often those with a tag succeed.

    A fact needs `min_frequency` successful episodes.
    """

    def __init__(self, min_frequency: int = 2) -> None:
        self._min_frequency = min_frequency

    async def extract(self, episodes: list[Episode]) -> list[str]:
        """Return a sentence on the commonest tool of success and one on each common tag."""
        successes = [episode for episode in episodes if episode.outcome == "success"]
        return [*self._tool(successes), *self._tags(episodes, successes)]

    def _tool(self, successes: Sequence[Episode]) -> list[str]:
        tools = Counter(tool for episode in successes for tool in set(episode.tools_used))
        ranked = sorted(tools.items(), key=lambda item: (-item[1], item[0]))
        return [f"Successful tasks often use '{tool}'" for tool, count in ranked[:1] if count >= self._min_frequency]

    def _tags(self, episodes: Sequence[Episode], successes: Sequence[Episode]) -> list[str]:
        tagged = Counter(tag for episode in episodes for tag in set(episode.tags))
        succeeded = Counter(tag for episode in successes for tag in set(episode.tags))
        ranked = sorted(tagged.items(), key=lambda item: (-item[1], item[0]))
        return [
            f"Tasks with the tag '{tag}' succeeded {succeeded[tag]} times of {count}"
            for tag, count in ranked[:TAGS_LOOKED_AT]
            if succeeded[tag] >= self._min_frequency
        ]


@dataclass
class ConsolidationResult:
    """What a run brought."""

    new_facts: tuple[str, ...]
    episodes_processed: int
    clusters_found: int


class ConsolidationPipeline:
    """Looks at the newest episodes and keeps what is new in them as facts, source `ai_inferred`, of user `system`.

    What is new is told by the fact store, so a restart or another process brings no fact twice; without one, by what
    this object has said before.
    """

    def __init__(
        self,
        episodic: EpisodicMemory,
        fact_store: FactStore | None = None,
        extractor: FactExtractor | None = None,
    ) -> None:
        self._episodic = episodic
        self._fact_store = fact_store
        self._extractor = extractor or KeywordFactExtractor()
        self._said: set[str] = set()

    async def consolidate(self, *, min_episodes: int = 3, max_episodes: int = 50) -> ConsolidationResult:
        """Look at up to `max_episodes`; below `min_episodes` there is nothing to conclude from."""
        episodes = await self._episodic.recall_recent(n=max_episodes)
        if len(episodes) < min_episodes:
            return ConsolidationResult((), len(episodes), 0)
        facts = await self._extractor.extract(episodes)
        store = self._fact_store
        known = self._said if store is None else (await store.get_facts(FACTS_OWNER)).keys()
        new = {key: fact for fact in facts if (key := _key(fact)) not in known}
        if store is None:
            self._said |= new.keys()
        else:
            for key, fact in new.items():
                await store.upsert_fact(FACTS_OWNER, key, fact, source="ai_inferred")
        return ConsolidationResult(tuple(new.values()), len(episodes), len(facts))


def _key(fact: str) -> str:
    return "consolidated:" + hashlib.sha256(fact.encode("utf-8", "surrogatepass")).hexdigest()[:16]
