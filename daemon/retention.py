"""What has had its days is deleted: delivered evidence, jobs that are over, dead letters. In small steps, so that no
lock is held long, and each of them whole: a kill between any two leaves nothing half deleted.

Evidence goes from this daemon's own spools only, and only once its delivery was confirmed: a damaged copy of it, which
may hold what was never sent, stays until somebody has taken it away. Nothing goes while
the clock is not believed.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from daemon.compose import Parts
from daemon.intake import expiring
from daemon.intake.spool import Spool
from memsyncd.clock import rfc3339
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.store import EvidenceStore

DAY_SECONDS = 86_400.0

STEP_SECONDS = 0.2
"""How long one look works at most, about: looks come every few seconds, and the others' turn is in between."""

PACKETS = 200
"""Names of packets read at once."""

PAGES = 256
"""Of 4 KB, given back in one step."""


class Retention:
    """One round after another, each begun by `begin` and carried on by `look`, on one thread."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._now: float | None = None
        self._round: Iterator[None] | None = None

    def begin(self) -> None:
        """Begin a round, unless one is under way. All of it goes by the time it began at."""
        if self._round is None:
            self._now = self._parts.clock.wall() if self._parts.clock_trust.is_believed else None
            self._round = self._steps()

    @property
    def is_under_way(self) -> bool:
        """Whether a round has begun and is not over."""
        return self._round is not None

    def look(self) -> None:
        """Carry the round on for STEP_SECONDS. Raises OSError and EvidenceError at its end, for what failed."""
        clock = self._parts.clock
        end = clock.monotonic() + STEP_SECONDS
        while self._round is not None:
            try:
                next(self._round)
            except StopIteration:
                self._round = None
            except BaseException:
                self._round = None
                raise
            if clock.monotonic() >= end:
                return

    def _steps(self) -> Iterator[None]:
        """Yield after each small step. One spool that fails costs the others nothing."""
        self._prune_jobs()
        yield
        failed: OSError | EvidenceError | None = None
        parts = self._parts
        acts: list[Callable[[], Iterator[None]]] = []
        acts += [partial(self._retire, store) for _, store in parts.served.stores()]
        acts += [partial(self._expire, spool) for spool in parts.served.spools()]
        acts.append(self._expire_queue_copies)
        for act in acts:
            try:
                yield from act()
            except (OSError, EvidenceError) as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _prune_jobs(self) -> None:
        """`retention.jobs_days` for what is over, `retention.dead_days` for what was given up; 0 keeps them."""
        keep = self._parts.settings.retention
        finished, dead = self._before(keep.jobs_days), self._before(keep.dead_days)
        if finished is not None or dead is not None:
            self._parts.queue.prune(finished_before=finished or 0.0, dead_before=dead or 0.0)

    def _retire(self, store: EvidenceStore) -> Iterator[None]:
        before = self._before(self._parts.settings.retention.evidence_days)
        if before is not None and store.own:
            moment = rfc3339(before)
            while names := store.delivered(moment, PACKETS):
                for name in names:
                    self._parts.counters.add("evidence_retired", store.retire(name, moment))
                    yield
            while store.retire_logs(moment):
                yield
        while store.own and store.shrink(PAGES):
            yield
        store.checkpoint()
        yield

    def _expire(self, spool: Spool) -> Iterator[None]:
        before = self._before(self._parts.settings.retention.dead_days)
        if before is None:
            return
        for directory, counter in ((spool.dead, "dead_letters_expired"), (spool.corrupt, "corrupt_expired")):
            yield from self._delete(expiring.old_letters(directory, before), counter)

    def _expire_queue_copies(self) -> Iterator[None]:
        before = self._before(self._parts.settings.retention.dead_days)
        if before is not None:
            copies = expiring.old_copies(self._parts.places.queue_file, before)
            yield from self._delete(copies, "queue_copies_expired")

    def _delete(self, files: Iterator[tuple[Path, ...]], counter: str) -> Iterator[None]:
        for group in files:
            for path in group:
                path.unlink(missing_ok=True)
            self._parts.counters.add(counter)
            yield

    def _before(self, days: int) -> float | None:
        """Return the Unix time before which things have had their days; None where they are kept."""
        return self._now - days * DAY_SECONDS if days and self._now is not None else None
