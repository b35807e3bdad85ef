"""Ingest: from waiting handoffs to committed evidence and to jobs. One thread runs it, so every claim has one owner.

Records are unlinked after the commit that holds them. Flushes stay as `.running` until their job is over. What does not
parse waits out its grace and is set aside whole; it costs its neighbours nothing.
"""

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from daemon.intake.document import MAX_BYTES, TornError, handoff_from
from daemon.intake.flush_requests import FlushRequests, Taken, give_back, safe_name
from daemon.intake.grace import Grace
from daemon.intake.repeats import Repeats, digest
from daemon.intake.served import Served
from daemon.intake.sessions import Sessions
from daemon.intake.spool import EXPIRY_SECONDS, WAITING, Spool, Waiting
from daemon.intake.unlinking import Unlinking
from daemon.status.findings import Findings
from jobs.delivery import checkpoint_job
from jobs.queue.contract import JobQueue
from jobs.queue.errors import QueueError
from memsyncd.clock import Clock, from_rfc3339, rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.adapters import records_for
from memsyncd.hooks.handoff import Handoff, HarnessProcess, NotAHandoffError
from memsyncd.hooks.record import UNKNOWN_SESSION, Record
from memsyncd.packets import checkpoint as selection
from memsyncd.redaction import redact, redact_value

BATCH = 100
"""Handoffs per evidence transaction: measured at 18,000 a second with full sync (measured.md, Claims and SQLite)."""

BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends early beyond this, so that large handoffs do not add up in memory."""

_UNREADABLE = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO})
"""The file itself, not the disk or the process, is at fault: another's, or no regular file any more."""


@dataclass
class Ingest:
    """Works through the served spools. `resolve` tells a directory's scope, `is_excluded` whether nothing of it is
    captured; `on_event(kind, **fields)` tells observers, without texts."""

    served: Served
    queue: JobQueue
    clock: Clock
    counters: Counters
    findings: Findings
    sessions: Sessions
    resolve: Callable[[str], Scope]
    is_excluded: Callable[[str], bool]
    on_event: Callable[..., None]
    grace: Grace = field(init=False)
    requests: FlushRequests = field(init=False)
    _repeats: Repeats = field(default_factory=Repeats)
    _answered: set[tuple[str, str]] = field(default_factory=set)
    _unlinking: Unlinking = field(default_factory=Unlinking)

    def __post_init__(self) -> None:
        self.grace = Grace(self.clock)
        self.requests = FlushRequests(self.queue, self.counters, self.on_event)

    def scan(self, *, stopping: Callable[[], bool] = lambda: False) -> int:
        """Take in everything that waits in every spool; return how many handoffs were."""
        taken = 0
        for spool in self.served.spools():
            taken += self._scan_spool(spool, stopping)
        return taken

    def _scan_spool(self, spool: Spool, stopping: Callable[[], bool]) -> int:
        taken = 0
        where = str(spool.path)
        try:
            waiting = self._to_take(spool)
            store = self._store(spool)
            if store is None:
                return 0  # what waits goes on waiting
            while waiting and not stopping():
                batch = _next_batch(waiting)
                del waiting[: len(batch)]
                taken += self._take(spool, store, batch)
            self._unlinking.settle()
            self._checkpoint_answered(spool, store)
            self.findings.clear("spool-read-only", where)
        except (OSError, EvidenceError, QueueError) as error:
            # claimed files were given back: the next scan, in 15 s at the latest, tries again (never-again 54)
            why = (isinstance(error, OSError) and error.strerror) or str(error)
            if self.findings.report("spool-read-only", where, why):
                self.on_event("spool-failed", spool=spool.name, error=why)
        return taken

    def _store(self, spool: Spool) -> EvidenceStore | None:
        """Return a spool's evidence store, None while it cannot be opened."""
        try:
            return self.served.store(spool.name)
        except KeyError:
            return None

    def _to_take(self, spool: Spool) -> list[Waiting]:
        """Return what waits; a pause keeps it young instead. Suspects that are gone are forgotten."""
        if spool.own and spool.paused.exists():
            spool.refresh()
            waiting = []
        else:
            waiting = spool.waiting()
        self.grace.keep(spool.name, [entry.stem for entry in waiting])
        return waiting

    def _take(self, spool: Spool, store: EvidenceStore, batch: Sequence[Waiting]) -> int:
        claimed: list[Taken] = []
        try:
            for waiting in batch:
                taken = self._claim(spool, waiting)
                if taken is not None:
                    claimed.append(taken)
            self._record(spool, store, claimed)
            self.requests.ask(spool, store, [taken for taken in claimed if taken.handoff.is_flush])
        except (OSError, EvidenceError, QueueError):
            self.requests.drop(spool, {taken.stem for taken in claimed})
            for taken in claimed:
                give_back(spool, taken.stem)
            raise
        self._finish_records(spool, [taken.stem for taken in claimed if not taken.handoff.is_flush])
        return len(claimed)

    def _claim(self, spool: Spool, waiting: Waiting) -> Taken | None:
        age = self.clock.wall() - waiting.changed_at
        if self._is_beyond_limits(spool, waiting, age):
            return None
        if self.grace.holds(spool.name, waiting) or not spool.claim(waiting.stem):
            return None
        handoff = self._read(spool, waiting)
        if handoff is None:
            return None
        self.grace.forget(spool.name, waiting.stem)
        if not handoff.is_flush and not self.served.store(spool.name).own:
            spool.bury(waiting.stem, "not-recorded", "events of a plugin's spool are written by the plugin alone")
            self._lost("handoffs_dead", spool, waiting.stem)
            return None
        return Taken(waiting.stem, handoff, records_for(handoff, spool.harness, redact=redact), age)

    def _is_beyond_limits(self, spool: Spool, waiting: Waiting, age: float) -> bool:
        """Give up a file that is too large or has waited too long; tell whether it was."""
        if waiting.size > MAX_BYTES:
            spool.bury(waiting.stem, "oversized", f"{waiting.size} bytes, the limit is {MAX_BYTES}", suffix=WAITING)
            self._lost("handoffs_oversized", spool, waiting.stem)
            return True
        if age > EXPIRY_SECONDS:
            spool.bury(waiting.stem, "expired", f"waited {age / 86_400:.1f} days", suffix=WAITING)
            self._lost("handoffs_expired", spool, waiting.stem)
            return True
        return False

    def _read(self, spool: Spool, waiting: Waiting) -> Handoff | None:
        """Return a claimed file's handoff; None where it is none, or not yet, or cannot be read at present."""
        try:
            return handoff_from(spool.read(waiting.stem), stem=safe_name(waiting.stem))
        except (TornError, NotAHandoffError) as error:
            self._suspect(spool, waiting, str(error))
        except FileNotFoundError:
            pass  # its writer withdrew it
        except OSError as error:
            if error.errno not in _UNREADABLE:
                give_back(spool, waiting.stem)
                raise
            self._suspect(spool, waiting, error.strerror or str(error))
        return None

    def _suspect(self, spool: Spool, waiting: Waiting, why: str) -> None:
        """Set aside what is no handoff once nobody writes to it any more; until then it waits as it was."""
        if self.grace.is_over(spool.name, waiting):
            spool.quarantine(waiting.stem, why)
            self.grace.forget(spool.name, waiting.stem)
            self._lost("handoffs_corrupt", spool, waiting.stem)
        else:
            spool.give_back(waiting.stem)

    def _lost(self, counter: str, spool: Spool, stem: str) -> None:
        self.counters.add(counter)
        self.on_event(counter.replace("_", "-"), spool=spool.name, handoff=stem)

    def _record(self, spool: Spool, store: EvidenceStore, claimed: Sequence[Taken]) -> None:
        events: list[NewEvent] = []
        scopes: dict[str, Scope] = {}  # a batch is read in an instant: each directory is looked at once
        processes: dict[str, HarnessProcess | None] = {}
        for taken in claimed:
            for index, record in enumerate(taken.records):
                if self.is_excluded(record.cwd):
                    self.counters.add("events_excluded")
                    continue
                if not store.own:
                    continue  # a plugin records the last answer of a session by itself (facts 1.26)
                if record.cwd not in scopes:
                    scopes[record.cwd] = self.resolve(record.cwd)
                self._repeats.read(spool.name, record.session_id, store)
                event = self._event(taken.handoff, index, record, spool, scopes[record.cwd])
                if event is None:
                    self.counters.add("events_repeated")
                    continue
                events.append(event)
                processes[record.session_id] = taken.handoff.process
        if not events:
            return
        appended = store.append(events)
        self.counters.add("events_recorded", appended.inserted)
        self.counters.add("events_repeated", appended.duplicates)
        self.on_event("evidence-recorded", spool=spool.name, events=appended.inserted, repeated=appended.duplicates)
        self._after_commit(spool, events, processes, appended.answered)

    def _after_commit(
        self,
        spool: Spool,
        events: Sequence[NewEvent],
        processes: dict[str, HarnessProcess | None],
        answered: frozenset[str],
    ) -> None:
        now = self.clock.monotonic()
        for event in events:
            if event.session_id != UNKNOWN_SESSION:  # which is nobody's session: its end calls for nothing
                self.sessions.moved(
                    spool.name, event.session_id, event.handoff_id, at=now, process=processes[event.session_id]
                )
        self._answered |= {(spool.name, session_id) for session_id in answered}

    def _checkpoint_answered(self, spool: Spool, store: EvidenceStore) -> None:
        """Look once, after all that waited, at the sessions with new answers: a backlog would else be read anew with
        every batch, beside workers that deliver what it has just grown by (docs/performance.md, Backlog)."""
        for name, session_id in sorted(self._answered):
            if name == spool.name:
                self.checkpoint_if_due(spool, store, session_id)
                self._answered.discard((name, session_id))

    def checkpoint_if_due(self, spool: Spool, store: EvidenceStore, session_id: str) -> None:
        """Queue a periodic checkpoint when a session's unsent evidence has reached a threshold (facts 3.2)."""
        if session_id == UNKNOWN_SESSION or store.open_packet(session_id) is not None:
            return
        due = selection.select(store.iterate_unflushed(session_id), forced=False)
        if due:
            key = f"{safe_name(session_id)}:{due[-1].id}"
            self.queue.enqueue(checkpoint_job(spool.name, session_id, key=key, reason="periodic"))

    def _event(self, handoff: Handoff, index: int, record: Record, spool: Spool, scope: Scope) -> NewEvent | None:
        """Return a record as an event; None where an earlier run of the daemon has recorded it."""
        captured = from_rfc3339(handoff.captured_at)
        moment = self.clock.wall() if captured is None else captured
        payload = redact_value(dict(record.payload))
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
            scope=scope,
            harness=handoff.harness or spool.harness,
            duplicate_key=key,
        )

    def _finish_records(self, spool: Spool, stems: Sequence[str]) -> None:
        self._unlinking.finish(spool, stems)
        self.counters.add("handoffs_recorded", len(stems))


def _next_batch(waiting: Sequence[Waiting]) -> Sequence[Waiting]:
    size = 0
    for count, entry in enumerate(waiting[:BATCH], start=1):
        size += entry.size
        if size > BATCH_BYTES:
            return waiting[:count]
    return waiting[:BATCH]
