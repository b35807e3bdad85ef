"""The last things that happened, with rising ids, for `GET /events`: kinds and counts, never anybody's text."""

import asyncio
import contextlib
import threading
from collections import deque
from typing import Any

from memsyncd.clock import Clock, rfc3339

KEPT = 1_000
"""Events kept; a reader that comes later is told of the gap."""


class Journal:
    """Safe from any thread; `following` is for the socket's own loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._events: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._next_id = 1
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def note(self, kind: str, **fields: Any) -> None:
        """Keep an event and tell those who wait for one."""
        at = self._clock.wall()
        with self._lock:
            self._events.append({"id": self._next_id, "at": at, "kind": kind, **fields})
            self._next_id += 1
            waiting = tuple(self._waiting)
        for loop, event in waiting:
            with contextlib.suppress(RuntimeError):  # its loop has just been closed
                loop.call_soon_threadsafe(event.set)

    def since(self, last_seen: int) -> dict[str, Any]:
        """Return the events after the id `last_seen`, and whether some between have been dropped."""
        with self._lock:
            events = [{**event, "at": rfc3339(event["at"])} for event in self._events if event["id"] > last_seen]
            first = self._events[0]["id"] if self._events else self._next_id
            unknown = last_seen >= self._next_id  # an id of an earlier daemon: its reader has missed what came since
            if unknown:
                events = [{**event, "at": rfc3339(event["at"])} for event in self._events]
        return {"events": events, "gap": unknown or last_seen + 1 < first}

    async def following(self, last_seen: int, wait_seconds: float) -> dict[str, Any]:
        """Return like `since`, after waiting up to `wait_seconds` for a first event."""
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiting.add(entry)
        try:
            answer = self.since(last_seen)
            if not answer["events"] and wait_seconds > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), wait_seconds)
                answer = self.since(last_seen)
            return answer
        finally:
            with self._lock:
                self._waiting.discard(entry)
