"""What the fake hosted platform keeps: extraction events that ripen, and the memories made from them."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.fakes.mem0_filters import ENTITIES, matches

VANISHED = "VANISHED"


@dataclass
class Event:
    """An add that was committed. `fate` is SUCCEEDED, FAILED, STUCK (never ends) or VANISHED (the API forgot it)."""

    id: str
    body: Mapping[str, Any]
    at: float
    ripe_after: float
    ripe_polls: int
    fate: str = "SUCCEEDED"
    error: str = ""
    status: str = "PENDING"
    polls: int = 0
    ended_at: float = 0.0
    results: Sequence[Mapping[str, Any]] = ()

    def document(self) -> dict[str, Any]:
        """Return the event as the API shows it."""
        return {
            "id": self.id,
            "event_type": "ADD",
            "status": self.status,
            "payload": dict(self.body),
            "metadata": self.body.get("metadata") or {},
            "results": list(self.results),
            "created_at": iso(self.at),
            "updated_at": iso(self.ended_at or self.at),
            "started_at": iso(self.at),
            "completed_at": iso(self.ended_at) if self.ended_at else None,
            "latency": (self.ended_at - self.at) * 1000 if self.ended_at else None,
            "graph_status": None,
            "error": self.error or None,
        }


class Store:
    """Events and memories, all in memory. Not safe from threads: its owner holds a lock."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._numbers = itertools.count(1)
        self.events: dict[str, Event] = {}
        self.memories: dict[str, dict[str, Any]] = {}
        self._open: dict[str, Event] = {}

    def add(self, body: Mapping[str, Any], *, seconds: float, polls: int, fate: str, error: str) -> Event:
        """Commit an add; its extraction ends after `seconds` and `polls` questions."""
        identity = f"evt-{next(self._numbers):06d}"
        event = Event(identity, body, self._now(), seconds, polls, fate, error)
        self.events[identity] = self._open[identity] = event
        return event

    def add_at_once(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Store messages as they are (infer false)."""
        return self._make_memories(body)

    def ask(self, identity: str) -> Event | None:
        """Return an event as a question finds it."""
        event = self.events.get(identity)
        if event is None or event.fate == VANISHED:
            return None
        event.polls += 1
        if identity in self._open:
            self._ripen(event, self._now(), at_once=False)
        return event

    def newest_events(self) -> list[Event]:
        """Return the listing."""
        self.ripen()
        return [event for event in reversed(self.events.values()) if event.fate != VANISHED]

    def ripen(self, *, now: float | None = None) -> None:
        """End the extractions that are due; `now` in the far future ends all that can end."""
        for event in [*self._open.values()]:
            self._ripen(event, self._now() if now is None else now, at_once=now is not None)

    def _ripen(self, event: Event, moment: float, *, at_once: bool) -> None:
        if not at_once and (moment - event.at < event.ripe_after or event.polls < event.ripe_polls):
            half_way = moment - event.at >= event.ripe_after / 2 and event.polls * 2 >= event.ripe_polls
            event.status = "RUNNING" if half_way else "PENDING"
        elif event.fate not in ("SUCCEEDED", "FAILED"):
            event.status = "RUNNING"
        else:
            del self._open[event.id]
            event.status, event.ended_at = event.fate, self._now()
            event.results = self._make_memories(event.body) if event.fate == "SUCCEEDED" else ()

    def search(self, query: str, filters: Mapping[str, Any], top_k: int) -> list[dict[str, Any]]:
        """Return the memories that share most words with `query`."""
        asked = words(query)
        scored = [
            {**memory, "score": len(asked & words(memory["memory"])) / max(1, len(asked))}
            for memory in self.matching(filters)
        ]
        return sorted((one for one in scored if one["score"] > 0), key=lambda one: -one["score"])[:top_k]

    def matching(self, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the memories that match, newest first."""
        self.ripen()
        return [memory for memory in reversed(self.memories.values()) if matches(filters, memory)]

    def _make_memories(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One memory for each user message; exact repeats within the same scope are skipped, as the API does."""
        scope = {entity: body.get(entity) for entity in ENTITIES}
        made = []
        for message in body["messages"]:
            text = str(message["content"])[:500]
            same = any(m["memory"] == text and all(m[e] == scope[e] for e in ENTITIES) for m in self.memories.values())
            if message["role"] != "user" or same:
                continue
            identity = f"mem-{next(self._numbers):06d}"
            self.memories[identity] = {
                "id": identity,
                "memory": text,
                **scope,
                "metadata": dict(body.get("metadata") or {}),
                "categories": ["project_knowledge"],
                "created_at": iso(self._now()),
                "updated_at": iso(self._now()),
                "expiration_date": None,
            }
            made.append({"id": identity, "data": {"memory": text}, "event": "ADD"})
        return made


def iso(seconds: float) -> str:
    """Return Unix `seconds` as the API writes times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def words(text: str) -> set[str]:
    """Return the words of a text, which is all that the fakes understand of it."""
    return set(re.findall(r"\w+", text.lower()))
