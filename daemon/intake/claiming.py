"""A waiting handoff claimed and read, up to what is to be stored of it.

What does not parse, or no part of the way can digest, is a suspect: it waits out its grace and is set aside whole.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from daemon.intake import own_words
from daemon.intake.document import TornError, handoff_from
from daemon.intake.events import Events
from daemon.intake.flush_requests import Taken, give_back, safe_name
from daemon.intake.grace import Grace
from daemon.intake.in_hand import HEAVY_BYTES, InHand
from daemon.intake.rehoming import rehome
from daemon.intake.spool import Spool, Waiting
from daemon.intake.suspects import NO_MEMORY, Suspects
from daemon.intake.transcripts import Transcripts
from jobs.queue.errors import QueueError
from memsyncd.clock import Clock, from_rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent
from memsyncd.evidence.store import EvidenceStore
from memsyncd.evidence.transcript_offsets import TranscriptOffset
from memsyncd.hooks.adapters import records_for, understood
from memsyncd.hooks.handoff import Handoff, NotAHandoffError

OF_THE_STORES = (OSError, sqlite3.Error, QueueError)
"""Errors of disk, evidence (its EvidenceError is a sqlite3.Error) and queue: no handoff is to blame."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A handoff on its way: the file it was, what is to be stored of it, and how far its transcript is read then."""

    waiting: Waiting
    taken: Taken
    events: Sequence[NewEvent]
    transcript: TranscriptOffset | None = None


@dataclass(frozen=True)
class Claiming:
    """Used by the thread that owns the spools. `is_forgotten` tells of a session, a repository and a time of capture
    whether it was forgotten since. `rehomed` gathers the names of spools that got a handoff from another."""

    clock: Clock
    counters: Counters
    grace: Grace
    suspects: Suspects
    events: Events
    transcripts: Transcripts
    in_hand: InHand
    is_forgotten: Callable[..., bool]
    rehomed: set[str] = field(default_factory=set)

    def claim(self, spool: Spool, store: EvidenceStore, waiting: Waiting) -> Claimed | None:
        """Claim a handoff and make of it what is to be stored; None where it is none, or not yet, or another's."""
        stem = waiting.stem
        age = self.clock.age(waiting.changed_at)
        try:
            if self.suspects.is_beyond_limits(spool, waiting, age):
                return None
            if (
                self.grace.holds(spool.name, waiting)
                or self.transcripts.waits.holds(spool.name, stem)
                or self.in_hand.waits(spool.name, stem)
                or not spool.claim(stem)
            ):
                return None
            if waiting.size >= HEAVY_BYTES:
                self.in_hand.take(spool.name, stem)
        except OSError as error:
            self.suspects.leave(spool, stem, error)
            return None
        try:
            return self._read(spool, store, waiting, age)
        except MemoryError:
            self.set_apart(spool, waiting, NO_MEMORY)
        except OSError as error:
            give_back(spool, stem)
            self.suspects.leave(spool, stem, error)
        return None

    def _read(self, spool: Spool, store: EvidenceStore, waiting: Waiting, age: float) -> Claimed | None:
        """Return what a claimed file holds; None where it is no handoff, or not yet, or cannot be read. Raises OSError
        and EvidenceError, the file given back."""
        try:
            content = spool.read(waiting.stem)
        except FileNotFoundError:
            return None  # its writer withdrew it
        except OSError as error:
            if not spool.is_of_one_file(error):
                raise
            self.suspects.suspect(spool, waiting, error.strerror or str(error))
            return None
        try:
            handoff = self._handoff(spool, store, waiting, content)
            if handoff is None:
                return None
            records = records_for(handoff, spool.harness, redact=self.events.redact)
            whole = self.transcripts.complete(handoff, records, spool, store, waiting)
            if whole is None:
                give_back(spool, waiting.stem)
                return None
            found = self.events.of(handoff, whole.records, spool, store, left_at=waiting.changed_at)
            events = self._not_forgotten(handoff, waiting, found)
            return Claimed(waiting, Taken(waiting.stem, handoff, whole.records, age), events, whole.reached)
        except (TornError, NotAHandoffError) as error:
            self.suspects.suspect(spool, waiting, str(error))
        except OF_THE_STORES:
            give_back(spool, waiting.stem)
            raise
        except Exception as error:  # noqa: BLE001  (no handoff may end the thread, whatever it provokes)
            self.suspects.suspect(spool, waiting, kind_of(error))
        return None

    def _handoff(self, spool: Spool, store: EvidenceStore, waiting: Waiting, content: bytes) -> Handoff | None:
        """Return the handoff in a claimed file's bytes; None where it was handed on, or is nobody's to record."""
        told = handoff_from(content, stem=safe_name(waiting.stem))
        if own_words.is_to_be_cleaned(content):
            told = own_words.of_handoff(told)
        handoff = understood(told, spool.harness)
        if self._is_rehomed(spool, waiting.stem, told, handoff.harness):
            return None
        if not handoff.is_flush and not store.own:
            detail = "events of a plugin's spool are written by the plugin alone"
            if spool.bury(waiting.stem, "not-recorded", detail):
                self.suspects.lost("handoffs_dead", spool, waiting.stem)
            return None
        return handoff

    def _is_rehomed(self, spool: Spool, stem: str, told: Handoff, harness: str) -> bool:
        """Hand a handoff on to the spool of the harness it truly comes from, though the hook was another's."""
        is_misled = told.harness in ("", spool.harness) and harness != spool.harness
        target = rehome(spool, stem, harness) if is_misled and spool.own else None
        if target is None:
            return False
        self.rehomed.add(target.name)
        self.counters.add("handoffs_rehomed")
        return True

    def _not_forgotten(self, handoff: Handoff, waiting: Waiting, events: Sequence[NewEvent]) -> tuple[NewEvent, ...]:
        """Leave out what was captured, or said as a transcript tells, before its session or project was forgotten: a
        replay brings nothing back."""
        captured = from_rfc3339(handoff.captured_at)
        moment = waiting.changed_at if captured is None else captured

        def is_forgotten(event: NewEvent) -> bool:
            said = min(moment, from_rfc3339(event.created_at) or moment)
            return self.is_forgotten(session_id=event.session_id, repo_id=event.scope.repo_id, captured_at=said)

        left = tuple(event for event in events if not is_forgotten(event))
        if len(left) < len(events):
            self.counters.add("events_forgotten", len(events) - len(left))
        return left

    def set_apart(self, spool: Spool, waiting: Waiting, why: str) -> None:
        """Take a claimed handoff for a suspect; where not even that can be done it stays as it was."""
        try:
            self.suspects.suspect(spool, waiting, why)
        except OSError as error:
            give_back(spool, waiting.stem)
            self.suspects.leave(spool, waiting.stem, error)


def kind_of(error: BaseException | None) -> str:
    """Return an error's kind: its words may hold a handoff's."""
    return NO_MEMORY if isinstance(error, MemoryError) else type(error).__name__
