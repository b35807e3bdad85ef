"""Summaries without a model."""

import pytest

from memsyncd.agent_state import MemoryMessage, SummaryGenerator, TemplateSummaryGenerator

THREE = [MemoryMessage("user", "one"), MemoryMessage("assistant", "two"), MemoryMessage("system", "three")]


@pytest.mark.parametrize(
    ("messages", "characters", "expected"),
    [
        (20, 200, "- [user]: one\n- [assistant]: two\n- [assistant]: three"),
        (2, 200, "- [assistant]: two\n- [assistant]: three"),
        (1, 3, "- [assistant]: thr..."),
        (1, 5, "- [assistant]: three"),
        (1, 0, "- [assistant]: ..."),
        (1, -2, "- [assistant]: ..."),
        (0, 200, ""),
        (-1, 200, ""),
    ],
)
def test_a_summary_is_the_last_messages_cut(messages: int, characters: int, expected: str) -> None:
    """max_messages=0 is no message, not all of them."""
    assert TemplateSummaryGenerator(messages, characters).summarize(THREE) == expected


def test_a_summary_of_nothing_is_empty() -> None:
    """And the generator is one by its shape; by default it takes twenty messages of two hundred characters."""
    generator = TemplateSummaryGenerator()
    assert isinstance(generator, SummaryGenerator)
    assert generator.summarize([]) == ""
    lines = generator.summarize([MemoryMessage("user", "x" * 201)] * 21).split("\n")
    assert lines == ["- [user]: " + "x" * 200 + "..."] * 20
