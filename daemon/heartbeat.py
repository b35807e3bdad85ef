"""The sign of life that a service manager waits for: given by the work's own state, not by a timer beside it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from daemon.intake import spool_codes
from daemon.notify import Manager

STUCK = frozenset({"stuck-claim", "no-progress"})
"""Problems that a new start may cure, and that no other problem explains."""

EXPLAINED = spool_codes.CODES | {
    "queue-unavailable",
    "queue-unreadable",
    "shared-queue-unreachable",
    "shared-queue-refused",
    "disk-nearly-full",
    "no-descriptors",
    "inodes-nearly-gone",
}
"""While one of these is told, standing still is its consequence, and a new start would only repeat it."""

LONGEST_SECONDS = 15.0
"""Between two signs, where the manager would be content with fewer: its status sentence is read by people."""


def is_stuck(document: Mapping[str, Any]) -> bool:
    """Tell from a status whether nothing moves that should, with no reason outside this process."""
    codes = {problem["code"] for problem in document.get("problems", ())}
    return bool(codes & STUCK) and not codes & EXPLAINED


class Heartbeat:
    """Gathers the status on a thread as every round does, so that neither a hung loop nor a hung store feeds on."""

    def __init__(
        self, manager: Manager, status: Callable[[], Mapping[str, Any]], monotonic: Callable[[], float]
    ) -> None:
        self._manager = manager
        self._status = status
        self._monotonic = monotonic
        self._beat_at = float("-inf")

    @property
    def seconds(self) -> float:
        """How long until the next sign at most; infinite where nobody waits for one."""
        wanted = self._manager.alive_seconds
        return float("inf") if wanted is None else min(wanted, LONGEST_SECONDS)

    async def beat(self) -> None:
        """Give a sign of life, if it is time and there is life."""
        now = self._monotonic()
        if self._manager.alive_seconds is None or now - self._beat_at < self.seconds / 2:
            return
        self._beat_at = now
        document = await asyncio.get_running_loop().run_in_executor(None, self._status)
        sentence = str(document.get("summary", ""))
        if is_stuck(document):
            self._manager.stuck(sentence)
        else:
            self._manager.alive(sentence)
