"""The running daemon as its status socket sees it. Everything is read as a snapshot; nothing waits for a lock long."""

import asyncio
import contextlib
import os
import sqlite3
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from daemon.compose import Parts
from daemon.intake.ingest_thread import IngestThread
from daemon.intake.spool import Spool
from daemon.observer import STANDING
from daemon.recalling.around import Around
from daemon.recalling.recaller import Recaller
from daemon.searching.request import parsed
from daemon.status.given_up import forgetting, given_up
from daemon.status.history import history_document
from daemon.status.job_document import job_document
from daemon.status.metrics import metrics_text
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
from daemon.telemetry.told import telemetry_part
from jobs.checkpoint import BEING_DELIVERED
from jobs.delivery import FLUSH, lane
from jobs.flush import ABOUT_TO_LOOK, EXTRACTION_OPEN
from jobs.job import ACTIVE, Job, JobState
from jobs.poll import POLL
from jobs.queue.contract import Destination
from jobs.queue.workers import Workers
from jobs.recovery import asked_by_person, retry_by_person
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.store import EvidenceStore
from memsyncd.version import __version__

SCAN_FIRST_SECONDS = 5.0
"""How long a flush waits for what hooks have just dropped to be taken in."""

PASSING = (EXTRACTION_OPEN, ABOUT_TO_LOOK)
"""How the reasons of a flush begin that waits for what is sure to come soon."""

ASKED_AGAIN_SECONDS = 0.5
"""While a flush is waited for, how long the next event is awaited before the state is looked at anyway."""


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
    last_progress_at: float | None = None

    def __post_init__(self) -> None:
        """Tie the recall to the thread that takes in what hooks have just left."""
        parts = self.parts
        self._recaller = Recaller(
            Around(
                store=parts.served.store,
                scan=self.ingest_thread.scan_now,
                search=parts.search,
                resolve=parts.resolver.resolve,
                held=self._held,
                settings=parts.settings.recall,
                clock=parts.clock,
                counters=parts.counters,
                on_event=parts.journal.note,
            )
        )

    def status(self) -> dict[str, Any]:
        """Return CONTRACT's `/status`."""
        return status_document(self.status_parts())

    def status_parts(self) -> StatusParts:
        """Gather what the status is made of."""
        parts, now = self.parts, self.parts.clock.wall()
        destinations = parts.queue.destinations()
        open_extractions, oldest = parts.extractions.counts()
        counts, pauses = parts.queue.counts(), parts.gate.pauses.state()
        return StatusParts(
            version=__version__,
            now=now,
            phase=self.phase,
            pid=os.getpid(),
            run_id=self.run_id,
            started_at=self.started_at,
            uptime_seconds=parts.clock.monotonic() - self.started_monotonic,
            spools=[_spool_part(spool, now) for spool in parts.served.spools()],
            jobs=counts,
            destinations=destinations,
            platform=self._platform(destinations),
            extraction=ExtractionPart(open_extractions, oldest),
            evidence=self._evidence(),
            telemetry=self._telemetry(),
            counters=parts.counters.snapshot(),
            sizes=sizes(parts.places, parts.served.spools()),
            findings=parts.findings.all(),
            last_progress_at=self.last_progress_at,
            standing_jobs=self._standing_jobs(),
            oldest_claim_seconds=self.workers.oldest_claim_age(),
            longest_call_seconds=parts.platform.longest_call_seconds,
            paused=pauses.is_paused,
            paused_until=pauses.everything.until if pauses.everything else None,
            paused_projects=[PausedPart(each.root, each.pause.until) for each in pauses.projects],
            given_up=given_up(parts.queue.jobs, counts.dead, parts.served.spools()),
            forgetting=forgetting(parts.queue.jobs),
            socket=str(parts.places.status_socket),
            data=str(parts.places.data),
        )

    def progressed(self) -> None:
        """Note that a job ended or a handoff was taken in."""
        self.last_progress_at = self.parts.clock.wall()

    def _standing_jobs(self) -> int:
        kinds = STANDING if self.parts.telemetry else {POLL}
        return sum(len(self.parts.queue.jobs(state=JobState.WAITING, kind=kind)) for kind in kinds)

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
        found = self.parts.queue.jobs(state=JobState(state) if state else None, kind=kind or "", limit=limit)
        return [job_document(job) for job in found]

    def job(self, job_id: str) -> Mapping[str, Any] | None:
        """Return one job."""
        found = self.parts.queue.get(job_id)
        return None if found is None else job_document(found)

    def retry(self, job_id: str) -> str:
        """Make a dead or waiting job ready; the handoff that was kept for it waits again."""
        job = self.parts.queue.get(job_id)
        is_done = retry_by_person(self.parts.queue, job_id)
        if is_done and (kept := self._kept(job)) is not None:
            with contextlib.suppress(OSError):  # it stays a dead letter by itself then, and is listed as one
                kept[0].revive(kept[1])
            self.ingest_thread.hint()
        return self._answer(job_id, is_done, JobState.READY, JobState.CLAIMED)

    def discard(self, job_id: str) -> str:
        """Drop a dead letter, and the handoff kept for it."""
        job = self.parts.queue.get(job_id)
        is_done = self.parts.queue.discard(job_id)
        if is_done and (kept := self._kept(job)) is not None:
            with contextlib.suppress(OSError):
                kept[0].discard(kept[1])
        return self._answer(job_id, is_done, JobState.CANCELLED)

    def _kept(self, job: Job | None) -> tuple[Spool, str] | None:
        """Return the spool and name of the handoff kept for a job; None where there is none or its spool is gone."""
        if job is None or not job.payload.get("handoff"):
            return None
        try:
            return self.parts.served.spool(str(job.payload["spool"])), str(job.payload["handoff"])
        except KeyError:
            return None

    async def events(self, since: int, wait_seconds: float) -> dict[str, Any]:
        """Return the events after `since`, waiting for a first one."""
        return await self.parts.journal.following(since, wait_seconds)

    async def flush(self, session: str | None, cwd: str | None, wait_seconds: float) -> dict[str, Any]:
        """Queue a checkpoint for every session with something to send, and wait for their ends if asked to."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.ingest_thread.scan_now, SCAN_FIRST_SECONDS)
        asked = await loop.run_in_executor(None, self._ask, session, cwd)
        deadline = loop.time() + wait_seconds
        last_seen = 0
        while True:
            answer = await loop.run_in_executor(None, self._outcome, asked)
            left = deadline - loop.time()
            if answer["outcome"] != "waiting" or left <= 0:
                return answer
            seen = await self.parts.journal.following(last_seen, min(left, ASKED_AGAIN_SECONDS))
            last_seen = max((event["id"] for event in seen["events"]), default=last_seen)

    async def recall(self, body: bytes, until: float | None) -> Mapping[str, Any]:
        """Answer a prompt's hook."""
        return await self._recaller.answer(body, until)

    def _held(self, directory: str) -> str | None:
        if self.parts.gate.is_excluded(directory):
            return "its project is excluded"
        return self.parts.gate.hold(self.parts.resolver.resolve(directory))

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

    def _ask(self, session: str | None, cwd: str | None) -> list[str]:
        key = uuid.uuid4().hex[:12]
        asked: list[str] = []
        for spool, store in self.parts.served.stores():
            with contextlib.suppress(EvidenceError):  # one store that cannot be read hides no other; `status` tells
                asked += asked_by_person(spool.name, self._chosen(store, session, cwd), key, self.parts.delivery)
        return asked

    def _chosen(self, store: EvidenceStore, session: str | None, cwd: str | None) -> list[str]:
        """Return the sessions of a store that have something to send."""
        if store.read_only:
            return []
        waiting = {activity.session_id for activity in store.sessions_with_unflushed()}
        waiting |= {packet.session_id for packet in store.open_packets()}
        return [
            name
            for name in sorted(waiting)
            if (session is None or name == session) and (cwd is None or self._is_in(store.scope(name), cwd))
        ]

    def _is_in(self, scope: Any, cwd: str) -> bool:
        try:
            root = os.path.realpath(cwd)
            return scope is not None and os.path.commonpath((root, scope.root)) in (root, scope.root)
        except ValueError:  # a NUL, or a root that is no path of this system: nothing is in it
            return False

    def _outcome(self, asked: Sequence[str]) -> dict[str, Any]:
        """Return the answer of a flush as it stands; `waiting` while nothing is decided."""
        jobs = [job for name in asked if (job := self.parts.queue.get(name)) is not None]
        packets = sum(len(job.payload.get("packets", ())) for job in jobs)
        refused = [job for job in jobs if job.state in (JobState.DEAD, JobState.CANCELLED)]
        if any(job.state in ACTIVE for job in jobs):
            reason = next((why for job in jobs if (why := self._put_off(job))), "")
            return {"outcome": "put-off" if reason else "waiting", "packets": packets, "reason": reason}
        if refused:
            return {"outcome": "refused", "packets": packets, "reason": refused[0].reason}
        return {"outcome": "delivered" if packets else "nothing", "packets": packets, "reason": ""}

    def _put_off(self, job: Job) -> str:
        """Return why a checkpoint's packet waits for something that time alone does not bring, or an empty text."""
        if job.state is not JobState.WAITING:
            return ""
        if job.reason != BEING_DELIVERED:
            return job.reason
        spool, session = str(job.payload["spool"]), str(job.payload["session"])
        under_way = self.parts.queue.jobs(kind=FLUSH, lane=lane(spool, session), limit=10)
        waiting = [flush for flush in under_way if flush.state is JobState.WAITING]
        return next((flush.reason for flush in waiting if not flush.reason.startswith(PASSING)), "")

    def _platform(self, destinations: Sequence[Destination]) -> PlatformPart:
        platform = self.parts.platform
        state = next((each for each in destinations if each.name == platform.destination), None)
        return PlatformPart(
            kind=platform.kind,
            url=platform.url,
            destination=platform.destination,
            ok=None if state is None else not (state.failures or state.parked),
            last_success_at=None if state is None else state.last_success_at,
            last_error="" if state is None else state.why,
        )

    def _answer(self, job_id: str, is_done: bool, *already: JobState) -> str:
        job = self.parts.queue.get(job_id)
        if is_done or job is None:
            return "done" if is_done else "unknown"
        return "already so" if job.state in already else f"it is {job.state}"


def _spool_part(spool: Spool, now: float) -> SpoolPart:
    """Count a spool; of one that cannot be read the problems tell, and the other numbers must not be lost with it."""
    try:
        return SpoolPart(spool.harness, str(spool.path), **asdict(spool.counts(now)), paused=spool.paused.exists())
    except OSError:
        return SpoolPart(spool.harness, str(spool.path))
