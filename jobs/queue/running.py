"""What runs now, and since when."""

import threading
from collections.abc import Callable, Sequence

from jobs.queue.claims import Claim


class Running:
    """The claims whose handlers run in this process. `monotonic` is the clock of their ages, in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._runs: dict[str, tuple[Claim, float]] = {}

    def start(self, claim: Claim) -> Callable[[], float]:
        """Note a run's begin; return what tells its seconds."""
        begin = self._monotonic()
        with self._lock:
            self._runs[claim.owner] = (claim, begin)
        return lambda: self._monotonic() - begin

    def end(self, claim: Claim) -> None:
        """Note a run's end."""
        with self._lock:
            self._runs.pop(claim.owner, None)

    def claims(self) -> Sequence[Claim]:
        """Return the claims that run, oldest first."""
        with self._lock:
            return tuple(claim for claim, _ in self._runs.values())

    def oldest_age(self) -> float:
        """Return for how many seconds the oldest has been running; 0 where nothing runs."""
        with self._lock:
            oldest = next((begin for _, begin in self._runs.values()), None)
        return 0.0 if oldest is None else max(self._monotonic() - oldest, 0.0)
