"""Names under which session state is kept (facts, hooks-and-apis 7)."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class SessionKey:
    """A user's topic. Its text is `user:topic` with `%` and `:` escaped, so that no two keys share one."""

    user_id: str
    topic_id: str

    def __str__(self) -> str:
        return f"{_escaped(self.user_id)}:{_escaped(self.topic_id)}"


class MemoryScope(str, Enum):  # noqa: UP042  (a StrEnum prints otherwise, and programs print it)
    """Who shares what is kept under a key: everybody, one agent, or those that were given it. `memsyncd.MemoryScope` is
    another thing: how wide a memory reaches."""

    GLOBAL = "global"
    AGENT = "agent"
    SHARED = "shared"


def scoped_key(scope: MemoryScope, original_key: str) -> str:
    """Return `scope:key`. Raises ValueError for a scope that is none."""
    return f"{MemoryScope(scope).value}:{original_key}"


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")
