"""Keeps when a spool's hooks last asked for a flush, for a doctor who wants to know whether they still run."""

import contextlib
from collections.abc import Iterable

from daemon.intake.untold_end import UNTOLD
from memsyncd.clock import Clock, from_rfc3339
from memsyncd.evidence import flush_sightings
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.handoff import Handoff

OF_HOOKS = frozenset({"session-end", "pre-compact"})
"""The reasons that a harness's hooks give; the others are people's and the daemon's own."""

NOTED_SECONDS = 3600.0
"""One kept so lately is not kept again: days are what is asked for, and a handoff must not cost a transaction."""


class FlushSightings:
    """Used by the thread that owns the spools."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: dict[tuple[str, str], float] = {}

    def note(self, spool: str, store: EvidenceStore, handoffs: Iterable[Handoff]) -> None:
        """Keep what these handoffs show, in a store of ours. What cannot be kept is seen again with the next ones."""
        if not store.own:
            return
        now, wall = self._clock.monotonic(), self._clock.wall()
        seen: dict[str, float] = {}
        for each in handoffs:
            if each.is_flush and each.reason in OF_HOOKS and not each.id.startswith(UNTOLD):
                at = min(from_rfc3339(each.captured_at) or wall, wall)
                seen[each.reason] = max(at, seen.get(each.reason, 0.0))
        due = {reason: at for reason, at in seen.items() if self._is_due(spool, reason, now)}
        if not due and (spool, flush_sightings.BEGUN) in self._noted:
            return
        with contextlib.suppress(EvidenceError):  # the scan meets the same trouble, and tells of it
            store.note_flushes(due)
            self._noted |= {(spool, reason): now for reason in (flush_sightings.BEGUN, *due)}

    def _is_due(self, spool: str, reason: str, now: float) -> bool:
        noted = self._noted.get((spool, reason))
        return noted is None or now - noted >= NOTED_SECONDS
