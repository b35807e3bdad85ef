"""The records a memory provider takes and gives back (facts, hooks-and-apis 7).

They have no slots: programs written for these shapes may use `vars()` on them or hang an attribute on the mutable ones.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MemoryMessage:
    """One message of a conversation; `role` is `user`, `assistant`, `system` or `tool`."""

    role: str
    content: str
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    metadata: dict[str, Any] | None = None
    content_blocks: list[dict[str, Any]] | None = None


@dataclass
class UserProfile:
    """A user and the facts that hold in every topic.

    `created_at` is when ensure_user first named the user, RFC 3339; empty where it never did.
    """

    user_id: str
    facts: dict[str, Any] = field(default_factory=dict)
    created_at: str = ""


@dataclass
class GoalState:
    """What a user is working towards. `goal_id` is also the topic it is found under; amounts have the goal's unit."""

    goal_id: str
    title: str
    target_amount: int | None = None
    current_amount: int = 0
    phase: str = ""
    plan: dict[str, Any] | None = None
    is_main: bool = False


@dataclass
class PhaseState:
    """Where a user stands, over all topics."""

    user_id: str
    phase: str = ""
    notes: str = ""


@dataclass(frozen=True)
class ToolEvent:
    """One call of a tool; `latency_ms` in milliseconds."""

    topic_id: str
    tool_name: str
    input_json: dict[str, Any] | None = None
    output_json: dict[str, Any] | None = None
    latency_ms: int = 0
