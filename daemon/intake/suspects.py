"""Files that are no handoffs, or not yet, or cannot be moved: each costs only itself, and none is deleted."""

from collections.abc import Callable, Collection

from daemon.intake.document import MAX_BYTES
from daemon.intake.grace import Grace
from daemon.intake.spool import EXPIRY_SECONDS, WAITING, Spool, Waiting
from daemon.status.findings import Findings
from memsyncd.counters import Counters


class Suspects:
    """Used by the one thread that owns the spools. Whatever is set aside is counted and told to `on_event`."""

    def __init__(self, grace: Grace, counters: Counters, findings: Findings, on_event: Callable[..., None]) -> None:
        self._grace = grace
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
        """Give up a file that is too large or, at `age` seconds, has waited too long; tell whether it was."""
        if waiting.size > MAX_BYTES:
            why, detail = "oversized", f"{waiting.size} bytes, the limit is {MAX_BYTES}"
        elif age > EXPIRY_SECONDS:
            why, detail = "expired", f"waited {age / 86_400:.1f} days"
        else:
            return False
        if spool.bury(waiting.stem, why, detail, suffix=WAITING):
            self.lost(f"handoffs_{why}", spool, waiting.stem)
        return True

    def suspect(self, spool: Spool, waiting: Waiting, why: str) -> None:
        """Set a claimed file aside once nobody writes to it any more; until then it waits as it was."""
        if not self._grace.is_over(spool.name, waiting):
            spool.give_back(waiting.stem)
            return
        if spool.quarantine(waiting.stem, why):
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

    def lost(self, counter: str, spool: Spool, stem: str) -> None:
        """Count and tell a handoff that was set aside."""
        self._counters.add(counter)
        self._on_event(counter.replace("_", "-"), spool=spool.name, handoff=stem)

    def _forget(self, left: Collection[tuple[str, str]]) -> None:
        for each in left:
            self._findings.clear("odd-file", self._left.pop(each))
