"""Where a session manager keeps whole session states, by key."""

from typing import Any, Protocol, runtime_checkable

from memsyncd.agent_state.encoding import decode, encode


@runtime_checkable
class SessionBackend(Protocol):
    """Keeps JSON objects by key."""

    async def save(self, key: str, state: dict[str, Any]) -> None:
        """Put a state in place of the last."""

    async def load(self, key: str) -> dict[str, Any] | None:
        """Return a copy of the state, or None."""
        ...

    async def delete(self, key: str) -> bool:
        """Delete a state; return whether there was one."""
        ...

    async def list_keys(self) -> list[str]:
        """Return the keys in the order they were first saved."""
        ...


class InMemorySessionBackend:
    """A SessionBackend without a file."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    async def save(self, key: str, state: dict[str, Any]) -> None:
        """Put a state in place of the last. Raises NotJson."""
        self._states[key] = encode(state)

    async def load(self, key: str) -> dict[str, Any] | None:
        """Return a copy of the state, or None."""
        found = self._states.get(key)
        return None if found is None else decode(found)

    async def delete(self, key: str) -> bool:
        """Delete a state; return whether there was one."""
        return self._states.pop(key, None) is not None

    async def list_keys(self) -> list[str]:
        """Return the keys in the order they were first saved."""
        return list(self._states)
