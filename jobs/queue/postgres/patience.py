"""How long the server's answer is waited for.

One that stands still keeps its connections: no keepalive tells of it, and its own time limits stand still with it.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.rows import DictRow

LONGEST_SECONDS = 75.0
"""More than the server takes for the longest statement (`storage.STATEMENT_SECONDS`)."""

READING_SECONDS = 15.0
"""For what is only looked at; people and `status` wait for it."""


class Patience:
    """Of one process, for all its connections. `monotonic` gives seconds."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ends = math.inf

    def hurry(self, seconds: float) -> None:
        """Let every wait, begun or to come, end within `seconds` from now, and have no connection more."""
        self._ends = min(self._ends, self._monotonic() + seconds)

    @property
    def is_hurried(self) -> bool:
        """Whether that was said."""
        return self._ends < math.inf

    def end_of(self, seconds: float) -> float:
        """Return when a wait of so many seconds that begins now is over."""
        return self._monotonic() + seconds

    def is_over(self, ends: float) -> bool:
        """Whether a wait that was to end then is over now."""
        return self._monotonic() >= min(ends, self._ends)


class PatientConnection(psycopg.Connection[DictRow]):
    """Closed where the server does not answer in time: OperationalError, and nobody knows what became of a commit."""

    patience = Patience()
    longest = LONGEST_SECONDS

    def wait(self, gen: PQGen[RV], *arguments: Any, **options: Any) -> RV:
        """Wait for the server as ever, within the patience."""
        return super().wait(self._in_time(gen), *arguments, **options)

    def _in_time(self, gen: PQGen[RV]) -> PQGen[RV]:
        ends = self.patience.end_of(self.longest)
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # nothing, a few times a second, where the server is silent
                if not ready and self.patience.is_over(ends):
                    self.close()
                    raise psycopg.OperationalError("the server does not answer")
                wanted = gen.send(ready)
        except StopIteration as end:
            result: RV = end.value
            return result
