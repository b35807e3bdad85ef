"""Episodes: what happened in one run of an agent, and the memory that keeps them (facts, hooks-and-apis 7)."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from memsyncd.agent_state.encoding import decode, encode
from memsyncd.agent_state.words import words_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Episode:
    """What happened. `outcome` is `success`, `failure`, `partial` or `unknown`; a `timestamp` without offset is UTC."""

    id: str
    summary: str
    key_decisions: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    outcome: str = "unknown"
    session_id: str = ""
    timestamp: datetime = field(default_factory=_now)
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class EpisodicMemory(Protocol):
    """Keeps episodes."""

    async def store(self, episode: Episode) -> None:
        """Keep an episode, in place of the one with its id."""

    async def recall(self, query: str, *, top_k: int = 5) -> list[Episode]:
        """Return the episodes that share words with `query`, most shared words first, then newest first."""
        ...

    async def recall_recent(self, n: int = 10) -> list[Episode]:
        """Return the `n` newest, newest first."""
        ...

    async def recall_by_tag(self, tag: str) -> list[Episode]:
        """Return all with exactly this tag, newest first."""
        ...

    async def count(self) -> int:
        """Return how many are kept."""
        ...


def encode_episode(episode: Episode) -> str:
    """Return an episode as JSON. Raises NotJson."""
    values = {item.name: getattr(episode, item.name) for item in fields(Episode)}
    return encode({**values, "timestamp": episode.timestamp.isoformat()})


def decode_episode(body: str) -> Episode:
    """Return the episode that was encoded."""
    values = decode(body)
    for name in ("key_decisions", "tools_used", "tags"):
        values[name] = tuple(values[name])
    return Episode(**{**values, "timestamp": datetime.fromisoformat(values["timestamp"])})


def moment(timestamp: datetime) -> int:
    """Return a time as whole microseconds since 1970 in UTC: what episodes are ordered by, whatever their offsets."""
    aware = timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def episode_words(episode: Episode) -> frozenset[str]:
    """Return the words an episode is recalled by."""
    return words_of(episode.summary, *episode.tags, *episode.key_decisions)
