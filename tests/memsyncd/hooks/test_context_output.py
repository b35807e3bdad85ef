"""A context in each harness's own words (hooks-and-apis 1A to 1I)."""

import json
from typing import Any

import pytest

from daemon.installing.harnesses import HARNESSES
from memsyncd.hooks.context_output import FORMS, output, takes_context

CONTEXT = 'Known:\n1. It\'s "\\n" \u00e4 \U0001f600.'


@pytest.mark.parametrize(
    ("harness", "action", "document"),
    [
        ("claude-code", "user-prompt", {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit"}}),
        ("claude-code", "subagent-start", {"hookSpecificOutput": {"hookEventName": "SubagentStart"}}),
        ("codex", "user-prompt", {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit"}}),
        ("codex", "subagent-start", {"hookSpecificOutput": {"hookEventName": "SubagentStart"}}),
        ("gemini-cli", "user-prompt", {"hookSpecificOutput": {"hookEventName": "BeforeAgent"}}),
    ],
)
def test_claude_code_and_its_kin_name_the_event(harness: str, action: str, document: dict[str, Any]) -> None:
    """The event's name, the context, and no other key: Codex refuses those it does not know."""
    document["hookSpecificOutput"]["additionalContext"] = CONTEXT
    printed = output(CONTEXT, harness, action)
    assert json.loads(printed) == document
    assert printed.isascii() and printed.endswith(b"}\n")  # whatever encoding the harness reads it in


@pytest.mark.parametrize(
    ("harness", "document"),
    [
        ("cursor", {"additional_context": CONTEXT}),
        ("copilot", {"additionalContext": CONTEXT}),
        ("antigravity", {"injectSteps": [{"ephemeralMessage": CONTEXT}]}),
    ],
)
def test_others_have_their_own_words(harness: str, document: dict[str, Any]) -> None:
    """At a prompt; at a subagent's start they take nothing."""
    assert json.loads(output(CONTEXT, harness, "user-prompt")) == document
    assert output(CONTEXT, harness, "subagent-start") == b""


@pytest.mark.parametrize("harness", ["kimi", "opencode"])
def test_some_take_plain_text(harness: str) -> None:
    """What is printed is what the model reads."""
    assert output(CONTEXT, harness, "user-prompt").decode() == CONTEXT + "\n"


def test_every_form_is_of_a_harness_that_can_be_installed() -> None:
    """Under the very name and action that its hook lines carry."""
    lines = {(harness.name, event.action) for harness in HARNESSES.values() for event in harness.events}
    assert FORMS.keys() <= lines


@pytest.mark.parametrize(
    ("harness", "action"),
    [
        ("windsurf", "user-prompt"),
        ("kimi-cli", "user-prompt"),
        ("opencode", "subagent-start"),
        ("generic", "user-prompt"),
        ("claude-code", "stop"),  # it would make the agent carry on
        ("claude-code", "session-start"),
        ("claude-code", "post-tool"),
        ("", ""),
    ],
)
def test_where_nothing_is_taken_nothing_is_said(harness: str, action: str) -> None:
    """No harness gets words it might take for a decision."""
    assert not takes_context(harness, action)
    assert output(CONTEXT, harness, action) == b""


def test_no_context_is_no_output() -> None:
    """Rather than an empty heading (facts 7.6)."""
    assert output("", "claude-code", "user-prompt") == output("", "kimi", "user-prompt") == b""
