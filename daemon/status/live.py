"""The running daemon as its status socket sees it. Everything is read as a snapshot; nothing waits for a lock long."""

import contextlib
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from daemon.compose import Parts
from daemon.intake.ingest_thread import IngestThread
from daemon.intake.spool import Age, Spool
from daemon.observer import STANDING
from daemon.recalling.composing import recaller_of
from daemon.searching.request import parsed
from daemon.status.asked_drain import AskedDrain
from daemon.status.asked_flush import AskedFlush
from daemon.status.given_up import forgetting, given_up
from daemon.status.history import history_document
from daemon.status.kept_copies import kept_copies
from daemon.status.live_jobs import LiveJobs
from daemon.status.metrics import metrics_text
from daemon.status.parts import Finding, QueuePart
from daemon.status.report import (
    EvidencePart,
    ExtractionPart,
    PausedPart,
    Phase,
    PlatformPart,
    SpoolPart,
    StatusParts,
    TelemetryPart,
    healthy,
    status_document,
)
from daemon.status.session_document import sessions_document
from daemon.status.sizes import sizes
from daemon.telemetry.starting import KIND as TELEMETRY
from daemon.telemetry.told import telemetry_part
from jobs.job import JobState
from jobs.queue.errors import QueueUnavailable
from jobs.queue.workers import Workers
from memsyncd.version import __version__


@dataclass
class LiveView:
    """Implements `daemon.status.view.DaemonView` over the running parts."""

    parts: Parts
    ingest_thread: IngestThread
    workers: Workers
    run_id: str
    started_at: float
    started_monotonic: float
    phase: Phase = Phase.STARTING

    def __post_init__(self) -> None:
        """Tie what acts to the thread that takes in what hooks have just left."""
        self._progressed_at: float | None = None
        self._jobs = LiveJobs(self.parts, self.ingest_thread.hint)
        self._flush = AskedFlush(self.parts, self.ingest_thread.scan_now)
        self._drain = AskedDrain(self.parts, self.ingest_thread.scan_now, self._flush)
        self._recaller = recaller_of(self.parts, self.ingest_thread.scan_now)

    def status(self) -> dict[str, Any]:
        """Return CONTRACT's `/status`."""
        return status_document(self.status_parts())

    def status_parts(self) -> StatusParts:
        """Gather what the status is made of."""
        parts, now = self.parts, self.parts.clock.wall()
        queue, trouble = self._queue()
        fleet, told = parts.fleet, parts.fleet.told() if parts.fleet else None
        open_extractions, oldest = parts.extractions.counts()
        pauses = parts.gate.pauses.state()
        spools = parts.served.spools()
        return StatusParts(
            version=__version__,
            now=now,
            phase=self.phase,
            pid=os.getpid(),
            run_id=self.run_id,
            started_at=self.started_at,
            uptime_seconds=parts.clock.monotonic() - self.started_monotonic,
            spools=[_spool_part(spool, parts.clock.age, parts.ingest.passed_over(spool)) for spool in spools],
            unserved={str(spool.path) for spool in spools} - {str(spool.path) for spool, _ in parts.served.stores()},
            jobs=queue.counts,
            destinations=[*queue.destinations, *(fleet.sight.seen.destinations if fleet else ())],
            platform=self._platform(),
            extraction=ExtractionPart(open_extractions, oldest),
            evidence=self._evidence(),
            telemetry=self._telemetry(),
            counters=parts.counters.snapshot(),
            sizes=sizes(parts.places, spools),
            findings=[*parts.findings.all(), *kept_copies(parts.places, spools), *trouble],
            last_progress_at=self._last_progress_at(now),
            standing_jobs=queue.timers,
            oldest_claim_seconds=max(self.workers.oldest_claim_age(), fleet.oldest_claim_seconds if fleet else 0.0),
            longest_call_seconds=parts.platform.longest_call_seconds,
            paused=pauses.is_paused,
            paused_until=pauses.everything.until if pauses.everything else None,
            paused_projects=[PausedPart(each.root, each.pause.until) for each in pauses.projects],
            given_up=queue.given_up,
            forgetting=queue.forgetting,
            fleet=told,
            socket=str(parts.places.status_socket),
            data=str(parts.places.data),
        )

    def progressed(self) -> None:
        """Note that a job ended or a handoff was taken in."""
        self._progressed_at = self.parts.clock.monotonic()

    def _last_progress_at(self, now: float) -> float | None:
        """Return the Unix time of the last progress by the clock of `now`: a clock set back must not hide a hang."""
        return None if self._progressed_at is None else now - (self.parts.clock.monotonic() - self._progressed_at)

    def _queue(self) -> tuple[QueuePart, Sequence[Finding]]:
        """Ask the queue; where it cannot be used, the rest of the status is told all the same, with that."""
        parts = self.parts
        queue = parts.queue
        kinds = STANDING if parts.telemetry else STANDING - {TELEMETRY}
        try:
            counts = queue.counts()
            timers = sum(len(queue.jobs(state=JobState.WAITING, kind=kind)) for kind in kinds)
            dead = given_up(queue.jobs, counts.dead, parts.served.spools())
            return QueuePart(counts, timers, queue.destinations(), dead, forgetting(queue.jobs)), ()
        except QueueUnavailable as error:
            where = str(parts.places.queue_file)
            return QueuePart(), [Finding("queue-unavailable", where=where, detail=str(error))]

    def _telemetry(self) -> TelemetryPart:
        parts = self.parts
        if parts.telemetry is None or parts.telemetry.is_refused:
            return TelemetryPart(enabled=False)
        return telemetry_part(parts.settings, parts.places.data, parts.served.spools())

    def _evidence(self) -> EvidencePart:
        events = sessions = 0
        for _, store in self.parts.served.stores():
            with contextlib.suppress(sqlite3.Error):  # the upkeep tells of a store that cannot be read
                found = store.unsent() if store.own else (0, 0)
                events, sessions = events + found[0], sessions + found[1]
        return EvidencePart(events, sessions)

    def health(self) -> tuple[bool, list[str]]:
        """Return whether the daemon is healthy, and else why not."""
        is_healthy, reasons = healthy(self.status())
        return is_healthy, list(reasons)

    def metrics(self) -> str:
        """Return the status as Prometheus text."""
        return metrics_text(self.status())

    def jobs(self, state: str | None, kind: str | None, limit: int) -> list[Mapping[str, Any]]:
        """Return jobs, newest change first."""
        return self._jobs.listed(state, kind, limit)

    def shared_jobs(self, state: str | None, kind: str | None, limit: int) -> list[Mapping[str, Any]] | None:
        """Return the jobs of every host that shares the queue; None where the queue is this machine's own."""
        return self._jobs.shared(state, kind, limit)

    def job(self, job_id: str) -> Mapping[str, Any] | None:
        """Return one job."""
        return self._jobs.one(job_id)

    def retry(self, job_id: str) -> str:
        """Make a dead or waiting job ready."""
        return self._jobs.retry(job_id)

    def discard(self, job_id: str) -> str:
        """Drop a dead letter."""
        return self._jobs.discard(job_id)

    async def events(self, since: int, wait_seconds: float) -> dict[str, Any]:
        """Return the events after `since`, waiting for a first one."""
        return await self.parts.journal.following(since, wait_seconds)

    async def flush(self, session: str | None, cwd: str | None, wait_seconds: float) -> dict[str, Any]:
        """Queue a checkpoint for every session with something to send, and wait for their ends if asked to."""
        return await self._flush.ask(session, cwd, wait_seconds)

    async def drain(self, wait_seconds: float) -> dict[str, Any]:
        """Have everything leave this machine; wait up to `wait_seconds` until it has."""
        return await self._drain.ask(wait_seconds)

    async def recall(self, body: bytes, until: float | None) -> Mapping[str, Any]:
        """Answer a prompt's hook."""
        return await self._recaller.answer(body, until)

    def sessions(self, limit: int) -> dict[str, Any]:
        """Return the sessions with the newest events."""
        return sessions_document(self.parts.served.spools(), limit)

    def history(self, minutes: int) -> dict[str, Any]:
        """Return the samples of the last minutes."""
        now = self.parts.clock.wall()
        return history_document(self.parts.history.last(minutes, now), now)

    def search(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a question; its number and scope are the settings' where it names none. Raises SearchRefused."""
        recall = self.parts.settings.recall
        return self.parts.search.answer(parsed(request, top_k=recall.top_k, scope=recall.scope)).document()

    def _platform(self) -> PlatformPart:
        platform, account = self.parts.platform, self.parts.settings.queue.account
        return PlatformPart(platform.kind, platform.url, platform.destination, account)


def _spool_part(spool: Spool, age: Age, passed_over: Collection[str]) -> SpoolPart:
    """Count a spool; of one that cannot be read the problems tell, and the other numbers must not be lost with it."""
    try:
        counts = asdict(spool.counts(age, passed_over))
        return SpoolPart(spool.harness, str(spool.path), **counts, paused=spool.own and spool.paused.exists())
    except OSError:
        return SpoolPart(spool.harness, str(spool.path))
