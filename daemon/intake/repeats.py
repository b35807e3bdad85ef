"""Tells a repeated hook from a repeated prompt where the harness gives neither an id (CONTRACT "Same event twice")."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memsyncd.clock import from_rfc3339
from memsyncd.evidence.event import Event
from memsyncd.evidence.store import EvidenceStore

SAME_EVENT_SECONDS = 2.0
"""Two deliveries of the same content without an id this close together are one event (CONTRACT "Said precisely")."""

REMEMBERED = 1_000
"""Contents remembered; the one recorded longest ago goes first."""

SESSIONS = 10_000
"""Sessions whose stored events were looked at; beyond, they are looked at anew."""


BESIDES = frozenset({"unfamiliar", "unfamiliar_keys", "relative_path"})
"""What a payload holds beside its content: what only one of two hooks may tell, and what follows from the rest."""


def digest(kind: str, agent_id: str, payload: Mapping[str, Any]) -> str:
    """Name an event's content. `payload` is redacted, as it is stored, so that what is stored has the same name."""
    told = {key: value for key, value in payload.items() if key not in BESIDES}
    content = json.dumps(told, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(f"{kind}\0{agent_id}\0{content}".encode()).hexdigest()[:24]


@dataclass(slots=True)
class Repeats:
    """The last times each content was recorded. Of a session that an earlier run of the daemon recorded, what is
    stored is read once: the first of two deliveries may have been its last deed."""

    _at: dict[tuple[str, str, str], tuple[float, str | None]] = field(default_factory=dict)
    _read: set[tuple[str, str]] = field(default_factory=set)

    def read(self, spool: str, session_id: str, store: EvidenceStore) -> None:
        """Remember what is stored of a session; once. Raises EvidenceError."""
        if (spool, session_id) in self._read:
            return
        last = store.last_event(session_id)
        if last is not None:
            for event in itertools.chain(store.iterate_unflushed(session_id), (last,)):
                self._remember(spool, event)
        if len(self._read) >= SESSIONS:
            self._read.clear()
        self._read.add((spool, session_id))

    def key(self, spool: str, session_id: str, content: str, *, captured_at: float, handoff_id: str) -> str | None:
        """Return the key that two deliveries of one event share, or None where an earlier run has recorded it."""
        identity = (spool, session_id, content)
        last = self._at.get(identity)
        if last is not None and abs(captured_at - last[0]) <= SAME_EVENT_SECONDS:
            return last[1]
        key = f"{content}@{handoff_id}"
        self._note(identity, captured_at, key)
        return key

    def _remember(self, spool: str, event: Event) -> None:
        moment = from_rfc3339(event.created_at)
        if moment is not None:
            agent_id = event.payload.get("agent_id")
            name = digest(event.kind, agent_id if isinstance(agent_id, str) else "", event.payload)
            self._note((spool, event.session_id, name), moment, None)

    def _note(self, identity: tuple[str, str, str], moment: float, key: str | None) -> None:
        self._at[identity] = (moment, key)
        while len(self._at) > REMEMBERED:
            del self._at[next(iter(self._at))]
