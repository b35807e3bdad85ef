"""What can go wrong with agent state.

AgentStateError
├── NotJson              (also a TypeError) what was to be kept is no JSON; nothing was written
└── StoreUnavailable     the file cannot be opened, read or written now; nothing was written
    ├── NewerSchema      a newer version of this program wrote it; it stays as it is
    └── StoreClosed      close() was called
"""

from pathlib import Path


class AgentStateError(Exception):
    """Any of the errors below."""


class NotJson(AgentStateError, TypeError):
    """A value that JSON cannot hold."""


class StoreUnavailable(AgentStateError):
    """The store could not do it, and has done none of it."""


class NewerSchema(StoreUnavailable):
    """The file was written by a newer version of this program; it is left exactly as it is."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} holds agent state of a newer version (schema {found}, this program knows {known}): update memsyncd"
        )
        self.path = path
        self.found = found


class StoreClosed(StoreUnavailable):
    """The store has been closed."""
