"""What every rival can do."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

Act = Callable[[int], None]


class Rival(Protocol):
    """One durable queue in one place. Its items are numbers; each is durable when `put` returns."""

    def put(self, number: int) -> None:
        """Add one item."""

    def fill(self, numbers: range) -> None:
        """Add many, in whatever way is quickest."""

    def work(self, workers: int, act: Act) -> AbstractContextManager[None]:
        """Call `act` with each item, on so many threads or tasks, while the block runs."""

    def close(self) -> None:
        """Let go of files and connections."""
