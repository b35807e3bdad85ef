"""A tool's call in the words of Claude Code, from wherever its harness has them."""

import json
from collections.abc import Mapping
from typing import Any

from memsyncd.hooks import looking
from memsyncd.hooks.adapter import Adapter

MAX_JSON_TEXT = 1 << 20
"""Characters of a text that is read as JSON; a longer one is kept as the text it is, which is cut."""


def call(hook: Mapping[str, Any], adapter: Adapter) -> dict[str, Any]:
    """Return the call in a hook's JSON, with an object for its input, for `tool_payload.capture`."""
    at, tools = adapter.fields, adapter.tools
    event = looking.text(hook, at.event)
    given = _parsed(looking.value(hook, at.tool_input))
    response = looking.value(hook, at.tool_response)
    if tools.is_json_text:
        response = _parsed(response)
    if isinstance(response, Mapping):
        shown = next((response[key] for key in tools.outputs if response.get(key)), None)
        response = response if shown is None else {**response, "output": shown}
    return {
        "hook_event_name": event,
        "tool_name": looking.text(hook, at.tool) or tools.by_event.get(event, ""),
        "tool_input": given if isinstance(given, Mapping) else {},
        "tool_response": response,
        "error": looking.value(hook, at.error),
        "duration_ms": looking.value(hook, at.duration_ms),
        "agent_id": looking.text(hook, at.agent_id),
        "agent_type": looking.text(hook, at.agent_type),
    }


def _parsed(value: Any) -> Any:
    """Return the object that a text holds as JSON; anything else as it is."""
    if not isinstance(value, str) or len(value) > MAX_JSON_TEXT or not value.lstrip().startswith("{"):
        return value
    try:
        found = json.loads(value, parse_int=_integer)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, dict) else value


def _integer(digits: str) -> int | str:
    """Return a whole number, as text where it has more digits than Python turns into one (4,300)."""
    try:
        return int(digits)
    except ValueError:
        return digits
