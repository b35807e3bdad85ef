"""Facts out of episodes, on both backends."""

from pathlib import Path
from typing import Any

from memsyncd.agent_state import (
    ConsolidationPipeline,
    ConsolidationResult,
    Episode,
    EpisodicMemory,
    FactExtractor,
    KeywordFactExtractor,
    MemoryProvider,
    SqliteEpisodicMemory,
    SqliteMemoryProvider,
)

TOOL = "Successful tasks often use 'edit'"
TAG = "Tasks with the tag 'db' succeeded 2 times of 3"


def three(episodes: EpisodicMemory, run: Any) -> None:
    run(episodes.store(Episode("1", "a", tools_used=("edit", "test"), outcome="success", tags=("db",))))
    run(episodes.store(Episode("2", "b", tools_used=("edit",), outcome="success", tags=("db", "ui"))))
    run(episodes.store(Episode("3", "c", tools_used=("test",), outcome="failure", tags=("db",))))


def test_consolidated_facts_reach_the_fact_store(episodes: EpisodicMemory, provider: MemoryProvider, run: Any) -> None:
    """They are kept as concluded ones, and what a person said of the same is not overruled."""
    three(episodes, run)
    result = run(ConsolidationPipeline(episodes, provider).consolidate())
    assert result == ConsolidationResult((TOOL, TAG), 3, 2)
    facts = run(provider.get_facts("system"))
    assert list(facts.values()) == [TOOL, TAG]
    key = next(iter(facts))
    run(provider.upsert_fact("system", key, "a tool server's", source="mcp"))
    assert run(provider.get_facts("system"))[key] == TOOL


def test_no_fact_comes_twice(episodes: EpisodicMemory, run: Any) -> None:
    """Without a fact store the pipeline itself remembers."""
    three(episodes, run)
    pipeline = ConsolidationPipeline(episodes)
    assert run(pipeline.consolidate()).new_facts == (TOOL, TAG)
    assert run(pipeline.consolidate()) == ConsolidationResult((), 3, 2)


def test_no_fact_comes_twice_after_a_restart(path: Path, run: Any) -> None:
    """What is new is told by what is on disk."""
    for expected in ((TOOL, TAG), ()):
        episodes, provider = SqliteEpisodicMemory(path), SqliteMemoryProvider(path)
        three(episodes, run)
        assert run(ConsolidationPipeline(episodes, provider).consolidate()).new_facts == expected
        episodes.close()
        provider.close()


def test_few_episodes_show_nothing(episodes: EpisodicMemory, run: Any) -> None:
    """Below the minimum none is looked at; rare tools and tags make no fact."""
    run(episodes.store(Episode("1", "a", tools_used=("edit",), outcome="success", tags=("db",))))
    pipeline = ConsolidationPipeline(episodes)
    assert run(pipeline.consolidate()) == ConsolidationResult((), 1, 0)
    assert run(pipeline.consolidate(min_episodes=1)) == ConsolidationResult((), 1, 0)


def test_another_extractor_takes_its_place(episodes: EpisodicMemory, run: Any) -> None:
    """Whatever has the method."""

    class Counting:
        async def extract(self, found: list[Episode]) -> list[str]:
            return [str(len(found))]

    three(episodes, run)
    assert isinstance(Counting(), FactExtractor)
    assert isinstance(KeywordFactExtractor(), FactExtractor)
    assert run(
        ConsolidationPipeline(episodes, extractor=Counting()).consolidate(max_episodes=2, min_episodes=2)
    ).new_facts == ("2",)
