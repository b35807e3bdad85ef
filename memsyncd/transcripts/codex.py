"""Codex's rollout JSONL (hooks-and-apis 2B). Most words come twice: as an event, and as an item of the model's."""

from collections.abc import Iterator, Mapping
from typing import Any

from memsyncd.transcripts import fields
from memsyncd.transcripts.turn import ASSISTANT, USER, Over, Said, Step, Turn, Worked

_WORDS = frozenset({"input_text", "output_text", "text"})
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
"""A tuple, for what is looked for may be of any type of JSON."""


def steps(record: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what a line tells. Prompts come from events alone: items of role user hold instructions as well, and
    `compacted` lines hold old ones."""
    payload = fields.mapping(record.get("payload"))
    at = fields.moment(record.get("timestamp"))
    match record.get("type"):
        case "event_msg":
            yield from _event(payload, at)
        case "response_item":
            yield from _item(payload, at)


def _event(payload: Mapping[str, Any], at: float | None) -> Iterator[Step]:
    match payload.get("type"):
        case "user_message":
            yield Said(Turn(USER, fields.text(payload.get("message")), at=at))
        case "agent_message":
            yield Said(Turn(ASSISTANT, fields.text(payload.get("message")), at=at), is_echo=True)
        case "task_complete":
            yield Over(fields.text(payload.get("last_agent_message")), at)
        case "turn_aborted":
            yield Over(is_cut_short=True)


def _item(payload: Mapping[str, Any], at: float | None) -> Iterator[Step]:
    if payload.get("type") in _CALLS:
        yield Worked()
    elif payload.get("type") == "message" and payload.get("role") == ASSISTANT:
        yield Said(Turn(ASSISTANT, fields.words(payload.get("content"), _WORDS), at=at), is_echo=True)
