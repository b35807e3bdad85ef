"""Which sessions have unsent evidence and when each last moved: how an end that no hook tells is noticed.

A session is over when nothing came for a while or when the agent's process is gone (issue: a stop is the end of a turn,
not of a session). It opens again by itself when a later event arrives.
"""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from memsyncd.hooks.handoff import HarnessProcess

GONE_GRACE_SECONDS = 3.0
"""How long after its last event a session whose process is gone is left alone: its last hooks may still be writing."""

_STARTED_FIELD = 19
"""Place of the start time behind the `)` of /proc/PID/stat, which is field 22 of proc(5)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that seems over: `why` is `idle` or `process-gone`."""

    spool: str
    session_id: str
    last_event: str
    why: str


@dataclass(slots=True)
class _Activity:
    last_event: str
    at: float
    process: HarnessProcess | None


class Sessions:
    """Safe from any thread. Times are monotonic seconds."""

    def __init__(self, *, idle_seconds: float, proc: Path = Path("/proc")) -> None:
        self._idle_seconds = idle_seconds
        self._proc = proc
        self._namespace = _namespace(proc)
        self._lock = threading.Lock()
        self._active: dict[tuple[str, str], _Activity] = {}

    def moved(
        self, spool: str, session_id: str, last_event: str, *, at: float, process: HarnessProcess | None = None
    ) -> None:
        """Note that a session recorded something at `at`; `last_event` names it, so that one end is told once."""
        with self._lock:
            known = self._active.get((spool, session_id))
            if process is None and known is not None:
                process = known.process
            self._active[spool, session_id] = _Activity(last_event, at, process)

    def over(self, now: float) -> list[Ended]:
        """Return the sessions that have come to an end, until `told` of it. `idle_seconds` of 0 leaves only gone
        processes."""
        ended = []
        with self._lock:
            for (spool, session_id), activity in self._active.items():
                why = self._why(activity, now)
                if why:
                    ended.append(Ended(spool, session_id, activity.last_event, why))
        return ended

    def told(self, ended: Ended) -> None:
        """Watch over a session no more whose end is in the queue now; one that has gone on since is watched still."""
        with self._lock:
            known = self._active.get((ended.spool, ended.session_id))
            if known is not None and known.last_event == ended.last_event:
                del self._active[ended.spool, ended.session_id]

    def knows(self, spool: str, session_id: str) -> bool:
        """Whether a session is watched."""
        with self._lock:
            return (spool, session_id) in self._active

    def count(self) -> int:
        """Return how many sessions are watched."""
        with self._lock:
            return len(self._active)

    def _why(self, activity: _Activity, now: float) -> str:
        if self._idle_seconds > 0 and now - activity.at >= self._idle_seconds:
            return "idle"
        if activity.process is not None and now - activity.at >= GONE_GRACE_SECONDS and self._is_gone(activity.process):
            return "process-gone"
        return ""

    def _is_gone(self, process: HarnessProcess) -> bool:
        """Whether the process has ended, or its number belongs to another one by now."""
        if process.namespace and process.namespace != self._namespace:
            return False  # an agent in a container: its numbers mean nothing here
        try:
            with open(self._proc / str(process.pid) / "stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            return int(fields[_STARTED_FIELD]) != process.started
        except FileNotFoundError:
            return os.path.isdir(self._proc / "self")
        except (OSError, ValueError, IndexError):
            return False


def _namespace(proc: Path) -> str:
    """Return the name of our own process-number space, empty where the system tells none."""
    try:
        return os.readlink(proc / "self" / "ns" / "pid")
    except OSError:
        return ""
