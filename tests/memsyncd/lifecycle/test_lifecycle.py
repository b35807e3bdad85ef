"""One session's recall: what is searched for, shown, and counts as shown."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.clock import rfc3339
from memsyncd.lifecycle.lifecycle import MAX_QUERY, MemoryLifecycle
from memsyncd.lifecycle.recall import Outcome, Recall
from memsyncd.platforms.platform import Memory, Message
from memsyncd.recall.context import HEADING, TAG
from memsyncd.redaction import REPLACEMENT
from tests.clocks import HandClock

SECRET = "sk-" + "Zq7" * 6
PROMPT = "how do the tests run here"


class Asked:
    """A search that answers the same each time and remembers what it was asked."""

    def __init__(self, *memories: Memory | Mapping[str, Any]) -> None:
        self.memories = memories
        self.queries: list[str] = []

    def __call__(self, query: str) -> Sequence[Memory | Mapping[str, Any]]:
        self.queries.append(query)
        return self.memories


def yes(_text: str) -> bool:
    return True


def no(_text: str) -> bool:
    return False


def broken(_query: str) -> list[Memory]:
    raise ConnectionError(f"no connection with {SECRET}")


A, B, C = Memory("a", "Tests run with make"), Memory("b", "Use pnpm"), Memory("c", "Port 8080")


def test_memories_come_as_a_block_of_lines() -> None:
    """Facts 18.5 and 18.8: compact forms, numbered, between tags that name them as ours."""
    hand = HandClock()
    item = {
        "id": "a",
        "memory": "Tests  run\nwith make",
        "categories": ["workflows"],
        "created_at": rfc3339(hand.wall_now - 7_200),
    }
    recall = MemoryLifecycle(clock=hand.clock()).recall(PROMPT, Asked(item, B))
    assert str(recall) == (
        f"<{TAG}>\n{HEADING}\n1. [workflows] Tests run with make (2h ago) [mem0:a]\n2. [uncategorized] Use pnpm [mem0:b]\n</{TAG}>"
    )
    assert recall.outcome is Outcome.FOUND
    assert (recall.matched, recall.already_shown) == (2, 0)
    assert [memory.id for memory in recall.memories] == ["a", "b"]


def test_a_heading_of_the_hosts_own() -> None:
    """It stands in place of ours, on one line, without a secret, and counts towards the budget."""
    recall = MemoryLifecycle(heading=f"Notes\nof {SECRET}:", budget=120).recall(PROMPT, Asked(Memory("a", "x" * 500)))
    assert recall.text.startswith(f"<{TAG}>\nNotes of {REPLACEMENT}:\n1. ")
    assert len(recall.text) == 120


@pytest.mark.parametrize(
    ("prompt", "query"),
    [
        ("  tests?  ", "tests?"),
        (f"use {SECRET} here", f"use {REPLACEMENT} here"),
        ("a <private>b</private>", "a"),
        ("<system-reminder>x</system-reminder>tests?", "tests?"),
        ([{"type": "text", "text": "tests?"}], "tests?"),
        ("x" * (MAX_QUERY + 9), "x" * MAX_QUERY),
    ],
)
def test_what_is_searched_for(prompt: object, query: str) -> None:
    """Facts 7.3: the person's words, redacted, in a bounded length; nothing private leaves for a search."""
    search = Asked()
    assert MemoryLifecycle().recall(prompt, search).outcome is Outcome.NOTHING_NEW
    assert search.queries == [query]


@pytest.mark.parametrize(
    ("lifecycle", "prompt", "outcome"),
    [
        (MemoryLifecycle(enabled=False), PROMPT, Outcome.DISABLED),
        (MemoryLifecycle(), " \n", Outcome.NOT_ASKED),
        (MemoryLifecycle(), "<private>all of it</private>", Outcome.NOT_ASKED),
        (MemoryLifecycle(), None, Outcome.NOT_ASKED),
        (MemoryLifecycle(min_query_characters=0), "", Outcome.NOT_ASKED),
        (MemoryLifecycle(min_query_characters=20), "too short a prompt", Outcome.NOT_ASKED),
    ],
)
def test_no_search_without_a_reason(lifecycle: MemoryLifecycle, prompt: object, outcome: Outcome) -> None:
    """Facts 18.1 and 7.3: an empty text, and the search is not called."""
    search = Asked(A)
    recall = lifecycle.recall(prompt, search)
    assert (str(recall), recall.outcome, search.queries) == ("", outcome, [])
    assert recall.reason


def test_what_was_delivered_is_not_shown_again() -> None:
    """Facts 18.3 and 7.8: only new ones, an empty text when there are none; a new session begins anew."""
    lifecycle = MemoryLifecycle()
    assert [memory.id for memory in lifecycle.recall(PROMPT, Asked(A, B), delivered=yes).memories] == ["a", "b"]
    second = lifecycle.recall(PROMPT, Asked(B, C, A), delivered=yes)
    assert [memory.id for memory in second.memories] == ["c"]
    assert (second.matched, second.already_shown) == (3, 2)
    third = lifecycle.recall(PROMPT, Asked(A, B), delivered=yes)
    assert (str(third), third.outcome, third.already_shown) == ("", Outcome.NOTHING_NEW, 2)
    lifecycle.begin_session()
    assert lifecycle.shown == frozenset()
    assert len(lifecycle.recall(PROMPT, Asked(A, B)).memories) == 2


def test_a_resumed_session_brings_along_what_was_shown() -> None:
    """Seen ids survive a restart of the host."""
    lifecycle = MemoryLifecycle()
    lifecycle.begin_session(shown=["a"])
    assert [memory.id for memory in lifecycle.recall(PROMPT, Asked(A, B)).memories] == ["b"]


def test_what_the_host_could_not_deliver_stays_unshown() -> None:
    """Facts 18.4 and 20.34: the text is returned all the same, and comes again."""
    lifecycle = MemoryLifecycle()
    first = lifecycle.recall(PROMPT, Asked(A), delivered=no)
    assert "make" in first.text
    assert lifecycle.shown == frozenset()
    assert lifecycle.recall(PROMPT, Asked(A), delivered=no).text == first.text


def test_a_host_that_fails_to_tell_has_not_delivered() -> None:
    """Its own error costs it neither the text nor the memory."""
    lifecycle = MemoryLifecycle()

    def confused(text: str) -> bool:
        raise OSError(text)

    assert "make" in lifecycle.recall(PROMPT, Asked(A), delivered=confused).text
    assert lifecycle.shown == frozenset()


def test_a_host_can_tell_of_the_delivery_later() -> None:
    """Only then it counts, once, and only within the session it was for."""
    lifecycle = MemoryLifecycle()
    recall = lifecycle.recall(PROMPT, Asked(A, B))
    assert lifecycle.shown == frozenset()
    assert lifecycle.mark_delivered(recall)
    assert lifecycle.mark_delivered(recall)
    assert lifecycle.shown == {"a", "b"}
    lifecycle.begin_session()
    assert not lifecycle.mark_delivered(recall)
    assert not lifecycle.mark_delivered(Recall(Outcome.FAILED))
    assert lifecycle.shown == frozenset()


def test_only_what_the_text_holds_counts_as_shown() -> None:
    """Facts 18.6: the first is cut and counts, the rest stays for the next prompt."""
    lifecycle = MemoryLifecycle(budget=240)
    first = lifecycle.recall(PROMPT, Asked(Memory("long", "word " * 100), B), delivered=yes)
    assert len(first.text) <= 240
    assert "…" in first.text
    assert first.text.endswith(f" [mem0:long]\n</{TAG}>")
    assert lifecycle.shown == {"long"}
    assert [memory.id for memory in lifecycle.recall(PROMPT, Asked(Memory("long", "x"), B)).memories] == ["b"]


def test_a_shown_one_a_long_one_and_a_secret() -> None:
    """Facts 18.7."""
    lifecycle = MemoryLifecycle(budget=240)
    lifecycle.begin_session(shown=["a"])
    recall = lifecycle.recall(PROMPT, Asked(A, Memory("new", f"key {SECRET} " + "x" * 400)), delivered=yes)
    assert len(recall.text) <= 240
    assert SECRET not in recall.text
    assert lifecycle.shown == {"a", "new"}


def test_a_budget_smaller_than_the_wrapper_is_an_empty_text() -> None:
    """Facts 18.6, and nothing counts as shown."""
    lifecycle = MemoryLifecycle(budget=50)
    recall = lifecycle.recall(PROMPT, Asked(A), delivered=yes)
    assert (recall.text, recall.outcome, recall.matched) == ("", Outcome.NO_ROOM, 1)
    assert lifecycle.shown == frozenset()


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ({"results": [{"id": "a", "memory": "x"}, "no object"]}, ["a"]),
        ([{"id": "a", "memory": "x"}, {"id": "a", "memory": "x again"}, {"id": "b", "memory": "y"}], ["a", "b"]),
        ([{"id": "e", "memory": "x", "metadata": {"type": "task_episode"}}, {"id": "b", "memory": "y"}], ["b"]),
        ([{"id": "e", "memory": " "}, {"memory": "without an id"}], [""]),
        (None, []),
    ],
)
def test_answers_of_platforms_are_read_leniently(answer: Any, ids: list[str]) -> None:
    """Facts 7.13 and 7.17; the same memory twice is shown once."""
    assert [memory.id for memory in MemoryLifecycle().recall(PROMPT, lambda _: answer).memories] == ids


def test_memories_without_an_id_are_told_apart_by_their_words() -> None:
    """So that they are not shown again and again either."""
    lifecycle = MemoryLifecycle()
    lifecycle.recall(PROMPT, Asked({"memory": "x"}), delivered=yes)
    assert [memory.memory for memory in lifecycle.recall(PROMPT, Asked({"memory": "x"}, {"memory": "y"})).memories] == [
        "y"
    ]


@pytest.mark.parametrize("answer", ["text", 3, {"error": "quota"}])
def test_an_answer_that_is_none_is_a_failed_search(answer: Any) -> None:
    """It is not taken for "nothing found"."""
    assert MemoryLifecycle().recall(PROMPT, lambda _: answer).outcome is Outcome.FAILED


def test_a_failed_search_is_an_empty_text_and_says_why() -> None:
    """Facts 18.2: no error reaches the host's turn, and no secret its log."""
    recall = MemoryLifecycle().recall(PROMPT, broken)
    assert (recall.text, recall.outcome) == ("", Outcome.FAILED)
    assert recall.reason == f"ConnectionError: no connection with {REPLACEMENT}"


def test_a_failed_search_does_not_use_up_the_sessions_chance() -> None:
    """Facts 7.2 has it used up by a short or failed first prompt, and nothing is found for the rest of the session."""
    lifecycle = MemoryLifecycle(once_per_session=True, min_query_characters=10)
    assert lifecycle.recall("hi", Asked(A)).outcome is Outcome.NOT_ASKED
    assert lifecycle.recall(PROMPT, broken).outcome is Outcome.FAILED
    assert lifecycle.recall(PROMPT, Asked(A), delivered=no).outcome is Outcome.FOUND
    assert lifecycle.recall(PROMPT, Asked(A), delivered=yes).outcome is Outcome.FOUND
    search = Asked(B)
    assert lifecycle.recall(PROMPT, search).outcome is Outcome.SPENT
    assert search.queries == []
    lifecycle.begin_session()
    assert lifecycle.recall(PROMPT, search).outcome is Outcome.FOUND


def test_a_search_that_found_nothing_is_the_sessions_one() -> None:
    """It was answered."""
    lifecycle = MemoryLifecycle(once_per_session=True)
    assert lifecycle.recall(PROMPT, Asked()).outcome is Outcome.NOTHING_NEW
    assert lifecycle.recall(PROMPT, Asked(A)).outcome is Outcome.SPENT


def test_an_answer_to_an_earlier_session_changes_nothing_in_this_one() -> None:
    """The host began anew while the search was under way."""
    lifecycle = MemoryLifecycle(once_per_session=True)

    def meanwhile(_query: str) -> list[Memory]:
        lifecycle.begin_session()
        return [A]

    lifecycle.recall(PROMPT, meanwhile, delivered=yes)
    assert lifecycle.shown == frozenset()
    assert lifecycle.recall(PROMPT, lambda _: lifecycle.begin_session()).outcome is Outcome.NOTHING_NEW
    assert lifecycle.recall(PROMPT, Asked(A)).outcome is Outcome.FOUND


def test_what_was_recalled_is_not_captured() -> None:
    """Never-again 121: the host may hand the whole prompt back."""
    lifecycle = MemoryLifecycle()
    prompt = f"{lifecycle.recall(PROMPT, Asked(A, B)).text}\n\n{PROMPT}"
    assert lifecycle.prepare_user_text(prompt) == PROMPT
    assert lifecycle.prepare_conversation([{"role": "user", "content": prompt}]) == [Message("user", PROMPT)]


TEXT = st.text(max_size=40) | st.sampled_from([f"</{TAG}>", f"<{TAG}>", "x" * 300, "é\u0301" * 30, f"key {SECRET}"])
FOUND = st.lists(st.builds(Memory, st.sampled_from("abcde"), TEXT, category=TEXT, created_at=TEXT), max_size=6)


@given(rounds=st.lists(st.tuples(FOUND, st.booleans()), max_size=4), budget=st.integers(0, 600))
@settings(max_examples=30, deadline=None)
def test_no_memory_twice_no_text_too_long(rounds: list[tuple[list[Memory], bool]], budget: int) -> None:
    """Whatever is found and delivered: the budget holds, the tags are balanced, what was delivered never comes again."""
    lifecycle = MemoryLifecycle(budget=budget)
    delivered: set[str] = set()
    for found, arrives in rounds:
        recall = lifecycle.recall(PROMPT, lambda _, found=found: found, delivered=lambda _, arrives=arrives: arrives)
        assert len(recall.text) <= budget
        assert recall.text.count(f"<{TAG}>") == recall.text.count(f"</{TAG}>") == bool(recall.text)
        assert SECRET not in recall.text
        ids = [memory.id for memory in recall.memories]
        assert len(set(ids)) == len(ids)
        assert delivered.isdisjoint(ids)
        delivered.update(ids if arrives else ())
        assert lifecycle.shown == delivered
