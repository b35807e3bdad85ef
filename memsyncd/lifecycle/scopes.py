"""How wide memory reaches: one project, one session of it, or everything of a user (facts 18.20 to 18.23)."""

from dataclasses import dataclass
from enum import StrEnum

from memsyncd.platforms.wildcards import is_wildcard

# The tree of errors.
#
#   MemoryScopeError (a ValueError)
#   ├── InvalidMemoryScope     an identity the scope needs is missing, blank or a wildcard; `key` names it
#   └── GlobalScopeRefused     a tool asked for everything where the user chose less


class MemoryScopeError(ValueError):
    """Base of what is refused about a scope. Its words are fit for a tool's answer and hold nobody's identity."""


class InvalidMemoryScope(MemoryScopeError):
    """An identity is missing or would mean everybody."""

    def __init__(self, key: str) -> None:
        super().__init__(f"Invalid memory scope {key}: it must be set, and not be a wildcard")
        self.key = key


class GlobalScopeRefused(MemoryScopeError):
    """A tool may not widen its own reach."""

    def __init__(self) -> None:
        super().__init__(
            "Global memory scope was not chosen by the user: select global scope in the settings to use it here"
        )


class MemoryScope(StrEnum):
    """How wide a memory reaches: `project` is one project of a user, `session` one run of it, `global` all that is the
    user's. `memsyncd.agent_state.MemoryScope` is another thing: who shares a key of session state."""

    PROJECT = "project"
    SESSION = "session"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class MemoryIdentity:
    """Whose memories: what the scopes pick from. `run_id` names a session, `app_id` a project."""

    user_id: str
    app_id: str = ""
    run_id: str = ""


def scope_of(value: object) -> MemoryScope:
    """Return the scope a setting means, trimmed and in any case; `project` for anything unknown (facts 18.20)."""
    name = value.strip().lower() if isinstance(value, str) else ""
    try:
        return MemoryScope(name)
    except ValueError:
        return MemoryScope.PROJECT


def tool_scope(requested: object, configured: MemoryScope) -> MemoryScope:
    """Return the scope of a tool's call: what it asks for, or the configured one where it asks for nothing.

    Raises GlobalScopeRefused where it asks for `global` and the user did not configure that (facts 18.20).
    """
    if requested is None or (isinstance(requested, str) and not requested.strip()):
        return configured
    scope = scope_of(requested)
    if scope is MemoryScope.GLOBAL and configured is not MemoryScope.GLOBAL:
        raise GlobalScopeRefused
    return scope


def required(key: str, value: object) -> str:
    """Return an identity trimmed (facts 18.23 pass it on as it came). Raises InvalidMemoryScope (facts 18.22)."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or is_wildcard(text):
        raise InvalidMemoryScope(key)
    return text
