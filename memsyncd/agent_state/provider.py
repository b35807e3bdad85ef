"""The eight stores on top of a few primitive acts, which each backend does its own way."""

from abc import ABC, abstractmethod
from dataclasses import fields
from enum import StrEnum
from typing import Any

from memsyncd.agent_state.encoding import decode, encode, encode_fields
from memsyncd.agent_state.records import GoalState, MemoryMessage, PhaseState, ToolEvent, UserProfile
from memsyncd.clock import Clock, rfc3339

KEPT_TOOL_EVENTS = 10_000
"""Tool events kept of a user, the newest; dropped_tool_events tells how many went (the reference in-memory provider
keeps as many in all)."""


class DocumentKind(StrEnum):
    """What there is one of for a user, or for a user's topic."""

    USER = "user"
    SUMMARY = "summary"
    GOAL = "goal"
    SESSION = "session"
    PHASE = "phase"


class StateProvider(ABC):
    """A MemoryProvider. Everything is encoded before the first await: what the caller changes later changes nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def save_message(
        self,
        user_id: str,
        topic_id: str,
        role: str,
        content: str,
        tool_calls: list[dict[str, Any]] | None = None,
        *,
        name: str | None = None,
        metadata: dict[str, Any] | None = None,
        content_blocks: list[dict[str, Any]] | None = None,
    ) -> None:
        """Append a message. Raises NotJson."""
        message = {
            "role": role, "content": content, "name": name,
            "tool_calls": tool_calls, "metadata": metadata, "content_blocks": content_blocks,
        }  # fmt: skip
        await self._append_message(user_id, topic_id, encode_fields(message))

    async def get_messages(self, user_id: str, topic_id: str, limit: int = 10) -> list[MemoryMessage]:
        """Return the last `limit` messages, oldest first; none where `limit` is 0 or below."""
        if limit <= 0:
            return []
        return [_message(decode(body)) for body in await self._last_messages(user_id, topic_id, limit)]

    async def count_messages(self, user_id: str, topic_id: str) -> int:
        """Return how many messages are kept."""
        return await self._count_messages(user_id, topic_id)

    async def delete_messages_before(self, user_id: str, topic_id: str, keep_last: int = 10) -> int:
        """Delete all but the last `keep_last` messages (all, where it is 0 or below); return how many went."""
        return await self._cut_messages(user_id, topic_id, max(keep_last, 0))

    async def upsert_fact(
        self, user_id: str, key: str, value: Any, topic_id: str | None = None, source: str = "user"
    ) -> None:
        """Set a fact, unless a source of higher rank set it. A topic of "" is a topic. Raises NotJson."""
        await self._put_fact(user_id, topic_id, key, encode(value), source)

    async def get_facts(self, user_id: str, topic_id: str | None = None) -> dict[str, Any]:
        """Return the facts that hold everywhere, and over them those of the topic, in the order they were first set."""
        return {key: decode(value) for key, value in await self._facts(user_id, topic_id)}

    async def save_summary(self, user_id: str, topic_id: str, summary: str, messages_covered: int) -> None:
        """Put a summary in place of the last."""
        body = encode({"summary": summary, "messages_covered": messages_covered})
        await self._put(DocumentKind.SUMMARY, user_id, topic_id, body)

    async def get_summary(self, user_id: str, topic_id: str) -> str | None:
        """Return the summary, or None."""
        found = await self._get(DocumentKind.SUMMARY, user_id, topic_id)
        return None if found is None else decode(found)["summary"]

    async def get_messages_covered(self, user_id: str, topic_id: str) -> int | None:
        """Return how many messages the summary was said to cover, or None where there is no summary."""
        found = await self._get(DocumentKind.SUMMARY, user_id, topic_id)
        return None if found is None else decode(found)["messages_covered"]

    async def save_goal(self, user_id: str, goal: GoalState) -> None:
        """Put a goal in place of the last with its id."""
        await self._put(DocumentKind.GOAL, user_id, goal.goal_id, encode_fields(_fields(goal, GoalState)))

    async def get_active_goal(self, user_id: str, topic_id: str) -> GoalState | None:
        """Return the goal whose id is `topic_id`, or None."""
        found = await self._get(DocumentKind.GOAL, user_id, topic_id)
        return None if found is None else GoalState(**decode(found))

    async def save_session_state(
        self,
        user_id: str,
        topic_id: str,
        role_id: str,
        active_skill_ids: list[str],
        prompt_hash: str = "",
        *,
        delegated_from: str | None = None,
        delegation_turn_count: int = 0,
        pending_delegation: str | None = None,
        delegation_summary: str | None = None,
    ) -> None:
        """Put a state in place of the last, whole: what is not given is reset."""
        state = {
            "role_id": role_id,
            "active_skill_ids": list(active_skill_ids),
            "title": None,
            "prompt_hash": prompt_hash,
            "delegated_from": delegated_from,
            "delegation_turn_count": delegation_turn_count,
            "pending_delegation": pending_delegation,
            "delegation_summary": delegation_summary,
        }
        await self._put(DocumentKind.SESSION, user_id, topic_id, encode(state))

    async def get_session_state(self, user_id: str, topic_id: str) -> dict[str, Any] | None:
        """Return the state as it was saved, with a `title` that nothing sets yet; or None."""
        found = await self._get(DocumentKind.SESSION, user_id, topic_id)
        return None if found is None else decode(found)

    async def ensure_user(self, external_id: str) -> str:
        """Note the user and the time, once; return `external_id`."""
        body = encode({"created_at": rfc3339(self._clock.wall())})
        await self._put(DocumentKind.USER, external_id, "", body, replace=False)
        return external_id

    async def get_user_profile(self, user_id: str) -> UserProfile:
        """Return the user with the facts that hold everywhere; an unknown user has none, and is not noted."""
        user = await self._get(DocumentKind.USER, user_id, "")
        created_at = "" if user is None else decode(user)["created_at"]
        return UserProfile(user_id, await self.get_facts(user_id), created_at)

    async def save_phase_state(self, user_id: str, phase: str, notes: str = "") -> None:
        """Put a phase in place of the last."""
        await self._put(DocumentKind.PHASE, user_id, "", encode({"phase": phase, "notes": notes}))

    async def get_phase_state(self, user_id: str) -> PhaseState | None:
        """Return the phase, or None."""
        found = await self._get(DocumentKind.PHASE, user_id, "")
        return None if found is None else PhaseState(user_id, **decode(found))

    async def save_tool_event(self, user_id: str, event: ToolEvent) -> None:
        """Append an event; of each user the last KEPT_TOOL_EVENTS are kept."""
        await self._append_tool_event(user_id, event.topic_id, encode_fields(_fields(event, ToolEvent)))

    async def get_tool_events(self, user_id: str, topic_id: str | None = None, limit: int = 10) -> list[ToolEvent]:
        """Return the last `limit` events, of one topic or (None) of all, oldest first."""
        if limit <= 0:
            return []
        return [ToolEvent(**decode(body)) for body in await self._last_tool_events(user_id, topic_id, limit)]

    async def dropped_tool_events(self, user_id: str) -> int:
        """Return how many of a user's events went because newer ones came."""
        return await self._dropped_tool_events(user_id)

    @abstractmethod
    async def _append_message(self, user_id: str, topic_id: str, body: str) -> None: ...

    @abstractmethod
    async def _last_messages(self, user_id: str, topic_id: str, limit: int) -> list[str]: ...

    @abstractmethod
    async def _count_messages(self, user_id: str, topic_id: str) -> int: ...

    @abstractmethod
    async def _cut_messages(self, user_id: str, topic_id: str, kept: int) -> int: ...

    @abstractmethod
    async def _put_fact(self, user_id: str, topic_id: str | None, key: str, value: str, source: str) -> None: ...

    @abstractmethod
    async def _facts(self, user_id: str, topic_id: str | None) -> list[tuple[str, str]]: ...

    @abstractmethod
    async def _put(
        self, kind: DocumentKind, user_id: str, topic_id: str, body: str, *, replace: bool = True
    ) -> None: ...

    @abstractmethod
    async def _get(self, kind: DocumentKind, user_id: str, topic_id: str) -> str | None: ...

    @abstractmethod
    async def _append_tool_event(self, user_id: str, topic_id: str, body: str) -> None: ...

    @abstractmethod
    async def _last_tool_events(self, user_id: str, topic_id: str | None, limit: int) -> list[str]: ...

    @abstractmethod
    async def _dropped_tool_events(self, user_id: str) -> int: ...


def _fields(record: object, kind: type[GoalState | ToolEvent]) -> dict[str, Any]:
    """Return a record's fields; what else hangs on it, a subclass's or the caller's, is not ours to keep."""
    return {field.name: getattr(record, field.name) for field in fields(kind)}


def _message(fields: dict[str, Any]) -> MemoryMessage:
    return MemoryMessage(**{"content": None, **fields})
