"""One spool's telemetry emptied into the endpoint: the live file, then a few parked claims (facts 12.10-12.20)."""

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.platforms.platform import Cancelled, PlatformError
from memsyncd.telemetry.claim_file import ClaimLost, Door, new_owner, take_expired, take_live, take_parked
from memsyncd.telemetry.claims import EXPIRED, KEPT_SECONDS
from memsyncd.telemetry.disk import Disk
from memsyncd.telemetry.emptying import Emptying, Outlet, Settled, count_events
from memsyncd.telemetry.listing import Listing, look

MAX_PARKED_TRIED = 3
"""Parked claims in one run (facts 12.18)."""

MAX_PARKED = 256
MAX_PARKED_BYTES = 4 * 1024 * 1024
"""While more lies parked, the live spool is left alone: it has a bound of its own, and counts what is beyond."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What became of a run over one spool.

    `failure` is the endpoint's and ends the whole run, as does `is_stopped`; `trouble` is the disk's, in a sentence.
    `more` tells that parked claims are left which could go at once.
    """

    delivered: int = 0
    failure: PlatformError | None = None
    trouble: str = ""
    is_stopped: bool = False
    more: bool = False


class Drain:
    """Empties telemetry spools; one for the daemon's life.

    What was delivered and could not be written down stays in its hands, locked, and is written down by a later run
    before anything else is sent: so a full disk makes no duplicates (facts 12.14). What cannot be sent goes after
    `kept_seconds`.
    Counters, of events: `telemetry_delivered`, `telemetry_rejected`, `telemetry_expired`, `telemetry_corrupt`,
    `telemetry_incomplete`, `telemetry_too_large`,
    `telemetry_not_allowed`; of claims that another sender took: `telemetry_claims_lost`; of
    files set aside and gone: `telemetry_swept`.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        counters: Counters,
        disk: Disk | None = None,
        new_owner: Callable[[], str] = new_owner,
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        self._door = Door(disk or Disk(), clock.wall, new_owner, kept_seconds)
        self._counters = counters
        self._unsaved: dict[str, Settled] = {}
        self._failed: dict[Path, int] = {}
        self._failures = itertools.count(1)

    def in_order(self, directories: Sequence[Path]) -> Sequence[Path]:
        """Return the directories, those first whose failure is longest ago: none waits behind a bad one for ever."""
        return sorted(directories, key=lambda directory: self._failed.get(directory, 0))

    def run(self, directory: Path, outlet: Outlet) -> Drained:
        """Send what is spooled in `directory`, until the endpoint fails. Nothing on the disk makes it raise."""
        spool = os.fspath(directory)
        try:
            self._save(spool)
            listing = look(self._door, spool, self._counters)
        except OSError as failure:
            return Drained(trouble=_words(failure))
        drained = self._drain(spool, listing, outlet)
        if drained.failure is not None and not isinstance(drained.failure, Cancelled):
            self._failed[directory] = next(self._failures)
        return drained

    def close(self) -> None:
        """Let go of what is held; its lease runs out and it is sent again."""
        while self._unsaved:
            self._unsaved.popitem()[1].claim.close()

    def _save(self, spool: str) -> None:
        """Write down what was settled in an earlier run. Raises OSError if it cannot be written down still."""
        settled = self._unsaved.get(spool)
        if settled is None:
            return
        try:
            settled.save()
            if settled.claim.is_open:
                settled.claim.release(counts=False)
        except ClaimLost:
            self._counters.add("telemetry_claims_lost")
        settled.claim.close()
        del self._unsaved[spool]

    def _drain(self, spool: str, listing: Listing, outlet: Outlet) -> Drained:
        """Expire what has had its time; send the live spool, and then parked claims, oldest first (facts 12.18)."""
        drained = Drained()
        for file in listing.expired:
            drained = self._expire(spool, file, drained)
        has_room = listing.parked < MAX_PARKED and listing.parked_bytes < MAX_PARKED_BYTES
        if has_room:
            drained, _ = self._try(spool, None, outlet, drained)
        tried = 0
        for file in listing.stale:
            if drained.failure is not None or drained.is_stopped or spool in self._unsaved:
                return drained
            if tried == MAX_PARKED_TRIED:
                return replace(drained, more=True)
            drained, was_ours = self._try(spool, file, outlet, drained)
            tried += was_ours
        return replace(drained, more=not has_room and tried > 0)

    def _try(self, spool: str, file: str | None, outlet: Outlet, drained: Drained) -> tuple[Drained, bool]:
        """Claim a parked file, None for the live one, and send it; return also whether it could be claimed."""
        try:
            claim = take_live(self._door, spool) if file is None else take_parked(self._door, spool, file)
        except OSError as failure:
            return _troubled(drained, failure), False
        if claim is None:
            return drained, False
        emptied = Emptying(claim, outlet, self._counters, self._door).run()
        if emptied.unsaved is not None:
            self._unsaved[spool] = emptied.unsaved
        drained = replace(
            drained,
            delivered=drained.delivered + emptied.delivered,
            failure=emptied.failure,
            is_stopped=emptied.is_stopped,
        )
        return (drained if emptied.trouble is None else _troubled(drained, emptied.trouble)), True

    def _expire(self, spool: str, file: str, drained: Drained) -> Drained:
        try:
            claim = take_expired(self._door, spool, file)
            if claim is not None:
                try:
                    events = count_events(claim.read())
                    claim.set_aside(EXPIRED)
                    self._counters.add("telemetry_expired", events)
                finally:
                    claim.close()
        except ClaimLost:
            pass
        except OSError as failure:
            return _troubled(drained, failure)
        return drained


def _troubled(drained: Drained, failure: OSError) -> Drained:
    return replace(drained, trouble=drained.trouble or _words(failure))


def _words(failure: OSError) -> str:
    return f"telemetry's files cannot be read or written ({failure.strerror or type(failure).__name__})"
