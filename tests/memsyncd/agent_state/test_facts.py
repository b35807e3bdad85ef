"""Facts, on both providers."""

import itertools
from typing import Any

import pytest

from memsyncd.agent_state import MemoryProvider

SOURCES = ["user", "ai_inferred", "mcp", "elsewhere"]
RANK = {"user": 3, "ai_inferred": 2, "mcp": 1, "elsewhere": 0}


@pytest.mark.parametrize(("first", "second"), list(itertools.product(SOURCES, SOURCES)))
@pytest.mark.parametrize("topic", [None, "t"])
def test_a_lower_source_never_overwrites_a_higher(
    provider: MemoryProvider, run: Any, first: str, second: str, topic: str | None
) -> None:
    """What a person said outranks what was inferred, that a tool server's, that any other; the same rank overwrites."""
    run(provider.upsert_fact("u", "k", "first", topic, source=first))
    run(provider.upsert_fact("u", "k", "second", topic, source=second))
    expected = "second" if RANK[second] >= RANK[first] else "first"
    assert run(provider.get_facts("u", topic)) == {"k": expected}


def test_a_refused_overwrite_leaves_the_rank(provider: MemoryProvider, run: Any) -> None:
    """The rank that counts is that of the value kept, not of the last try."""
    run(provider.upsert_fact("u", "k", 1, source="ai_inferred"))
    run(provider.upsert_fact("u", "k", 2, source="mcp"))
    run(provider.upsert_fact("u", "k", 3, source="ai_inferred"))
    run(provider.upsert_fact("u", "k", 4))
    run(provider.upsert_fact("u", "k", 5, source="ai_inferred"))
    assert run(provider.get_facts("u")) == {"k": 4}


def test_the_topic_wins_over_what_holds_everywhere(provider: MemoryProvider, run: Any) -> None:
    """Facts of the topic lie over the global ones, whatever their sources; those of another topic do not show."""
    run(provider.upsert_fact("u", "a", "everywhere"))
    run(provider.upsert_fact("u", "b", "everywhere"))
    run(provider.upsert_fact("u", "b", "here", "t", source="mcp"))
    run(provider.upsert_fact("u", "c", "here", "t"))
    run(provider.upsert_fact("u", "a", "there", "other"))
    assert run(provider.get_facts("u")) == {"a": "everywhere", "b": "everywhere"}
    assert run(provider.get_facts("u", "t")) == {"a": "everywhere", "b": "here", "c": "here"}
    assert run(provider.get_facts("u", "nowhere")) == {"a": "everywhere", "b": "everywhere"}
    assert run(provider.get_facts("somebody")) == {}


def test_facts_keep_the_order_they_were_first_set_in(provider: MemoryProvider, run: Any) -> None:
    """Global ones first; setting one again or overriding it does not move it."""
    for key in ("z", "a", "m"):
        run(provider.upsert_fact("u", key, 1))
    run(provider.upsert_fact("u", "n", 2, "t"))
    run(provider.upsert_fact("u", "a", 2, "t"))
    run(provider.upsert_fact("u", "z", 3))
    run(provider.upsert_fact("u", "b", 1))
    assert list(run(provider.get_facts("u", "t")).items()) == [("z", 3), ("a", 2), ("m", 1), ("b", 1), ("n", 2)]


@pytest.mark.parametrize(
    "value",
    [None, False, 0, 1, 2**80, -1.5, "", "null", "7", "ä\x00'", [], {}, [1, [2, {"a": None}]], {"a": {"b": [1]}}],
)
def test_a_fact_of_any_json_value_comes_back(provider: MemoryProvider, run: Any, value: Any) -> None:
    """None is a value like others; a text that looks like a number stays a text."""
    run(provider.upsert_fact("u", "k", value))
    found = run(provider.get_facts("u"))["k"]
    assert found == value
    assert type(found) is type(value)


def test_a_fact_of_the_topic_named_nothing_is_read_back(provider: MemoryProvider, run: Any) -> None:
    """A topic of "" is a topic: what is written there is found there, and nowhere else."""
    run(provider.upsert_fact("u", "k", "everywhere"))
    run(provider.upsert_fact("u", "k", "here", ""))
    assert run(provider.get_facts("u", "")) == {"k": "here"}
    assert run(provider.get_facts("u")) == {"k": "everywhere"}
    assert run(provider.get_facts("u", "t")) == {"k": "everywhere"}


def test_facts_are_copies(provider: MemoryProvider, run: Any) -> None:
    """Neither the value given nor the one read is the one kept."""
    value = {"list": [1]}
    run(provider.upsert_fact("u", "k", value))
    value["list"].append(2)
    found = run(provider.get_facts("u"))
    found["k"]["list"].append(3)
    found["other"] = 1
    assert run(provider.get_facts("u")) == {"k": {"list": [1]}}


def test_a_tuple_comes_back_as_a_list_from_both(provider: MemoryProvider, run: Any) -> None:
    """JSON has no tuples, in memory as on disk."""
    run(provider.upsert_fact("u", "k", (1, 2)))
    assert run(provider.get_facts("u")) == {"k": [1, 2]}
