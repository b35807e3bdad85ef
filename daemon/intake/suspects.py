"""Files that are no handoffs, or not yet, or cannot be moved: each costs only itself, and none is deleted."""

from collections.abc import Callable, Collection

from daemon.intake.document import MAX_BYTES
from daemon.intake.grace import Grace
from daemon.intake.in_hand import MOST_DEATHS, InHand
from daemon.intake.spool import CLAIMED, EXPIRY_SECONDS, WAITING, Spool, Waiting
from daemon.status.findings import Findings
from memsyncd.counters import Counters

OUTGROWN = "too large for the memory the daemon may use: raise its limit (MemoryMax of its unit, ulimit) and retry it"
"""A reason is told as it is by `jobs list`."""


NO_MEMORY = "there was no memory left to take this in"


class Suspects:
    """Used by the one thread that owns the spools. Whatever is set aside is counted and told to `on_event`."""

    def __init__(
        self, grace: Grace, in_hand: InHand, counters: Counters, findings: Findings, on_event: Callable[..., None]
    ) -> None:
        self._grace = grace
        self._in_hand = in_hand
        self._counters = counters
        self._findings = findings
        self._on_event = on_event
        self._left: dict[tuple[str, str], str] = {}

    def keep(self, spool: str, stems: Collection[str]) -> None:
        """Forget what of a spool is not among the `stems` that wait any more."""
        self._grace.keep(spool, stems)
        self._forget([each for each in self._left if each[0] == spool and each[1] not in stems])

    def keep_spools(self, spools: Collection[str]) -> None:
        """Forget what was in spools that are served no more."""
        self._grace.keep_spools(spools)
        self._forget([each for each in self._left if each[0] not in spools])

    def put_off(self, spool: str) -> None:
        """Call for no look at a spool's suspects before its next scan: what ended this one has to go first. Their grace
        begins anew."""
        self._grace.keep(spool, ())

    def is_beyond_limits(self, spool: Spool, waiting: Waiting, age: float) -> bool:
        """Give up a file that is too large, that the daemon does not survive or that, at `age` seconds, has waited too
        long; tell whether it was."""
        if self._in_hand.is_deadly(spool.name, waiting.stem):
            self.outgrown(spool, waiting, f"the daemon died {MOST_DEATHS} times while it took this in", suffix=WAITING)
            self._in_hand.forget()
            return True
        if waiting.size > MAX_BYTES:
            why, detail = "oversized", f"{waiting.size} bytes, the limit is {MAX_BYTES}"
        elif age > EXPIRY_SECONDS:
            why, detail = "expired", f"waited {age / 86_400:.1f} days"
        else:
            return False
        if spool.bury(waiting.stem, why, detail, suffix=WAITING):
            self.lost(f"handoffs_{why}", spool, waiting.stem)
        return True

    def outgrown(self, spool: Spool, waiting: Waiting, detail: str, *, suffix: str = CLAIMED) -> None:
        """Give up a file for which the daemon has not memory enough: what stands behind it is not to wait for that."""
        told = f"{detail}; it has {waiting.size} bytes"
        if spool.bury(waiting.stem, OUTGROWN, told, suffix=suffix):
            self.lost("handoffs_outgrown", spool, waiting.stem)

    def suspect(self, spool: Spool, waiting: Waiting, why: str) -> None:
        """Set a claimed file aside once nobody writes to it any more; until then it waits as it was. One for which
        there was no memory may be a sound handoff, and is given up rather than called none."""
        if not self._grace.is_over(spool.name, waiting):
            spool.give_back(waiting.stem)
            return
        if why == NO_MEMORY:
            self.outgrown(spool, waiting, why)
        elif spool.quarantine(waiting.stem, why):
            self.lost("handoffs_corrupt", spool, waiting.stem)
        self._grace.forget(spool.name, waiting.stem)

    def leave(self, spool: Spool, stem: str, error: OSError) -> None:
        """Leave a file that can be neither claimed nor set aside where it is, and show it. Raises `error` where it is
        not a single file's."""
        if not spool.is_of_one_file(error):
            raise error
        self._grace.forget(spool.name, stem)
        where = self._left[spool.name, stem] = f"{spool.pending}/{stem}{WAITING}"
        self._findings.report("odd-file", where, error.strerror or str(error))

    def passed_over(self, spool: str) -> Collection[str]:
        """Return the stems of what of a spool is not taken in for a reason of its own: it is in its grace, or it stays
        where it is and is told of. Safe from any thread."""
        return self._grace.stems(spool) | {stem for name, stem in list(self._left) if name == spool}

    def lost(self, counter: str, spool: Spool, stem: str) -> None:
        """Count and tell a handoff that was set aside."""
        self._counters.add(counter)
        self._on_event(counter.replace("_", "-"), spool=spool.name, handoff=stem)

    def _forget(self, left: Collection[tuple[str, str]]) -> None:
        for each in left:
            self._findings.clear("odd-file", self._left.pop(each))
