"""What a hook's body asks."""

import json
from typing import Any

import pytest

from daemon.recalling.question import NotAQuestion, Question, question_from
from memsyncd.hooks.record import UNKNOWN_SESSION

SECRET = "sk-" + "abcd" * 6


def asked(hook_input: dict[str, Any], harness: str = "claude-code", **more: Any) -> Question:
    return question_from(json.dumps({"harness": harness, "hook_input": hook_input, **more}).encode())


def test_harness_and_hook_input_are_enough() -> None:
    """As CONTRACT has it; the action is then a prompt's."""
    assert asked({"session_id": "s", "cwd": "/w", "prompt": " Why? "}) == Question("claude-code", "s", "Why?", "/w")


def test_a_whole_handoff_asks_the_same() -> None:
    """What the hook sends is the handoff as it lies in the spool; what it does not know of is no obstacle."""
    whole = {"v": 1, "id": "1", "action": "user-prompt", "captured_at": "", "cwd": "/elsewhere", "later": 1}
    assert asked({"session_id": "s", "prompt": "Why?"}, **whole) == Question("claude-code", "s", "Why?", "/elsewhere")


def test_only_a_persons_words_are_asked_with() -> None:
    """No secret, no private span and no element of the harness's own reaches a platform as a question."""
    prompt = f"<system-reminder>x</system-reminder>Use {SECRET} <private>today</private>for it?"
    text = asked({"session_id": "s", "prompt": prompt}).prompt
    assert text.startswith("Use [REDACTED]") and text.endswith("for it?")
    assert SECRET not in text and "today" not in text and "reminder" not in text


@pytest.mark.parametrize("prompt", [None, 7, "", "  ", [], {}, "<task-notification>done</task-notification>"])
def test_no_words_are_no_question(prompt: object) -> None:
    """A prompt of another type, or without a person's words, is empty."""
    assert asked({"session_id": "s", "prompt": prompt}).prompt == ""


def test_a_subagents_start_asks_for_its_parents() -> None:
    """It tells whose it is, and has no prompt."""
    hook_input = {"session_id": "s", "cwd": "/w", "agent_id": "a", "agent_type": "explorer", "prompt": "x"}
    assert asked(hook_input, action="subagent-start") == Question("claude-code", "s", "", "/w", "a", "explorer")


def test_a_hook_without_a_session_is_nobodys() -> None:
    """Its session is the placeholder's."""
    assert asked({"prompt": "Why?"}).session_id == UNKNOWN_SESSION


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"{}",
        b'{"harness": "claude-code"}',
        b'{"hook_input": {}}',
        b'{"harness": "../x", "hook_input": {}}',
        b'{"harness": 7, "hook_input": {}}',
        b'{"harness": "-x", "hook_input": {}}',
        b'{"harness": "claude-code", "hook_input": []}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_handoff_is_no_question(body: bytes) -> None:
    """It is refused with a sentence."""
    with pytest.raises(NotAQuestion, match=r"\.$"):
        question_from(body)


def test_a_hook_that_another_harness_runs_is_told_nothing() -> None:
    """Cursor running Claude Code's hooks would not take that one's form, and its own hook asks for itself."""
    told = {"conversation_id": "c", "cursor_version": "3.9", "workspace_roots": ["/w"], "prompt": "why is CI red?"}
    assert asked(told) == Question("claude-code", UNKNOWN_SESSION)
    assert asked(told, "cursor") == Question("cursor", "c", "why is CI red?", "/w")
