"""What people ask the running daemon to do beside looking."""

from collections.abc import Mapping
from typing import Any, Protocol


class DaemonActs(Protocol):
    """May block, and is called from threads. Raises OSError where files cannot be written."""

    def pause(self, project: str, seconds: float | None) -> Mapping[str, Any]:
        """Pause everything, or the project of a directory; for `seconds`, or without an end."""

    def resume(self, project: str) -> Mapping[str, Any]:
        """End a pause, and let go at once of what it held."""

    def namespaces(self) -> Mapping[str, Any]:
        """Return the namespaces that have notes. Raises NoteError."""

    def remember(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a text as a note: `namespace`, `key`, `value`, `ttl_seconds` or None for never. Raises NoteError."""

    def forget(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Forget one of `cwd`, `session` and `memory`; without `yes` only tell what would go."""
