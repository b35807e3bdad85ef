"""Handoffs: from any bytes to what is stored of them, by every adapter, and stored."""

import json
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from daemon.intake import own_words
from daemon.intake.document import TornError, handoff_from
from daemon.intake.events import Events
from daemon.intake.spool import Spool
from memsyncd.counters import Counters
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.adapters import ADAPTERS, directory_of, records_for, session_of, understood
from memsyncd.hooks.handoff import Handoff, NotAHandoffError
from memsyncd.scope.resolve import ScopeResolver
from tests.clocks import HandClock
from tests.fuzz import planted, seeds
from tests.fuzz.target import Target, TryOne

SPOOLS = sorted(ADAPTERS)

STORED_ANEW_AFTER = 20_000
"""Inputs after which the store is begun anew, so that it does not grow with the run."""


class _Intake:
    """One spool's way from bytes to rows."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._clock = HandClock().clock()
        self._resolve = ScopeResolver(place, {}).resolve
        self._inputs = 0
        self._begin()

    def _begin(self) -> None:
        self.path = self._place / f"evidence-{self._inputs}.sqlite3"
        self.store = EvidenceStore.open(self.path, own=True, clock=self._clock)
        self._events = Events(self._clock, Counters(), self._resolve, lambda directory: directory == "/excluded")

    def close(self) -> None:
        self.store.close()
        for path in self._place.glob(f"{self.path.name}*"):
            path.unlink()

    def try_one(self, content: bytes) -> None:
        content = planted.into(content)
        self._inputs += 1
        if self._inputs % STORED_ANEW_AFTER == 0:
            self.close()
            self._begin()
        try:
            told = handoff_from(content, stem="000001")
        except (TornError, NotAHandoffError) as error:
            planted.assert_absent(str(error))
            return
        if own_words.is_to_be_cleaned(content):
            told = own_words.of_handoff(told)
        by_chance = zlib.crc32(content)
        if by_chance % 4 == 0:
            told = replace(told, harness="")
        self._record(told, SPOOLS[by_chance % len(SPOOLS)])

    def _record(self, told: Handoff, harness: str) -> None:
        handoff = understood(told, harness)
        session_of(handoff)
        directory_of(handoff)
        spool = Spool(self._place / harness, harness, own=True)
        records = records_for(handoff, harness, redact=self._events.redact)
        events = self._events.of(handoff, records, spool, self.store, left_at=self._clock.wall())
        self._events.end_batch()
        for event in events:
            text = json.dumps(event.payload, ensure_ascii=False, allow_nan=False)
            planted.assert_absent(text)
        self.store.append(events)


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    with closing(_Intake(place)) as intake:
        yield intake.try_one


def words() -> tuple[bytes, ...]:
    """Return the names of fields, events and tools that adapters look for."""
    found: set[str] = set()
    for adapter in ADAPTERS.values():
        found |= adapter.known | set(adapter.events) | adapter.tools.files | adapter.tools.shells
    found |= {"memsyncd_oversized", "raw", "harness", "action", "hook_input", "unknown", "flush", *SPOOLS}
    return tuple(sorted(word.encode() for word in found))


TARGET = Target("handoffs", opened, seeds.handoffs, words(), share=6)
