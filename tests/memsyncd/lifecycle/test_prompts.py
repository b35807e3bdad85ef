"""What models are told about memory."""

import pytest

from memsyncd.lifecycle import prompts

TEXTS = {name: text for name, text in vars(prompts).items() if name.isupper() and isinstance(text, str)}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_no_text_asks_for_searches_without_need(name: str) -> None:
    """Facts 20.33: "always search first" made agents search in vain."""
    said = TEXTS[name].lower()
    for phrase in ("always", "must", "before answering", "every prompt", "each prompt", "first search"):
        assert phrase not in said
    assert "  " not in said
    assert "\n" not in said


def test_there_are_texts_for_every_tool() -> None:
    """A host finds what it needs."""
    assert {
        "SYSTEM_PROMPT",
        "SEARCH_TOOL",
        "SEARCH_QUERY",
        "ADD_TOOL",
        "LIST_TOOL",
        "DELETE_TOOL",
        "SCOPE_ARGUMENT",
        "RECALL_HEADING",
    } <= set(TEXTS)
