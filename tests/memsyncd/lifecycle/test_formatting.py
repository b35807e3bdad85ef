"""Memories in words."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.clock import rfc3339
from memsyncd.lifecycle.formatting import add_result, age, compact, grouped, listed, truncated
from memsyncd.lifecycle.found import memories_of, memory_of
from memsyncd.platforms.platform import Memory
from memsyncd.redaction import REPLACEMENT

NOW = 1_800_000_000.0
SECRET = "sk-" + "Zq7" * 6


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0m ago"),
        (59, "0m ago"),
        (60, "1m ago"),
        (3_599, "59m ago"),
        (3_600, "1h ago"),
        (86_399, "23h ago"),
        (86_400, "1d ago"),
        (863_999, "9d ago"),
    ],
)
def test_an_age_is_floored(seconds: int, said: str) -> None:
    """Facts 18.14: minutes under an hour, hours under a day, then days."""
    assert age(rfc3339(NOW - seconds), NOW) == said


@pytest.mark.parametrize(("created_at", "said"), [(rfc3339(NOW + 150), "0m ago"), ("yesterday", ""), ("", "")])
def test_no_age_is_negative_or_no_number(created_at: str, said: str) -> None:
    """Facts 18.14 (d): clocks differ, and not every platform gives a date."""
    assert age(created_at, NOW) == said
    assert "NaN" not in compact({"id": "1", "memory": "a", "created_at": created_at}, NOW)


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ({"id": "m1", "memory": "Use  pnpm\nhere", "categories": ["tools", "x"], "created_at": rfc3339(NOW - 7_200)}, "[tools] Use pnpm here (2h ago) [mem0:m1]"),
        ({"id": "m1", "text": "a", "createdAt": rfc3339(NOW)}, "[uncategorized] a (0m ago) [mem0:m1]"),
        ({"id": "m1", "categories": []}, "[uncategorized] (empty) [mem0:m1]"),
        ({"memory": "a", "category": "tools"}, "[tools] a"),
        ({"id": 7, "data": {"memory": "a"}, "created_at": datetime.fromtimestamp(NOW, UTC)}, "[uncategorized] a (0m ago) [mem0:7]"),
        ({"id": "m1", "memory": f"key {SECRET}"}, f"[uncategorized] key {REPLACEMENT} [mem0:m1]"),
        (Memory("m1", "a", category="tools"), "[tools] a [mem0:m1]"),
    ],
)  # fmt: skip
def test_the_compact_form(item: Memory | dict[str, Any], line: str) -> None:
    """Facts 18.15: category, text, age and id, each where there is one."""
    assert compact(item, NOW) == line


def test_a_list_is_numbered() -> None:
    """Facts 18.16."""
    assert listed([], NOW) == "No memories found."
    assert listed([Memory("a", "x"), Memory("b", "y")], NOW) == (
        "1. [uncategorized] x [mem0:a]\n2. [uncategorized] y [mem0:b]"
    )


def test_groups_stand_in_the_order_they_come_up() -> None:
    """Facts 18.19: by the first category."""
    items = [
        {"id": "1", "categories": ["b", "a"]},
        {"id": "2"},
        {"id": "3", "categories": ["a"]},
        {"id": "4", "categories": ["b"]},
    ]
    groups = grouped(items)
    assert list(groups) == ["b", "uncategorized", "a"]
    assert [memory.id for memory in groups["b"]] == ["1", "4"]


ONE = {"id": "m1", "memory": "a"}
TWO = {"id": "m2", "memory": "b"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": "PENDING", "eventId": "e1"}, "Memory queued for background extraction (e1)."),
        ({"status": "pending", "event_id": "e1", "results": []}, "Memory queued for background extraction (e1)."),
        ([{"status": "PENDING", "event_id": "e1", "message": "m"}], "Memory queued for background extraction (e1)."),
        ({"results": [{"status": "PENDING", "event_id": "e1"}]}, "Memory queued for background extraction (e1)."),
        ({"status": "PENDING"}, "Memory queued for background extraction."),
        ([], "Memory stored."),
        ({"results": []}, "Memory stored."),
        ({}, "Memory stored."),
        (None, "Memory stored."),
        ([ONE], "Stored 1 memory:\n1. [uncategorized] a [mem0:m1]"),
        (ONE, "Stored 1 memory:\n1. [uncategorized] a [mem0:m1]"),
        ({"results": [ONE, TWO, "x"]}, "Stored 2 memories:\n1. [uncategorized] a [mem0:m1]\n2. [uncategorized] b [mem0:m2]"),
        ({"message": "ok"}, "Memory stored."),
    ],
)  # fmt: skip
def test_what_an_add_did(answer: object, said: str) -> None:
    """Facts 18.17: a list, an object with results, or one item; either spelling of the event's id."""
    assert add_result(answer, NOW) == said


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", ""),
        ("a\n" * 199 + "a", "a\n" * 199 + "a"),
        ("a\n" * 200, "a\n" * 200),
        ("a\n" * 200 + "a", "a\n" * 199 + "a\n\n[showing 200 of 201 lines]"),
        ("a" * 50_000, "a" * 50_000),
        ("a" * 50_001, "a" * 50_000 + "\n\n[cut at 50KB]"),
        (("a" * 300 + "\n") * 201, (("a" * 300 + "\n") * 200)[:50_000] + "\n\n[showing 200 of 201 lines, cut at 50KB]"),
    ],
)
def test_long_answers_are_cut_and_say_so(text: str, cut: str) -> None:
    """Facts 18.18: lines first, then characters, and a note on top."""
    assert truncated(text) == cut


TEXT = st.text(max_size=60) | st.lists(
    st.sampled_from(["a", "\n", "é", "e\u0301", "😀", "👩\u200d🔧", "\ud83d\ude00", "\ud83d", REPLACEMENT]), max_size=40
).map("".join)


@given(
    text=TEXT, max_lines=st.integers(1, 6), max_characters=st.integers(0, 40), max_bytes=st.none() | st.integers(0, 60)
)
@settings(deadline=None)
def test_the_limits_hold_and_no_character_is_halved(
    text: str, max_lines: int, max_characters: int, max_bytes: int | None
) -> None:
    """What stays is a beginning, within every limit; the note is extra, and only there when something is missing."""
    shown = truncated(text, max_lines=max_lines, max_characters=max_characters, max_bytes=max_bytes)
    if shown == text:
        return
    kept, _, note = shown.rpartition("\n\n")
    assert note.startswith("[")
    assert note.endswith("]")
    assert text.startswith(kept)
    assert len(kept.removesuffix("\n").split("\n")) <= max_lines
    assert len(kept) <= max_characters
    assert max_bytes is None or len(kept.encode("utf-8", "surrogatepass")) <= max_bytes
    assert not (kept[-1:] == "\ud83d" and text[len(kept) :][:1] == "\ude00")
    assert kept.count("[") - kept.count("]") == text[: len(kept)].count("[") - text[: len(kept)].count("]")


@given(text=TEXT, max_characters=st.integers(0, 40))
@settings(deadline=None)
def test_a_mark_of_redaction_is_never_halved(text: str, max_characters: int) -> None:
    """Half a mark could be taken for the text."""
    kept = truncated(text, max_characters=max_characters, max_lines=100).rpartition("\n\n")[0]
    assert not any(kept.endswith(REPLACEMENT[:length]) for length in range(2, len(REPLACEMENT))) or kept == ""


def test_a_host_that_counts_bytes_gets_its_limit() -> None:
    """A character of several bytes stays whole, and the note names the limit that cut."""
    assert truncated("é" * 30_000) == "é" * 30_000
    assert truncated("é" * 30_000, max_bytes=50_001) == "é" * 25_000 + "\n\n[cut at 50KB]"


@pytest.mark.parametrize("answer", ["text", 3, {"error": "x"}, {"results": "text"}, object()])
def test_what_is_no_answer_is_told_apart_from_an_empty_one(answer: object) -> None:
    """Facts 7.17: a list, or an object with results; nothing else is taken for "nothing found"."""
    with pytest.raises(ValueError, match="answer"):
        memories_of(answer)


def test_odd_items_are_passed_over() -> None:
    """Facts 7.17, and what fields of another type hold counts as missing."""
    assert memories_of({"results": ["x", None, {"id": "1", "memory": "a", "score": float("nan"), "metadata": 3}]}) == [
        Memory("1", "a")
    ]
    assert memories_of(None) == []
    assert memory_of({"score": True, "id": True}).score is None
    assert memory_of({"score": 0.5}).score == 0.5
