"""What is looked after on timers: new spools, stale claims, missing jobs, ended sessions, a changed key, the disk."""

import os
import shutil

import structlog

from daemon.compose import Parts
from daemon.spool import Spool
from jobs.flush import EXTRACTION_OPEN
from jobs.job import JobState
from jobs.poll import POLL
from jobs.recovery import reconcile, session_over
from memsyncd.clock import from_rfc3339

FULL_BYTES = 64 * 1024 * 1024
"""Less free space than this is nearly full: one 64 MB handoff would not fit."""

KEPT_WHY = frozenset({EXTRACTION_OPEN})

log = structlog.get_logger()


class Upkeep:
    """`maintain` and `refresh` run on the ingest thread, which owns the spools; `tick` runs beside it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._fingerprint = parts.key_source.fingerprint()
        self._spools_changed_at = 0
        self._evidence_seen: set[str] = set()
        self.spools_changed = False

    def maintain(self) -> None:
        """Serve what is new, give back stale claims, sweep, and queue what the evidence calls for."""
        self.refresh()
        self.take_back_claims(at_start=False)
        parts = self._parts
        now = parts.clock.wall()
        for spool in parts.served.spools():
            swept = spool.sweep(now)
            if swept:
                parts.counters.add("temporary_files_swept", swept)
            for name in spool.oddities():
                parts.findings.report("odd-file", f"{spool.pending}/{name}", "no regular file")
        stores = [(spool.name, spool.own, store) for spool, store in parts.served.stores()]
        missing = reconcile(stores, parts.delivery)
        if missing:
            parts.counters.add("jobs_recreated", missing)
            log.info("jobs-recreated", jobs=missing)

    def has_new_spools(self) -> bool:
        """Whether a hook has made a spool since the last look."""
        try:
            return os.stat(self._parts.places.spools).st_mtime_ns != self._spools_changed_at
        except OSError:
            return False

    def refresh(self) -> None:
        """Serve new spools, and watch over the sessions they have open."""
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

    def take_back_claims(self, *, at_start: bool) -> None:
        """Return to those that wait the claims nobody works on (CONTRACT "Claims after a crash")."""
        parts = self._parts
        held = {(spool.name, stem) for spool, stem in parts.ingest.held.values()}
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
        parts = self._parts
        if parts.settings.flush.auto:
            for ended in parts.sessions.over(parts.clock.monotonic()):
                if session_over(ended.spool, ended.session_id, ended.last_event, ended.why, parts.delivery):
                    parts.journal.note("session-over", spool=ended.spool, why=ended.why)
        fingerprint = parts.key_source.fingerprint()
        if fingerprint != self._fingerprint:
            self._fingerprint = fingerprint
            parts.queue.release(parts.platform.destination)
            log.info("key-changed")
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
            job.reason in KEPT_WHY or (job.not_before is not None and job.reason.startswith("an answer never came"))
            for job in queue.jobs(state=JobState.WAITING, limit=1_000)
            if job.kind != POLL and job.destination not in cooling
        )

    def _seed_sessions(self) -> None:
        """Watch over sessions whose evidence an earlier run left unsent."""
        parts = self._parts
        now, wall = parts.clock.monotonic(), parts.clock.wall()
        for spool, store in parts.served.stores():
            if spool.name in self._evidence_seen or not spool.own:
                continue
            self._evidence_seen.add(spool.name)
            for activity in store.sessions_with_unflushed():
                last = from_rfc3339(activity.last_event_at)
                age = 0.0 if last is None else max(0.0, wall - last)
                parts.sessions.moved(spool.name, activity.session_id, str(activity.last_event_id), at=now - age)
