"""What was said in an event: the words of prompts, answers and subagents, whichever program recorded them."""

from collections.abc import Sequence

from memsyncd.evidence.event import Event
from memsyncd.platforms.platform import Message

PROMPT = "user_prompt"
ANSWER = "assistant_stop"
SUBAGENT_RESULTS = frozenset({"subagent_stop", "sidekick_stop"})
"""The second is the name of older plugins (facts 11.6)."""

_ROLES = ("user", "assistant")
"""A tuple, for what is looked for may be of any type of JSON."""
_TEXT_KEYS = ("text", "prompt")
_RESULT_KEYS = ("text", "final_message", "last_assistant_message", "message")


def text(event: Event) -> str:
    """Return the words of a prompt or an answer, empty if there are none."""
    return _first(event, _TEXT_KEYS)


def result(event: Event) -> str:
    """Return the last words of a subagent."""
    return _first(event, _RESULT_KEYS)


def transcript(event: Event) -> Sequence[Message]:
    """Return the dialogue an answer carries from its transcript; lines without words or of other roles are left out."""
    lines = event.payload.get("transcript_messages")
    if not isinstance(lines, list):
        return ()
    return [
        Message(line["role"], line["content"])
        for line in lines
        if isinstance(line, dict)
        and line.get("role") in _ROLES
        and isinstance(line.get("content"), str)
        and line["content"].strip()
    ]


def _first(event: Event, keys: Sequence[str]) -> str:
    for key in keys:
        value = event.payload.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
