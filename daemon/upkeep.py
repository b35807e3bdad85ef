"""What is looked after on timers: new spools, stale claims, missing jobs, ended sessions, a changed key, the disk."""

import os
import shutil
from collections.abc import Callable
from functools import partial

import structlog

from daemon.compose import Parts
from daemon.intake.spool import Spool
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import JobState
from jobs.poll import POLL
from jobs.queue.errors import QueueError
from jobs.recovery import reconcile, session_over
from memsyncd.clock import from_rfc3339
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.store import EvidenceStore

FULL_BYTES = 64 * 1024 * 1024
"""Less free space than this is nearly full: one 64 MB handoff would not fit."""

KEPT_WHY = frozenset({EXTRACTION_OPEN, ABOUT_TO_LOOK})
"""What `run --once` waits for: it is sure to come, or to be over, soon."""

log = structlog.get_logger()


class Upkeep:
    """`maintain` and `refresh` run on the ingest thread, which owns the spools; `tick` runs beside it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._fingerprint = parts.key_source.fingerprint()
        self._spools_changed_at = 0
        self._evidence_seen: set[str] = set()
        self._odd: dict[str, set[str]] = {}
        self.spools_changed = False

    def maintain(self) -> None:
        """Serve what is new, give back stale claims, sweep, and queue what the evidence calls for."""
        self.refresh()
        self._guarded("claims", self.take_back_claims)
        for spool in self._parts.served.spools():
            self._guarded(spool.name, partial(self._sweep, spool))
        for spool, store in self._parts.served.stores():
            self._guarded(spool.name, partial(self._reconcile, spool, store))

    def _guarded(self, where: str, act: Callable[[], None]) -> None:
        """Run a part of the upkeep; what fails is shown, and costs the other parts nothing."""
        try:
            act()
        except (OSError, EvidenceError, QueueError) as error:
            if self._parts.findings.report("upkeep-failed", where, str(error)):
                log.warning("upkeep-failed", where=where, error=str(error))
        else:
            self._parts.findings.clear("upkeep-failed", where)

    def _sweep(self, spool: Spool) -> None:
        swept = spool.sweep(self._parts.clock.wall())
        if swept:
            self._parts.counters.add("temporary_files_swept", swept)
        odd = {f"{spool.pending}/{name}" for name in spool.oddities()}
        for where in odd:
            self._parts.findings.report("odd-file", where, "no regular file")
        for where in self._odd.get(spool.name, set()) - odd:
            self._parts.findings.clear("odd-file", where)
        self._odd[spool.name] = odd

    def _reconcile(self, spool: Spool, store: EvidenceStore) -> None:
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
        """Serve new spools, and watch over the sessions they have open. What fails is shown and tried again."""
        self._guarded("spools", self._refresh)

    def _refresh(self) -> None:
        if self.has_new_spools():
            self._spools_changed_at = os.stat(self._parts.places.spools).st_mtime_ns
        new = self._parts.served.refresh(self._parts.findings)
        if new:
            self.spools_changed = True
        self._seed_sessions()

    def directories(self) -> list[str]:
        """Return the directories to watch: where spools appear, and where handoffs do."""
        pending = [spool.pending for spool in self._parts.served.spools()]
        return [str(path) for path in (self._parts.places.spools, *pending) if path.is_dir()]

    def take_back_claims(self, *, at_start: bool = False) -> None:
        """Return to those that wait the claims nobody works on (CONTRACT "Claims after a crash")."""
        parts = self._parts
        held = {(spool.name, stem) for spool, stem in parts.ingest.requests.held.values()}
        if at_start:
            parts.served.refresh(parts.findings)
        for spool in parts.served.spools():
            self._take_back(spool, held, at_start=at_start)

    def _take_back(self, spool: Spool, held: set[tuple[str, str]], *, at_start: bool) -> None:
        for stem in spool.stale_claims(self._parts.clock.wall(), at_start=at_start):
            if (spool.name, stem) not in held and spool.give_back(stem):
                self._parts.counters.add("handoffs_taken_back")

    def tick(self) -> None:
        """Queue the checkpoints of ended sessions, take up a changed key, and look at the disk."""
        self._guarded("sessions", self._end_sessions)
        self._guarded("key", self._take_up_key)
        self._guarded("disk", self._look_at_disk)

    def _end_sessions(self) -> None:
        parts = self._parts
        if not parts.settings.flush.auto:
            return
        for ended in parts.sessions.over(parts.clock.monotonic()):
            if session_over(ended.spool, ended.session_id, ended.last_event, ended.why, parts.delivery):
                parts.journal.note("session-over", spool=ended.spool, why=ended.why)

    def _take_up_key(self) -> None:
        parts = self._parts
        if parts.key_source.changed_since(self._fingerprint):
            self._fingerprint = parts.key_source.fingerprint()
            parts.queue.release(parts.platform.destination)
            log.info("key-changed")
        told = parts.key_source.problems() if parts.platform.kind != "local" else []
        if told:
            parts.findings.report("key-missing", detail=" ".join(told))
        else:
            parts.findings.clear("key-missing")

    def _look_at_disk(self) -> None:
        parts = self._parts
        free = shutil.disk_usage(parts.places.data).free
        if free < FULL_BYTES:
            parts.findings.report("disk-nearly-full", str(parts.places.data), f"{free // 1_048_576} MB left")
        else:
            parts.findings.clear("disk-nearly-full", str(parts.places.data))

    def is_all_done(self) -> bool:
        """Whether nothing is left that this run could still bring to an end (`run --once`)."""
        queue = self._parts.queue
        counts = queue.counts()
        if counts.claimed or counts.ready:
            return False
        cooling = {each.name for each in queue.destinations() if each.until is not None or each.parked}
        return not any(
            job.reason in KEPT_WHY
            for job in queue.jobs(state=JobState.WAITING, limit=1_000)
            if job.kind != POLL and job.destination not in cooling
        )

    def _seed_sessions(self) -> None:
        """Watch over sessions whose evidence an earlier run left unsent."""
        parts = self._parts
        now, wall = parts.clock.monotonic(), parts.clock.wall()
        served = parts.served.stores()
        self._evidence_seen &= {spool.name for spool, _ in served}
        for spool, store in served:
            if spool.name in self._evidence_seen or not spool.own:
                continue
            for activity in store.sessions_with_unflushed():
                last = from_rfc3339(activity.last_event_at)
                age = 0.0 if last is None else max(0.0, wall - last)
                parts.sessions.moved(spool.name, activity.session_id, str(activity.last_event_id), at=now - age)
                parts.ingest.checkpoint_if_due(
                    spool, store, activity.session_id
                )  # its answer's commit was our last deed
            self._evidence_seen.add(spool.name)
