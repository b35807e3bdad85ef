"""What an agent is given: numbered lines within a budget."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.platforms.platform import Memory
from memsyncd.recall.context import (
    BARE,
    HEADED,
    HEADING,
    TAG,
    Frame,
    Line,
    branch_label,
    clamped,
    combined,
    context,
    search_text,
    tagged,
    words,
)
from memsyncd.redaction import REPLACEMENT, redact

SECRET = "sk-" + "Zq7" * 6


def memory(text: str, branch: object = None, identity: str = "") -> Memory:
    return Memory(identity or text[:8], text, metadata={} if branch is None else {"branch": branch})


def test_a_memory_cannot_command_the_terminal_it_is_shown_on() -> None:
    """Control characters become spaces, and half a character its replacement."""
    assert context([memory("a\x1b[31mb\x00\x9bc \ud83d\ude00 \ud83d!")]).text == "1. a [31mb c 😀 \ufffd!"


@pytest.mark.parametrize(("configured", "budget"), [(0, 1_000), (999, 1_000), (4_000, 4_000), (10_001, 10_000)])
def test_a_configured_budget_is_clamped(configured: int, budget: int) -> None:
    """Facts 8.1: between 1,000 and 10,000 characters."""
    assert clamped(configured) == budget


def test_lines_are_numbered_and_hold_only_words() -> None:
    """Facts 8.2: white space runs become one space, secrets go, a blank memory takes no number, no id is shown."""
    found = context([memory("Use\n\n  pnpm\there"), memory(" \n "), memory(f"the key is {SECRET}")])
    assert found.text == f"1. Use pnpm here\n2. the key is {REPLACEMENT}"
    assert [each.memory for each in found.included] == ["Use\n\n  pnpm\there", f"the key is {SECRET}"]


@pytest.mark.parametrize(
    ("branch", "label"),
    [
        ("feat/x", " [learnt on branch feat/x]"),
        ("feat\n x", " [learnt on branch feat x]"),
        ("", ""),
        ("main", ""),
        ("Master", ""),
        ("UNKNOWN", ""),
        ("detached", ""),
        (" main ", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_a_branch_is_told_unless_it_is_a_main_one(branch: object, label: str) -> None:
    """Facts 8.3, whatever a platform's metadata holds."""
    assert branch_label(branch) == label
    assert context([memory("a", branch)]).text == f"1. a{label}"


def test_the_first_that_does_not_fit_ends_the_list() -> None:
    """Facts 8.4: later, smaller ones are not tried, and nothing marks the end."""
    found = context([memory("a" * 700), memory("b" * 400), memory("c")], budget=1_000)
    assert found.text == "1. " + "a" * 700
    assert len(found.included) == 1


def test_only_the_very_first_is_cut_before_its_label() -> None:
    """Facts 8.5: it fills the budget, and its branch stays readable."""
    found = context([memory("a" * 2_000, "feat/x")], budget=1_000)
    assert len(found.text) == 1_000
    assert found.text.endswith("aaa… [learnt on branch feat/x]")
    assert len(found.included) == 1


def test_a_blank_memory_ahead_does_not_keep_the_first_from_being_cut() -> None:
    """The first with words is the first."""
    assert context([memory("  "), memory("a" * 99)], budget=20).text == "1. " + "a" * 16 + "…"


def test_the_heading_counts_towards_the_budget() -> None:
    """Frame and lines together stay within it; where not one character fits beside the frame, nothing is said."""
    found = context([memory("a" * 500)], budget=200, frame=HEADED)
    assert len(found.text) == 200
    assert found.text.startswith(f"{HEADING}\n1. aaa")
    assert context([memory("a" * 500)], budget=len(HEADING), frame=HEADED).text == ""
    assert context([memory("a" * 500)], budget=len(HEADING), frame=HEADED).included == ()


@pytest.mark.parametrize("memories", [[], [memory(" ")]])
def test_no_memories_are_no_heading(memories: list[Memory]) -> None:
    """Facts 7.6: an empty text, not an empty heading."""
    assert context(memories, frame=tagged()).text == ""


def test_an_explicit_search_always_says_something() -> None:
    """Facts 8.6: the lines without a heading, and nothing found is told apart from a search that failed."""
    assert search_text([memory("a"), memory("b", "feat/x")]) == "1. a\n2. b [learnt on branch feat/x]"
    assert search_text([]) == search_text([memory(" ")]) == "No matching memories found."
    assert search_text(None) == "Memory search failed."
    assert len(search_text([memory("a" * 5_000)], budget=1_000)) == 1_000


def test_lead_and_label_go_whole_where_there_is_no_room_for_them() -> None:
    """No bracket is left open."""
    line = Line("words of it", label=" [b]", lead="[lead] ")
    texts = [context([memory("x")], budget=budget, line=lambda _: line).text for budget in range(26)]
    assert texts[25] == "1. [lead] words of it [b]"
    assert texts[24] == "1. [lead] words of… [b]"
    assert texts[13] == "1. words… [b]"
    assert {text.count("[") - text.count("]") for text in texts} == {0}


@pytest.mark.parametrize(
    "text",
    [
        f"</{TAG}>",
        f"< / {TAG.upper()} >",
        f"<<{TAG}>",
        "</system-reminder>",
        "<system-reminder>",
        "</task-notification\n>",
    ],
)
def test_a_memory_cannot_end_the_element_it_stands_in(text: str) -> None:
    """Neither ours nor the harness's own, in whatever spelling."""
    found = context([memory(f"a {text} b")], frame=tagged()).text
    assert found.count(f"<{TAG}>") == found.count(f"</{TAG}>") == 1
    assert not re.search(
        r"<\s*/?\s*(memsyncd|system|task)-", found.removeprefix(f"<{TAG}>").removesuffix(f"</{TAG}>"), re.IGNORECASE
    )


PIECES = [
    "a",
    " ",
    "\n",
    "é",
    "e\u0301",
    "😀",
    "👩\u200d🔧",
    "👍🏽",
    "\ud83d",
    "\ude00",
    "[",
    "]",
    REPLACEMENT,
    f"<{TAG}>",
    f"</{TAG}>",
    "<",
]
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
MEMORIES = st.lists(st.builds(memory, TEXTS, st.none() | TEXTS), max_size=6)


@given(memories=MEMORIES, budget=st.integers(-5, 400), frame=st.sampled_from([BARE, HEADED, tagged(), Frame("", "\n")]))
@settings(deadline=None)
def test_a_context_keeps_its_budget_and_its_frame(memories: list[Memory], budget: int, frame: Frame) -> None:
    """Never over, the frame whole and its tags balanced, no half of a mark, and what is included stands in it."""
    found = context(memories, budget=budget, frame=frame)
    assert len(found.text) <= max(budget, 0)
    assert bool(found.text) is bool(found.included)
    if not found.text:
        return
    assert found.text.startswith(frame.before)
    assert found.text.endswith(frame.after)
    assert found.text.encode()
    assert found.text.count(f"<{TAG}>") == found.text.count(f"</{TAG}>") == frame.before.count(f"<{TAG}>")
    lines = found.text.removeprefix(frame.before)[: len(found.text) - len(frame.before) - len(frame.after)].split("\n")
    assert len(lines) == len(found.included)
    for number, (line, each) in enumerate(zip(lines, found.included, strict=True), 1):
        assert line.startswith(f"{number}. ")
        said = words(each.memory) + branch_label(each.metadata.get("branch"))
        assert line == f"{number}. {said}" or (number == 1 and ("…" in line or line == f"1. {words(each.memory)}"))


@given(
    texts=st.lists(
        st.lists(st.sampled_from(["a b", "A  b", "", " ", "c" * 30, "é" * 20, REPLACEMENT]), max_size=6).map("\n".join),
        max_size=3,
    ),
    limit=st.integers(0, 120),
)
@settings(deadline=None)
def test_contexts_put_together_keep_the_limit_and_say_nothing_twice(texts: list[str], limit: int) -> None:
    """Facts 8.7, with the note on what is missing within the limit too."""
    text = combined(texts, limit=limit)
    assert len(text) <= limit
    lines = [" ".join(line.split()).casefold() for line in text.split("\n")] if text else []
    assert len(set(lines)) == len(lines)
    assert "" not in lines


def test_a_line_shared_by_two_contexts_stands_once() -> None:
    """Facts 8.7: the first spelling stays, and the cut says how much is missing."""
    text = combined(["Shared  line\n" + "a" * 917, "shared LINE\n\n" + "b" * 917], limit=1_000)
    assert text.startswith("Shared  line\n")
    assert "LINE" not in text
    assert len(text) <= 1_000
    shown, _, note = text.rpartition("\n")
    assert note == f"...[truncated {len('Shared  line') + 2 * 918 - len(shown)} chars]"


def test_a_secret_in_a_heading_or_branch_is_replaced_too() -> None:
    """Every text of a context passes redaction."""
    found = context([memory("a", f"fix/{SECRET}")], frame=tagged(f"key {SECRET}"))
    assert SECRET not in found.text
    assert redact(found.text) == found.text
