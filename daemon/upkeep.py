"""What is looked after on timers: new spools, stale claims, missing jobs, ended sessions, a changed key, the disk."""

import os
from collections.abc import Callable
from functools import partial

import structlog

from daemon import abandoned_writes
from daemon.all_done import is_all_done
from daemon.compose import Parts
from daemon.descriptor_watch import USED_UP, look_at_descriptors
from daemon.disk_watch import look_at_free_space, look_at_hook_errors
from daemon.extracting.starting import at_start as extractor_at_start
from daemon.forgetting import trouble as forgetting_trouble
from daemon.forgetting.excluding import purge_excluded
from daemon.forgetting.forgetting import LEFT_OVER_SECONDS, Forgetting
from daemon.forgetting.tombstones import UnreadableTombstones
from daemon.intake.spool import Spool
from daemon.key_watch import KeyWatch
from daemon.load_watch import LoadWatch
from daemon.memory_watch import MemoryWatch
from daemon.note_sweep import NoteSweep
from daemon.pause_watch import PauseWatch
from daemon.session_watch import SessionWatch
from daemon.status.kept_copies import kept_copies
from daemon.telemetry.starting import at_start as telemetry_at_start
from daemon.telemetry.starting import look as look_at_telemetry
from daemon.tidying import Tidying
from jobs.job import ACTIVE
from jobs.poll import poll_job
from jobs.queue.errors import QueueError
from jobs.recovery import reconcile
from memsyncd.evidence.database import COPIES_DROPPED
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.store import EvidenceStore

ODD_FILES = 100
"""Of a spool, that are named as a problem each; a hundred pipes say as much as a million."""

log = structlog.get_logger()


class Upkeep:
    """`maintain` and `refresh` run on the ingest thread, which owns the spools; `tick` runs beside it.

    Each part of it is guarded by itself, for each spool: what fails is shown as `upkeep-failed` with the part and the
    spool, costs nothing else, and is tried again.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._key_watch = KeyWatch(parts.key_source, parts.queue, parts.platform, parts.findings)
        self._memory_watch = MemoryWatch(parts.places.memory_file, parts.platform.destination, parts.queue)
        self._pause_watch = PauseWatch(parts.gate.pauses, parts.queue, parts.served)
        self._tidying = Tidying(parts)
        self._load_watch = LoadWatch(parts)
        self._note_sweep = NoteSweep(
            parts.places.memory_file, parts.clock, parts.counters, lambda: parts.clock_trust.is_believed
        )
        self._spools_changed_at = 0
        self._session_watch = SessionWatch(parts)
        self._odd: dict[str, set[str]] = {}
        self._kept: set[str] = set()
        self._dropped = 0
        self.spools_changed = False
        self.on_released: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Set free what an earlier run has left behind: its claims, what a refused key held, a poll job that died."""
        parts = self._parts
        poll = poll_job(parts.platform.destination)
        parts.queue.enqueue(poll)
        known = parts.queue.get(poll.id)
        if known is not None and known.state not in ACTIVE:
            parts.queue.retry(poll.id)
        self._key_watch.release_refused()
        self._memory_watch.release_failed()
        self.take_back_claims(at_start=True)
        self._guarded("pauses", self.look_at_pauses)
        self._guarded("forgetting", partial(self._finish_forgetting, Forgetting(parts)))
        self._guarded("telemetry", partial(telemetry_at_start, parts))
        self._guarded("extractor", partial(extractor_at_start, parts.queue, parts.model))

    def log_kept_copies(self) -> None:
        """Write a line to the log for each damaged file that is kept, once in a run, and for those dropped since."""
        parts = self._parts
        dropped = parts.counters.snapshot().get(COPIES_DROPPED, 0)
        if dropped > self._dropped:
            log.warning("damaged-copies-dropped", copies=dropped - self._dropped)
            self._dropped = dropped
        kept = {finding.where: finding.code for finding in kept_copies(parts.places, parts.served.spools())}
        for where in sorted(kept.keys() - self._kept):
            log.warning(kept[where], file=where)
        self._kept = set(kept)

    def maintain(self) -> None:
        """Serve what is new, give back stale claims, sweep, and queue what the evidence calls for."""
        self.refresh()
        self.take_back_claims()
        for spool in self._parts.served.spools():
            self._guarded(f"sweep {spool.name}", partial(self._sweep, spool))
        self._guarded("sweep", self._sweep_data)
        self._guarded("damaged copies", self.log_kept_copies)
        for spool, store in self._parts.served.stores():
            self._guarded(f"packets {spool.name}", partial(self._reconcile, spool, store))
            self._guarded(f"sessions {spool.name}", partial(self._session_watch.look, spool, store))
        self._session_watch.keep_spools({spool.name for spool in self._parts.served.spools()})
        beside = Forgetting(self._parts, lambda: True)
        self._guarded("forgetting", partial(self._finish_forgetting, beside, LEFT_OVER_SECONDS))

    def age_sessions(self) -> None:
        """After the first scan: let every session be as old as its last event, not as the scan that took it in."""
        for spool, store in self._parts.served.stores():
            self._guarded(f"sessions {spool.name}", partial(self._session_watch.look, spool, store, by_events=True))

    def _guarded(self, where: str, act: Callable[[], None]) -> None:
        """Run a part of the upkeep; what fails is shown, and costs the other parts nothing."""
        try:
            act()
        except (OSError, EvidenceError, QueueError) as error:
            if isinstance(error, OSError) and error.errno in USED_UP:
                return  # which is told once, for all that it keeps from being done
            if self._parts.findings.report("upkeep-failed", where, str(error)):
                log.warning("upkeep-failed", where=where, error=str(error))
        else:
            self._parts.findings.clear("upkeep-failed", where)

    def _sweep_data(self) -> None:
        swept = abandoned_writes.sweep(self._parts.places.data, self._parts.clock.age)
        if swept:
            self._parts.counters.add("temporary_files_swept", swept)

    def _sweep(self, spool: Spool) -> None:
        swept = spool.sweep(self._parts.clock.age)
        if swept:
            self._parts.counters.add("temporary_files_swept", swept)
        odd = {f"{spool.pending}/{name}" for name in spool.oddities()[:ODD_FILES]}
        for where in odd:
            self._parts.findings.report("odd-file", where, "no regular file")
        for where in self._odd.get(spool.name, set()) - odd:
            self._parts.findings.clear("odd-file", where)
        self._odd[spool.name] = odd

    def _reconcile(self, spool: Spool, store: EvidenceStore) -> None:
        purge_excluded(self._parts, spool, store)
        missing = reconcile(spool.name, store, self._parts.delivery)
        if missing:
            self._parts.counters.add("jobs_recreated", missing)
            log.info("jobs-recreated", jobs=missing)

    def has_new_spools(self) -> bool:
        """Whether a hook has made a spool since the last look."""
        try:
            return os.stat(self._parts.places.spools).st_mtime_ns != self._spools_changed_at
        except OSError:
            return False

    def refresh(self) -> None:
        """Serve new spools. What fails is shown and tried again."""
        self._guarded("spools", self._refresh)

    def _refresh(self) -> None:
        if self.has_new_spools():
            self._spools_changed_at = os.stat(self._parts.places.spools).st_mtime_ns
        if self._parts.served.refresh(self._parts.findings):
            self.spools_changed = True

    def directories(self) -> list[str]:
        """Return the directories to watch: where spools appear, and where handoffs do."""
        pending = [spool.pending for spool in self._parts.served.spools()]
        return [str(path) for path in (self._parts.places.spools, *pending) if path.is_dir()]

    def take_back_claims(self, *, at_start: bool = False) -> None:
        """Return to those that wait the claims nobody works on (CONTRACT "Claims after a crash")."""
        held = {(spool.name, stem) for spool, stem in list(self._parts.ingest.requests.held.values())}
        if at_start:
            self.refresh()
        for spool in self._parts.served.spools():
            self._guarded(f"claims {spool.name}", partial(self._take_back, spool, held, at_start=at_start))

    def _take_back(self, spool: Spool, held: set[tuple[str, str]], *, at_start: bool) -> None:
        for stem in spool.stale_claims(self._parts.clock.age, at_start=at_start):
            if (spool.name, stem) not in held and spool.give_back(stem):
                self._parts.counters.add("handoffs_taken_back")

    def tick(self) -> None:
        """Queue the checkpoints of ended sessions, take up a changed key, and look at the disk."""
        parts = self._parts
        if parts.settings.flush.auto:
            for spool, over in sorted(self._session_watch.over().items()):
                self._guarded(f"ends {spool}", partial(self._session_watch.end, spool, over))
        self._guarded("key", self._key_watch.look)
        self._guarded("memories", self._memory_watch.look)
        if parts.model is not None:
            self._guarded("extractor-key", parts.model.look)
        self._guarded("pauses", self.look_at_pauses)
        if parts.fleet is not None:
            parts.fleet.tick()
        if parts.index is not None:
            parts.index.settle()
        self._guarded("clock", self._look_at_clock)
        self._guarded("descriptors", partial(look_at_descriptors, parts.findings))
        self._guarded("disk", partial(look_at_free_space, parts.places, parts.findings))
        self._guarded("tidying", self._tidying.look)
        self._guarded("expired-notes", self._note_sweep.look)
        self._guarded("telemetry-consent", partial(look_at_telemetry, parts))
        self._guarded("history", self._load_watch.look)
        self._guarded("hook-errors", partial(look_at_hook_errors, parts.places, parts.clock, parts.findings))

    def _look_at_clock(self) -> None:
        """Show a clock that is not believed, for nothing is deleted by it."""
        trust, findings = self._parts.clock_trust, self._parts.findings
        try:
            trust.look()
        finally:
            if trust.is_believed:
                findings.clear("clock-doubted")
            else:
                findings.report("clock-doubted", detail=trust.seen.told())

    def look_at_pauses(self) -> None:
        """End the pauses that are over; what they held goes on at once."""
        if self._pause_watch.look():
            self.on_released()

    def _finish_forgetting(self, forgetting: Forgetting, older_than: float = 0.0) -> None:
        """Finish what somebody asked to forget and nobody came to the end of: at start before anything comes in, later
        between two scans (this is the ingest's own thread: whatever it took in is stored)."""
        tombstones = self._parts.tombstones
        try:
            tried = forgetting.finish(older_than=older_than) if tombstones.unfinished() else 0
            if tried:
                log.info("forgetting-tried-again", requests=tried, left=len(tombstones.unfinished()))
        except UnreadableTombstones as error:
            forgetting_trouble.tell(self._parts.findings, error)
        else:
            forgetting_trouble.over(self._parts.findings)

    def is_all_done(self, running: Callable[[], int]) -> bool:
        """Whether nothing is left that this run could still bring to an end (`run --once`). `running` tells how many
        jobs run, each until its end was told of."""
        return is_all_done(self._parts, running)
