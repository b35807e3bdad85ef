"""What the parts of the running daemon have found wrong and not yet seen right again."""

import dataclasses
import threading
from collections.abc import Sequence

from daemon.status.parts import Finding
from memsyncd.clock import Clock


class Findings:
    """Safe from any thread. A finding is known by its code and place; `since` is when it was first reported,
    where it does not tell when it began."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._found: dict[tuple[str, str], Finding] = {}

    def report(self, code: str, where: str = "", detail: str = "", *, since: float | None = None) -> bool:
        """Note a finding; True where it is new, so that its first sight is logged and the rest are not. `since`, Unix
        seconds, is for what tells itself when it began."""
        with self._lock:
            known = self._found.get((code, where))
            if since is None:
                since = self._clock.wall() if known is None else known.since
            self._found[code, where] = Finding(code, since=since, where=where, detail=detail)
            return known is None

    def clear(self, code: str, where: str = "") -> bool:
        """Note that it is right again; True where it was wrong before."""
        with self._lock:
            return self._found.pop((code, where), None) is not None

    def all(self) -> Sequence[Finding]:
        """Return every finding, oldest first."""
        with self._lock:
            return sorted((dataclasses.replace(found) for found in self._found.values()), key=lambda f: f.since or 0.0)
