"""Ingest: from waiting handoffs to committed evidence and to jobs. One thread runs it, so every claim has one owner.

Records are unlinked after the commit that holds them. Flushes stay as `.running` until their job is over. What cannot
be read (claiming.py) or stored costs its neighbours nothing.
"""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daemon.forgetting import trouble as forgetting_trouble
from daemon.forgetting.tombstones import UnreadableTombstones
from daemon.intake import spool_codes, spool_trouble
from daemon.intake.claiming import OF_THE_STORES, Claimed, Claiming, kind_of
from daemon.intake.events import Events
from daemon.intake.flush_requests import FlushRequests, give_back, safe_name
from daemon.intake.flush_sightings import FlushSightings
from daemon.intake.grace import Grace
from daemon.intake.in_hand import InHand
from daemon.intake.served import Served
from daemon.intake.sessions import Sessions
from daemon.intake.spool import Spool, Waiting
from daemon.intake.suspects import Suspects
from daemon.intake.transcripts import Transcripts
from daemon.intake.unlinking import Unlinking
from daemon.pause_spans import Span
from daemon.status.findings import Findings
from jobs.delivery import checkpoint_job
from jobs.queue.contract import JobQueue
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.record import UNKNOWN_SESSION
from memsyncd.packets import checkpoint as selection

BATCH = 100
"""Handoffs per evidence transaction: measured at 18,000 a second with full sync (measured.md, Claims and SQLite)."""

BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends early beyond this, so that large handoffs do not add up in memory."""

_OF_A_ROW = (sqlite3.DataError, sqlite3.IntegrityError)
"""Causes with which SQLite refuses a row it cannot hold, as a text beyond its limit, though the store is sound."""


@dataclass
class Ingest:
    """Works through the served spools. `resolve` tells a directory's scope, `is_excluded` whether nothing of it is
    captured, `pauses_of` when its project is or was paused; `on_event(kind, **fields)` tells observers, without texts.
    `on_stored`, if anybody asks, is given the events of a commit that brought something new; `is_forgotten` tells of a
    session, a repository and a time of capture whether it was forgotten since. `home` is the user's, whose transcripts
    are read; without it none are."""

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
    transcripts: Transcripts = field(init=False)
    _suspects: Suspects = field(init=False)
    _events: Events = field(init=False)
    _claiming: Claiming = field(init=False)
    _sightings: FlushSightings = field(init=False)
    _answered: set[tuple[str, str]] = field(default_factory=set)
    _unlinking: Unlinking = field(default_factory=Unlinking)
    on_stored: Callable[[Spool, Sequence[NewEvent]], None] | None = None
    is_forgotten: Callable[..., bool] = lambda **_: False
    pauses_of: Callable[[str], Sequence[Span]] = lambda _: ()
    home: Path | None = None
    in_hand: InHand = field(default_factory=lambda: InHand(None))

    def __post_init__(self) -> None:
        self.grace = Grace(self.clock)
        self._suspects = Suspects(self.grace, self.in_hand, self.counters, self.findings, self.on_event)
        self.requests = FlushRequests(self.queue, self.counters, self.on_event)
        self._sightings = FlushSightings(self.clock)
        self._events = Events(self.clock, self.counters, self.resolve, self.is_excluded, self.pauses_of)
        self.transcripts = Transcripts(
            self.clock, self.counters, self.findings, self.is_excluded, self.pauses_of, self.home
        )
        self._claiming = Claiming(
            self.clock,
            self.counters,
            self.grace,
            self._suspects,
            self._events,
            self.transcripts,
            self.in_hand,
            self.is_forgotten,
        )

    def scan(self, *, stopping: Callable[[], bool] = lambda: False) -> int:
        """Take in everything that waits in every spool; return how many handoffs were."""
        taken = 0
        self.clock.look()
        self.requests.settle()
        spools = self.served.spools()
        names = {spool.name for spool in spools}
        self._suspects.keep_spools(names)
        self.transcripts.waits.keep_spools(names)
        self._claiming.rehomed.clear()
        for spool in spools:
            taken += self._scan_spool(spool, stopping)
        for spool in spools:
            if spool.name in self._claiming.rehomed:  # one that is not served yet is found by its directory
                taken += self._scan_spool(spool, stopping)
        if not stopping():
            self.in_hand.scanned()
        return taken

    def passed_over(self, spool: Spool) -> Collection[str]:
        """Return the stems of what lies in a spool and cannot be taken in, or is no handoff. Safe from any thread."""
        return self._suspects.passed_over(spool.name)

    def _scan_spool(self, spool: Spool, stopping: Callable[[], bool]) -> int:
        taken = 0
        try:
            store = self._store(spool)
            waiting = self._to_take(spool, store)
            if store is None:
                self._put_off(spool)  # what waits goes on waiting
                return 0
            while waiting and not stopping():
                batch = _next_batch(waiting)
                del waiting[: len(batch)]
                taken += self._take(spool, store, batch)
            self._unlinking.settle()
            self._checkpoint_answered(spool, store)
            spool_trouble.over(self.findings, spool.path)
        except UnreadableTombstones as error:
            self._put_off(spool)
            forgetting_trouble.tell(self.findings, error)
        except OF_THE_STORES as error:
            # claimed files were given back: the next scan, in 15 s at the latest, tries again (never-again 54)
            self._put_off(spool)
            if spool_trouble.tell(self.findings, spool.path, error, otherwise=spool_codes.READ_ONLY):
                self.on_event("spool-failed", spool=spool.name, error=spool_trouble.words(error))
        return taken

    def _put_off(self, spool: Spool) -> None:
        """Call for no look at a spool before its next scan."""
        self._suspects.put_off(spool.name)
        self.transcripts.waits.keep(spool.name, ())

    def _store(self, spool: Spool) -> EvidenceStore | None:
        """Return a spool's evidence store, None while it cannot be opened."""
        try:
            return self.served.store(spool.name)
        except KeyError:
            return None

    def _to_take(self, spool: Spool, store: EvidenceStore | None) -> list[Waiting]:
        """Return what waits; a pause keeps it young instead. Suspects that are gone are forgotten."""
        if spool.own and store is not None:
            self.transcripts.pass_over_pauses(spool, store)
        if spool.own and spool.paused.exists():
            spool.refresh()
            waiting = []
        else:
            waiting = spool.waiting()
        spool.check_writable()
        stems = {entry.stem for entry in waiting}
        self._suspects.keep(spool.name, stems)
        self.transcripts.waits.keep(spool.name, stems)
        return waiting

    def _take(self, spool: Spool, store: EvidenceStore, batch: Sequence[Waiting]) -> int:
        claimed: list[Claimed] = []
        self.transcripts.begin_batch()
        try:
            for waiting in batch:
                one = self._claiming.claim(spool, store, waiting)
                if one is not None:
                    claimed.append(one)
            return self._settle(spool, store, claimed)
        except OF_THE_STORES:
            self.requests.drop(spool, {one.waiting.stem for one in claimed})
            for one in claimed:
                give_back(spool, one.waiting.stem)
            raise
        finally:
            self._events.end_batch()
            self.in_hand.put_down()

    def _settle(self, spool: Spool, store: EvidenceStore, claimed: Sequence[Claimed]) -> int:
        """Record and ask for what was claimed; return how many handoffs were taken.

        Where that fails for a reason that is not the store's or the queue's, one of the handoffs is at fault: they are
        settled one by one, and it is a suspect. Raises OSError, EvidenceError and QueueError; all may be given back.
        """
        try:
            self._record(spool, store, claimed)
            self.requests.ask(spool, store, [one.taken for one in claimed if one.taken.handoff.is_flush])
        except Exception as error:
            of_them = isinstance(error.__cause__, _OF_A_ROW)
            if isinstance(error, OF_THE_STORES) and not of_them:
                raise
            self.requests.drop(spool, {one.waiting.stem for one in claimed})
            if len(claimed) > 1:
                return sum(self._settle(spool, store, [one]) for one in claimed)
            self._claiming.set_apart(spool, claimed[0].waiting, kind_of(error.__cause__ if of_them else error))
            return 0
        self._sightings.note(spool.name, store, [one.taken.handoff for one in claimed])
        for one in claimed:
            self.grace.forget(spool.name, one.waiting.stem)
        self._finish_records(spool, [one.waiting.stem for one in claimed if not one.taken.handoff.is_flush])
        return len(claimed)

    def _record(self, spool: Spool, store: EvidenceStore, claimed: Sequence[Claimed]) -> None:
        events = [event for one in claimed for event in one.events]
        transcripts = [one.transcript for one in claimed if one.transcript is not None]
        if not events and not transcripts:
            return
        appended = store.append(events, transcripts)
        if not events:
            return
        self.counters.add("events_recorded", appended.inserted)
        self.counters.add("events_repeated", appended.duplicates)
        self.on_event("evidence-recorded", spool=spool.name, events=appended.inserted, repeated=appended.duplicates)
        self._after_commit(spool, claimed)
        if self.on_stored is not None and appended.inserted:
            self.on_stored(spool, events)
        self._answered |= {(spool.name, session_id) for session_id in appended.answered}

    def _after_commit(self, spool: Spool, claimed: Sequence[Claimed]) -> None:
        now = self.clock.monotonic()
        for one in claimed:
            for event in one.events:
                if event.session_id != UNKNOWN_SESSION:  # which is nobody's session: its end calls for nothing
                    process = one.taken.handoff.process
                    self.sessions.moved(spool.name, event.session_id, event.handoff_id, at=now, process=process)

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
