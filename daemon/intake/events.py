"""From the records of a handoff to the events that are stored: where each belongs, redacted, and each told once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from daemon.intake import exclusion_noted
from daemon.intake.repeats import Repeats, digest
from daemon.intake.spool import Spool
from daemon.pause_spans import ALWAYS, Span, covers
from memsyncd.clock import Clock, from_rfc3339, rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.handoff import Handoff
from memsyncd.hooks.record import Record
from memsyncd.packets.tool_use import KINDS, relative
from memsyncd.redaction import RememberingRedactor, redact_value


@dataclass(slots=True)
class Events:
    """Used by the one thread that owns the spools. `resolve` tells a directory's scope, `is_excluded` whether nothing
    of it is captured, `pauses_of` when nothing is or was."""

    clock: Clock
    counters: Counters
    resolve: Callable[[str], Scope]
    is_excluded: Callable[[str], bool]
    pauses_of: Callable[[str], Sequence[Span]] = lambda _: ()
    redact: RememberingRedactor = field(default_factory=RememberingRedactor)
    _repeats: Repeats = field(default_factory=Repeats)
    _scopes: dict[str, Scope] = field(default_factory=dict)
    _held_back: dict[str, Sequence[Span]] = field(default_factory=dict)

    def end_batch(self) -> None:
        """Forget directories and texts: within a batch, which is read in an instant, each is looked at once."""
        self._scopes.clear()
        self._held_back.clear()
        self.redact.forget()

    def of(
        self, handoff: Handoff, records: Sequence[Record], spool: Spool, store: EvidenceStore, *, left_at: float
    ) -> tuple[NewEvent, ...]:
        """Return what is to be stored of a handoff that was left at `left_at`, Unix seconds, unless it tells a time by
        itself. Raises EvidenceError, and whatever an odd handoff provokes."""
        captured = from_rfc3339(handoff.captured_at)
        events = []
        for index, record in enumerate(records):
            is_noted = exclusion_noted.covers(handoff, record.cwd)
            if is_noted or self._is_held_back(record, left_at if captured is None else captured):
                self.counters.add("events_excluded")
                continue
            if not store.own:
                continue  # a plugin records the last answer of a session by itself (facts 1.26)
            if record.cwd not in self._scopes:
                self._scopes[record.cwd] = self.resolve(record.cwd)
            self._repeats.read(spool.name, record.session_id, store)
            event = self._event(handoff, index, record, spool)
            if event is None:
                self.counters.add("events_repeated")
            else:
                events.append(event)
        return tuple(events)

    def _is_held_back(self, record: Record, captured_at: float) -> bool:
        """Whether nothing of a record's directory is captured, or was when it was captured or said."""
        if record.cwd not in self._held_back:
            is_excluded = self.is_excluded(record.cwd)
            self._held_back[record.cwd] = ALWAYS if is_excluded else self.pauses_of(record.cwd)
        spans = self._held_back[record.cwd]
        said = from_rfc3339(record.captured_at) if spans and record.captured_at else None
        return covers(spans, captured_at) or (said is not None and covers(spans, said))

    def _event(self, handoff: Handoff, index: int, record: Record, spool: Spool) -> NewEvent | None:
        """Return a record as an event; None where an earlier run of the daemon has recorded it."""
        captured = from_rfc3339(handoff.captured_at)
        moment = self.clock.wall() if captured is None else captured
        moment = min(moment, from_rfc3339(record.captured_at) or moment)
        told = dict(record.payload) | _place(record, self._scopes[record.cwd])
        payload = redact_value(told, self.redact)
        content = digest(record.kind, record.agent_id, payload)
        key: str | None
        if record.turn_id:
            # one turn may end more than once with different answers, so an answer's content is part of its name
            key = f"{record.kind}:{record.turn_id}:{record.agent_id}"
            key += f":{content}" if record.kind == "assistant_stop" else ""
        else:
            key = self._repeats.key(spool.name, record.session_id, content, captured_at=moment, handoff_id=handoff.id)
        if key is None:
            return None
        return NewEvent(
            session_id=record.session_id,
            kind=record.kind,
            payload=payload,
            created_at=rfc3339(moment),
            handoff_id=f"{handoff.id}#{index}" if index else handoff.id,
            scope=self._scopes[record.cwd],
            harness=handoff.harness or spool.harness,
            duplicate_key=key,
        )


def _place(record: Record, scope: Scope) -> dict[str, str]:
    """Return where in the repository a tool's file lies; told now, for the agent may move on (facts 9.9)."""
    path = record.payload.get("path")
    if record.kind not in KINDS or not isinstance(path, str) or not scope.root:
        return {}
    found = relative(path, scope.root)
    return {"relative_path": found} if found else {}
