"""What a memory provider can do, in eight small protocols, and the one that has them all (facts, hooks-and-apis 7).

A part of a program names only the protocol it needs. All are asynchronous but SummaryGenerator, and can be asked for
with isinstance.
"""

from typing import Any, Protocol, runtime_checkable

from memsyncd.agent_state.records import GoalState, MemoryMessage, PhaseState, ToolEvent, UserProfile


@runtime_checkable
class MessageStore(Protocol):
    """The messages of a user's topic, in the order they were saved."""

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
        """Append a message."""

    async def get_messages(self, user_id: str, topic_id: str, limit: int = 10) -> list[MemoryMessage]:
        """Return the last `limit` messages, oldest first; none where `limit` is 0 or below."""
        ...

    async def count_messages(self, user_id: str, topic_id: str) -> int:
        """Return how many messages are kept."""
        ...

    async def delete_messages_before(self, user_id: str, topic_id: str, keep_last: int = 10) -> int:
        """Delete all but the last `keep_last` messages (all, where it is 0 or below); return how many went."""
        ...


@runtime_checkable
class FactStore(Protocol):
    """What is known of a user, everywhere (topic None) or in one topic."""

    async def upsert_fact(
        self, user_id: str, key: str, value: Any, topic_id: str | None = None, source: str = "user"
    ) -> None:
        """Set a fact, unless a source of higher rank set it: user, then ai_inferred, then mcp, then any other."""

    async def get_facts(self, user_id: str, topic_id: str | None = None) -> dict[str, Any]:
        """Return the facts that hold everywhere, and over them those of the topic, in the order they were first set."""
        ...


@runtime_checkable
class SummaryStore(Protocol):
    """One rolling summary a topic."""

    async def save_summary(self, user_id: str, topic_id: str, summary: str, messages_covered: int) -> None:
        """Put a summary in place of the last."""

    async def get_summary(self, user_id: str, topic_id: str) -> str | None:
        """Return the summary, or None."""
        ...


@runtime_checkable
class GoalStore(Protocol):
    """One goal a topic."""

    async def save_goal(self, user_id: str, goal: GoalState) -> None:
        """Put a goal in place of the last with its id."""

    async def get_active_goal(self, user_id: str, topic_id: str) -> GoalState | None:
        """Return the goal whose id is `topic_id`, or None."""
        ...


@runtime_checkable
class SessionStateStore(Protocol):
    """Which role and skills serve a topic, and who handed it to whom."""

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

    async def get_session_state(self, user_id: str, topic_id: str) -> dict[str, Any] | None:
        """Return the state under the names save_session_state has for it, and `title`; or None."""
        ...


@runtime_checkable
class UserStore(Protocol):
    """Users. No other method needs its user to be known here first."""

    async def ensure_user(self, external_id: str) -> str:
        """Note the user, once; return the id to use everywhere else."""
        ...

    async def get_user_profile(self, user_id: str) -> UserProfile:
        """Return the user with the facts that hold everywhere; an unknown user has none."""
        ...


@runtime_checkable
class PhaseStore(Protocol):
    """Where each user stands."""

    async def save_phase_state(self, user_id: str, phase: str, notes: str = "") -> None:
        """Put a phase in place of the last."""

    async def get_phase_state(self, user_id: str) -> PhaseState | None:
        """Return the phase, or None."""
        ...


@runtime_checkable
class ToolEventStore(Protocol):
    """What tools were called."""

    async def save_tool_event(self, user_id: str, event: ToolEvent) -> None:
        """Append an event."""


@runtime_checkable
class MemoryProvider(
    MessageStore,
    FactStore,
    SummaryStore,
    GoalStore,
    SessionStateStore,
    UserStore,
    PhaseStore,
    ToolEventStore,
    Protocol,
):
    """All eight in one."""


@runtime_checkable
class SummaryGenerator(Protocol):
    """Makes a summary of messages; synchronous."""

    def summarize(self, messages: list[MemoryMessage]) -> str:
        """Return a summary of `messages`, oldest first; empty for none."""
        ...
