"""What is tidied now and then: what has had its days, write-ahead logs, and memory that a large handoff left behind."""

import os
from collections.abc import Callable
from pathlib import Path

from daemon import heap
from daemon.compose import Parts
from daemon.retention import Retention

TIDY_SECONDS = 3600.0
"""How often files are tidied; each time costs some milliseconds."""

FIRST_SECONDS = 60.0
"""After the start, when the first work is done: a daemon that never runs for an hour tidies too."""

LARGE_BYTES = 80 * 1024 * 1024
"""Resident memory above this is more than the daemon needs (issue figures: 55 MB idle), so it asks for some back."""

TRIM_SECONDS = 60.0


class Tidying:
    """Asked on every tick. `resident` and `trim` are the seams to the system: how much memory is in use, in bytes, and
    the C library's call that gives freed memory back."""

    def __init__(
        self, parts: Parts, *, resident: Callable[[], int] | None = None, trim: Callable[[], object] | None = None
    ) -> None:
        self._parts = parts
        self._resident = resident or resident_bytes
        self._trim = trim or heap.trim
        self._retention = Retention(parts)
        self._trimmed_at = parts.clock.monotonic()
        self._tidied_at = self._trimmed_at - TIDY_SECONDS + FIRST_SECONDS

    def look(self) -> None:
        """Do what is due."""
        now = self._parts.clock.monotonic()
        if now - self._trimmed_at >= TRIM_SECONDS and self._resident() > LARGE_BYTES:
            self._trimmed_at = now
            self._trim()
        if now - self._tidied_at >= TIDY_SECONDS:
            self._tidied_at = now
            self._retention.begin()
        self._retention.look()


def resident_bytes() -> int:
    """Return this process's resident memory; 0 where the system does not tell (no /proc)."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
