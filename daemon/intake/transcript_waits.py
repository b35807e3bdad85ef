"""Handoffs that wait for their transcript to be complete, and those of their sessions that wait behind them."""

from collections.abc import Collection
from dataclasses import dataclass

from daemon.intake.spool import Waiting
from memsyncd.clock import Clock

WAIT_SECONDS = 5.0
"""How long an answer is waited for. Claude Code, for one, writes its transcript beside its hooks (hooks-and-apis 1A); a
flush that ends a session may come that much later, and a session that is over has nobody waiting."""

LOOK_SECONDS = 0.5
"""How soon a transcript is looked at again."""


@dataclass(slots=True)
class _Wait:
    session_id: str
    since: float
    due: float
    is_first: bool
    is_looked_at: bool = False


class TranscriptWaits:
    """By spool and handoff. Time is monotonic. Used by the one thread that owns the spools."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits: dict[tuple[str, str], _Wait] = {}
        self._first: dict[tuple[str, str], str] = {}

    def holds(self, spool: str, stem: str) -> bool:
        """Whether a handoff's next look is still to come, so that it need not be opened; else that look is now."""
        wait = self._waits.get((spool, stem))
        if wait is not None and self._clock.monotonic() < wait.due:
            return True
        if wait is not None:
            wait.is_looked_at = True
        return False

    def is_behind(self, spool: str, session_id: str, stem: str) -> bool:
        """Whether an earlier handoff of its session waits; then this one does too, until that one's next look."""
        first = self._first.get((spool, session_id))
        if first is None or first == stem:
            return False
        ahead = self._waits[spool, first]
        self._waits[spool, stem] = _Wait(session_id, self._clock.monotonic(), ahead.due, is_first=False)
        return True

    def is_over(self, spool: str, waiting: Waiting, now: float) -> bool:
        """Whether a handoff has waited long enough, here or, by the wall clock `now`, before we came."""
        wait = self._waits.get((spool, waiting.stem))
        if wait is not None and wait.is_first and self._clock.monotonic() - wait.since >= WAIT_SECONDS:
            return True
        return now - waiting.changed_at >= WAIT_SECONDS

    def put_off(self, spool: str, session_id: str, stem: str) -> None:
        """Let a handoff wait for another look, and its session behind it."""
        now = self._clock.monotonic()
        known = self._waits.get((spool, stem))
        since = known.since if known is not None and known.is_first else now
        self._waits[spool, stem] = _Wait(session_id, since, now + LOOK_SECONDS, is_first=True)
        self._first[spool, session_id] = stem

    def forget(self, spool: str, stem: str) -> None:
        """Let a handoff, and what waits behind it, wait no more."""
        wait = self._waits.pop((spool, stem), None)
        if wait is not None and self._first.get((spool, wait.session_id)) == stem:
            del self._first[spool, wait.session_id]

    def keep(self, spool: str, stems: Collection[str]) -> None:
        """Forget what of a spool is not among the `stems` that wait any more."""
        for name, stem in [each for each in self._waits if each[0] == spool and each[1] not in stems]:
            self.forget(name, stem)

    @property
    def is_any(self) -> bool:
        """Whether a handoff waits."""
        return bool(self._waits)

    def keep_spools(self, spools: Collection[str]) -> None:
        """Forget what was in spools that are not among `spools` any more."""
        for spool in {name for name, _ in self._waits} - set(spools):
            self.keep(spool, ())

    def next_look_seconds(self) -> float | None:
        """Return how long until the first look that is due, or None where none is. One that was looked at and not put
        off again, for it could not be opened, waits for the scan that comes anyway."""
        due = [wait.due for wait in self._waits.values() if not wait.is_looked_at]
        return max(0.0, min(due) - self._clock.monotonic()) if due else None
