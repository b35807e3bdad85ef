"""Episodic memory, on both backends."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memsyncd.agent_state import Episode, EpisodicMemory, NotJson

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def at(minutes: int, name: str, summary: str = "", **fields: Any) -> Episode:
    return Episode(name, summary, timestamp=NOON + timedelta(minutes=minutes), **fields)


def ids(found: list[Episode]) -> list[str]:
    return [episode.id for episode in found]


def test_an_episode_comes_back_whole(episodes: EpisodicMemory, run: Any) -> None:
    """Every field, the tuples as tuples, the time with its offset."""
    episode = Episode(
        "e", "Fixed it", ("use WAL",), ("edit", "test"), "success", "s1",
        datetime(2026, 3, 1, 9, 30, 1, 123456, tzinfo=timezone(timedelta(hours=5, minutes=45))), ("db", "ä"), {"n": [1, {"x": None}]},
    )  # fmt: skip
    run(episodes.store(episode))
    (found,) = run(episodes.recall_recent())
    assert found == episode
    assert found.timestamp.utcoffset() == timedelta(hours=5, minutes=45)
    assert run(episodes.count()) == 1


@pytest.mark.parametrize(
    "query",
    [
        "oranges New",
        "ORANGES",
        "(oranges)",
        "new-oranges?",
        "apples and oranges",
        "decided",
        "fruit",
        'oranges" OR "x',
        "oranges NOT new",
        "oranges*",
    ],
)
def test_recall_is_by_word_overlap(episodes: EpisodicMemory, run: Any, query: str) -> None:
    """Any order, case and punctuation; words of decisions and tags count; what looks like a query language is words."""
    run(episodes.store(at(0, "hit", "Bought new oranges, today", key_decisions=("we decided so",), tags=("fruit",))))
    run(episodes.store(at(1, "miss", "Sold the car", metadata={"oranges": "new"})))
    assert ids(run(episodes.recall(query))) == ["hit"]


@pytest.mark.parametrize("query", ["", "   ", "orange", "range", "*", '"', "^", "NEAR(", "hit", "-", "() {}"])
def test_recall_of_no_shared_word_is_empty(episodes: EpisodicMemory, run: Any, query: str) -> None:
    """A part of a word is no word; an empty query finds nothing and no sign is an error."""
    run(episodes.store(at(0, "hit", "Bought new oranges")))
    assert run(episodes.recall(query)) == []


@pytest.mark.parametrize(
    "word", ["Äpfel", "яблоко", "りんご", "हिन्दी", "++", "🍊", "naïve", "STRAẞE", "ﬁle", "x\ud83d", "a" * 300]
)
def test_recall_knows_every_script(episodes: EpisodicMemory, run: Any, word: str) -> None:
    """Letters and marks of any script, and signs that stand alone, are words."""
    run(episodes.store(at(0, "hit", f"some {word} here")))
    run(episodes.store(at(1, "miss", "some thing here")))
    assert ids(run(episodes.recall(word.lower() + " zzz"))) == ["hit"]


def test_no_word_is_taken_for_another(episodes: EpisodicMemory, run: Any) -> None:
    """A letter of a word with marks is no word, and no sign is a word that looks like its code."""
    run(episodes.store(at(0, "signs", "++")))
    run(episodes.store(at(0, "hindi", "हिन्दी")))
    run(episodes.store(at(0, "code", "x2b2b w2b2b")))
    assert ids(run(episodes.recall("++"))) == ["signs"]
    assert ids(run(episodes.recall("x2b2b"))) == ["code"]
    assert run(episodes.recall("ह द न 2b2b")) == []


def test_recall_puts_the_most_shared_words_first(episodes: EpisodicMemory, run: Any) -> None:
    """Then the newest; the limit cuts after the ranking, and a word said twice counts once."""
    run(episodes.store(at(9, "one", "alpha alpha alpha")))
    run(episodes.store(at(1, "three", "alpha beta gamma")))
    run(episodes.store(at(2, "two-old", "alpha beta")))
    run(episodes.store(at(8, "two-new", "beta gamma")))
    query = "alpha beta gamma alpha"
    assert ids(run(episodes.recall(query))) == ["three", "two-new", "two-old", "one"]
    assert ids(run(episodes.recall(query, top_k=2))) == ["three", "two-new"]
    assert run(episodes.recall(query, top_k=0)) == run(episodes.recall(query, top_k=-1)) == []
    assert len(run(episodes.recall(query, top_k=2**70))) == 4


def test_recall_gives_five_by_default(episodes: EpisodicMemory, run: Any) -> None:
    """The newest five of equals."""
    for number in range(8):
        run(episodes.store(at(number, str(number), "word")))
    assert ids(run(episodes.recall("word"))) == ["7", "6", "5", "4", "3"]


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the machine's own time that of Tokyo."""
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_recency_is_by_the_moment_not_by_its_text(episodes: EpisodicMemory, run: Any) -> None:
    """Offsets are reckoned with, a time without one is UTC everywhere, the last that came is first among equals."""
    run(
        episodes.store(Episode("tokyo", "", timestamp=datetime(2026, 11, 30, 20, tzinfo=timezone(timedelta(hours=9)))))
    )  # 11:00 UTC
    run(episodes.store(Episode("naive", "", timestamp=datetime(2026, 11, 30, 11, 30))))  # noqa: DTZ001
    run(episodes.store(at(0, "noon", "")))
    run(
        episodes.store(
            Episode("new-york", "", timestamp=datetime(2026, 11, 30, 8, tzinfo=timezone(timedelta(hours=-5))))
        )
    )  # 13:00 UTC
    run(episodes.store(at(0, "noon again", "")))
    run(episodes.store(Episode("later", "", timestamp=NOON + timedelta(microseconds=1))))
    assert ids(run(episodes.recall_recent())) == ["new-york", "later", "noon again", "noon", "naive", "tokyo"]
    assert ids(run(episodes.recall_recent(2))) == ["new-york", "later"]
    assert run(episodes.recall_recent(0)) == run(episodes.recall_recent(-1)) == []


@pytest.mark.parametrize(
    "tag", ["ä", "a_b", "100%", "a\u0308", 'q"uote', "", "A", "a b", "日本", "\ud83d", "\\u00e4", "a\x00b"]
)
def test_a_tag_is_exact(episodes: EpisodicMemory, run: Any, tag: str) -> None:
    """Non-ASCII tags are found, `_` and `%` are themselves, and no part or other case of a tag is the tag."""
    others = ("axb", "1000", "a", "aa", "100", "a  b", "x", "日")
    run(episodes.store(at(0, "old", tags=("first", tag))))
    run(episodes.store(at(1, "miss", tags=tuple(other for other in others if other != tag))))
    run(episodes.store(at(2, "new", tags=(tag, tag))))
    assert ids(run(episodes.recall_by_tag(tag))) == ["new", "old"]


def test_a_duplicate_replaces_the_whole_episode(episodes: EpisodicMemory, run: Any) -> None:
    """No row of the first is left in any index: not its words, not its tags, not its time."""
    run(episodes.store(at(5, "e", "alpha beta", tags=("old", "both"))))
    run(episodes.store(at(3, "other", "beta")))
    run(episodes.store(at(1, "e", "beta gamma", tags=("both", "new"))))
    assert run(episodes.count()) == 2
    assert run(episodes.recall("alpha")) == run(episodes.recall_by_tag("old")) == []
    assert ids(run(episodes.recall("beta"))) == ["other", "e"]
    assert ids(run(episodes.recall("gamma"))) == ids(run(episodes.recall_by_tag("new"))) == ["e"]
    assert ids(run(episodes.recall_by_tag("both"))) == ["e"]
    assert ids(run(episodes.recall_recent())) == ["other", "e"]


def test_an_episode_is_a_copy(episodes: EpisodicMemory, run: Any) -> None:
    """The metadata given and read are not those kept."""
    metadata = {"a": [1]}
    run(episodes.store(at(0, "e", "word", metadata=metadata)))
    metadata["a"].append(2)
    run(episodes.recall("word"))[0].metadata["a"].append(3)
    assert run(episodes.recall("word"))[0].metadata == {"a": [1]}


def test_an_episode_that_is_no_json_is_refused(episodes: EpisodicMemory, run: Any) -> None:
    """And the one it would have replaced stays."""
    run(episodes.store(at(0, "e", "word")))
    with pytest.raises(NotJson):
        run(episodes.store(at(0, "e", "other", metadata={"a": object()})))
    assert ids(run(episodes.recall("word"))) == ["e"]


def test_thirty_at_once_are_all_kept(episodes: EpisodicMemory, run: Any) -> None:
    """Concurrent stores lose nothing, and half of them are the same episode."""

    async def all_at_once() -> None:
        await asyncio.gather(*(episodes.store(at(0, f"e{number % 15}", f"word w{number}")) for number in range(30)))

    run(all_at_once())
    assert run(episodes.count()) == len(run(episodes.recall("word", top_k=99))) == 15
    assert run(episodes.recall("w3")) == []
    assert ids(run(episodes.recall("w18"))) == ["e3"]
