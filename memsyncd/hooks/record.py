"""A record: what one handoff says happened, in the words the evidence store keeps.

An adapter turns a harness's hook JSON into records; it decides nothing else and touches neither disk nor clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

UNKNOWN_SESSION = "unknown-session"
"""The session of a hook that names none (facts 2.14): recorded, never delivered."""

KINDS = frozenset(
    {
        "session_start",
        "user_prompt",
        "tool_result",
        "tool_failure",
        "assistant_stop",
        "subagent_start",
        "subagent_stop",
    }
)
"""Event kinds as existing plugins store them; an unknown action's kind is the action itself."""


@dataclass(frozen=True, slots=True)
class Record:
    """One event before it is redacted and stored.

    `payload` holds JSON values only. `turn_id` is the harness's own id of the turn or event (prompt id, tool use
    id), empty when it sends none: it is what tells a repeated hook from a repeated prompt. `captured_at` is RFC 3339,
    empty where it is the handoff's.
    """

    kind: str
    session_id: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    cwd: str = ""
    turn_id: str = ""
    agent_id: str = ""
    transcript_path: str = ""
    captured_at: str = ""
