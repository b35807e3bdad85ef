"""A call in a thread of its own, with a deadline: what hangs costs one answer, not the server (never-again 131)."""

import threading
from collections.abc import Callable

import anyio
import anyio.to_thread

from memsyncd.mcp_server.tool import Answer

DEADLINE_SECONDS = 30.0
"""Above every bound below it: 10 s for the daemon's answer, 10 s for a locked file. Codex gives up after 60 s
(hooks-and-apis 5C)."""

MAX_AT_ONCE = 8
"""Calls that run at once; the others wait their turn within their deadline."""

MAX_HUNG = 8
"""Calls past their deadline that still hold a thread; while there are so many, none is begun."""


class Calling:
    """Runs calls from the event loop. `deadline` in seconds."""

    def __init__(self, *, deadline: float = DEADLINE_SECONDS) -> None:
        self._deadline = deadline
        self._room = anyio.CapacityLimiter(MAX_AT_ONCE)
        self._lock = threading.Lock()
        self._running = 0
        self._awaited = 0

    @property
    def hung(self) -> int:
        """How many calls still hold a thread though nobody waits for them."""
        with self._lock:
            return self._running - self._awaited

    async def answer(self, name: str, work: Callable[[], Answer]) -> Answer:
        """Return what `work` answers, or an error answer once the deadline is over. `work` raises nothing."""
        if self.hung >= MAX_HUNG:
            return _late(name, "earlier calls have not come back yet")
        with anyio.move_on_after(self._deadline):
            async with self._room:
                return await self._run(work)
        return _late(name, f"it took longer than {self._deadline:g} s; whether it was done is not known")

    async def _run(self, work: Callable[[], Answer]) -> Answer:
        def counted() -> Answer:
            try:
                return work()
            finally:
                self._count(running=-1)

        self._count(running=1, awaited=1)
        try:
            return await anyio.to_thread.run_sync(counted, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))
        finally:
            self._count(awaited=-1)

    def _count(self, *, running: int = 0, awaited: int = 0) -> None:
        with self._lock:
            self._running += running
            self._awaited += awaited


def _late(name: str, why: str) -> Answer:
    return Answer(
        f"{name} was given up: {why}. Go on without it; `memsyncd status` tells the user what is wrong.", is_error=True
    )
