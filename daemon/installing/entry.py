"""One entry of a harness's configuration: a handler that runs for an event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from daemon.installing.harness import Harness
from daemon.installing.own_lines import own_handler


@dataclass(frozen=True, slots=True)
class Entry:
    """`handler` is as the file has it. `is_narrowed` says that it runs for some of the event's occasions only."""

    event: str
    handler: Mapping[str, Any]
    is_narrowed: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether a memsyncd wrote it, of this version or an older one."""
        return own_handler(self.handler) is not None


class Form(Protocol):
    """How a kind of file holds entries. Pure; each function raises NotParsable and Unfit."""

    def entries(self, text: str, harness: Harness) -> tuple[Entry, ...]:
        """Return every entry of a file, ours and others'."""

    def install(self, text: str, wanted: Sequence[Entry], harness: Harness) -> str:
        """Return the text with exactly `wanted` as our entries, and everything else as it was."""

    def uninstall(self, text: str, before: str | None, harness: Harness) -> str:
        """Return the text without entries of ours, nor what was made to hold them.

        `before` is the file as it was before the first of them, if that is known: what was empty there may stay so.
        A text of nothing means that the file was ours alone.
        """


ANY = (None, "", "*", ".*")
"""Matchers that leave nothing out (hooks-and-apis 1A, 1B, 1F)."""
