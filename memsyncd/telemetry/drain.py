"""One spool's telemetry emptied into the endpoint: the live file, then a few parked claims (facts 12.10-12.20)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.platforms.platform import PlatformError
from memsyncd.telemetry.posthog import Unsendable, Wire

Post = Callable[[Sequence[Wire]], None]
"""Sends one batch; returning means that the endpoint has it. Raises PlatformError."""

Encode = Callable[[bytes], Wire | Unsendable]
"""Turns a line of the spool into what is sent, or says why it never will be."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What became of a run over one spool. Counts are of events.

    `failure` is the endpoint's, and ends the whole run; `trouble` is the disk's, in a sentence. `more` tells that
    parked claims are left which could go at once.
    """

    delivered: int = 0
    set_aside: int = 0
    failure: PlatformError | None = None
    trouble: str = ""
    more: bool = False


class Drain:
    """Empties telemetry spools; one for the daemon's life, used by one thread at a time.

    Counters: `telemetry_delivered`, `telemetry_rejected`, `telemetry_corrupt`, `telemetry_expired`.
    """

    def __init__(self, *, clock: Clock, counters: Counters) -> None:
        self._clock = clock
        self._counters = counters

    def run(
        self, directory: Path, post: Post, encode: Encode, *, is_stopping: Callable[[], bool] = lambda: False
    ) -> Drained:
        """Send what is spooled in `directory`. Never raises for what is on the disk or what the endpoint says."""
        raise NotImplementedError

    def close(self) -> None:
        """Give back what is held."""
