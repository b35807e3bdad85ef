"""The status and the jobs from the files, while no daemon runs. Reading changes no byte; unreadable files are problems.

`retry` and `discard` do write: they hold the daemon's lock for the moment, so that no daemon starts in between.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon import lock, snapshot
from daemon.configuration_error import ConfigurationError
from daemon.job_document import job_document
from daemon.places import Places
from daemon.served import PLUGIN_SUFFIX, places_to_serve
from daemon.settings import Settings, load
from daemon.spool import Spool
from daemon.status_parts import (
    NO_JOBS,
    ExtractionPart,
    Finding,
    Phase,
    PlatformPart,
    SpoolPart,
    StatusParts,
    TelemetryPart,
)
from jobs import schema as queue_schema
from jobs.errors import NewerSchema, QueueError
from jobs.job import JobState
from jobs.queue import Destination, QueueCounts
from jobs.reading import Reader
from memsyncd.evidence import schema
from memsyncd.version import __version__

if TYPE_CHECKING:
    from jobs.sqlite_queue import SqliteQueue

MANY = 1_000_000
"""`--dead` means all of them."""

OPEN_EXTRACTIONS = f"""SELECT count(*), min(nullif(waiting_since, 0)) FROM memsyncd_posts
    WHERE batch >= 0 AND event_id <> ''
    AND packet_id IN (SELECT packet_id FROM flushes WHERE {schema.CLOSED_SQL})"""  # noqa: S608  (a constant)


def offline_parts(places: Places, environ: Mapping[str, str], *, now: float, unanswered: str = "") -> StatusParts:
    """Return what the files tell. A daemon that holds the lock and does not answer is a finding, not down.

    `unanswered` is the sentence in which asking at the socket ended, empty where nobody listens. Never raises for
    what is missing, unreadable or foreign.
    """
    findings: list[Finding] = []
    settings = _settings(places, environ, findings)
    spools = _spools(places, settings)
    counts, destinations = _queue(places.queue_file, now, findings)
    is_held = lock.is_held(places.lock_file)
    holder = lock.holder(places.lock_file) if is_held else None
    if is_held:
        who = f"pid {holder.pid}" if holder else "pid unknown"
        findings.append(Finding("not-answering", where=who, detail=unanswered))
    elif unanswered:
        findings.append(Finding("socket-foreign", where=str(places.status_socket), detail=unanswered))
    return StatusParts(
        version=__version__,
        now=now,
        phase=Phase.RUNNING if is_held else Phase.DOWN,
        pid=holder.pid if holder else None,
        run_id=holder.run_id if holder else "",
        spools=[_counted(spool, now, findings) for spool in spools],
        jobs=counts,
        destinations=destinations,
        platform=PlatformPart(
            settings.platform.kind,
            settings.platform.url,
            last_success_at=max(filter(None, (each.last_success_at for each in destinations)), default=None),
        ),
        extraction=_extraction(spools, now, findings),
        telemetry=TelemetryPart(enabled=settings.telemetry.enabled, endpoint=settings.telemetry.endpoint),
        findings=findings,
        paused=(places.data / "paused").exists(),
        socket=str(places.status_socket),
        data=str(places.data),
    )


def offline_jobs(places: Places, *, state: str = "", kind: str = "", limit: int = 100) -> dict[str, Any]:
    """Return CONTRACT's `{"jobs": […]}`. Raises snapshot.NotADatabaseError where the queue cannot be read."""
    with _reader(places.queue_file) as queue:
        found = queue.jobs(state=JobState(state) if state else None, kind=kind, lane="", limit=limit) if queue else ()
        return {"jobs": [job_document(job) for job in found]}


def offline_job(places: Places, job_id: str) -> dict[str, Any] | None:
    """Return one job, None where there is none. Raises as `offline_jobs`."""
    with _reader(places.queue_file) as queue:
        job = queue.get(job_id) if queue else None
        return None if job is None else job_document(job)


def change_jobs(places: Places, environ: Mapping[str, str], verb: str, job_ids: Sequence[str]) -> dict[str, str]:
    """`retry` or `discard` jobs (no ids: all that are dead); return for each why it was refused, empty where done.

    Raises lock.AlreadyRunning, and snapshot.NotADatabaseError where the queue cannot be used.
    """
    if not places.queue_file.exists():
        return dict.fromkeys(job_ids, "there is no such job")
    held = lock.DaemonLock.acquire(places.lock_file, pid=os.getpid(), run_id=f"jobs {verb}")
    try:
        with _writable(places.queue_file) as queue:
            ids = job_ids or [job.id for job in queue.jobs(state=JobState.DEAD, limit=MANY)]
            spools = {spool.name: spool for spool in _spools(places, _settings(places, environ, []))}
            return {job_id: _change(queue, spools, verb, job_id) for job_id in ids}
    finally:
        held.release()


def _change(queue: "SqliteQueue", spools: Mapping[str, Spool], verb: str, job_id: str) -> str:
    job = queue.get(job_id)
    if job is None:
        return "there is no such job"
    spool, handoff = spools.get(str(job.payload.get("spool", ""))), str(job.payload.get("handoff", ""))
    if verb == "retry":
        is_so = queue.retry(job_id)
        if is_so and spool and handoff:
            spool.revive(handoff)  # the file that was kept for it waits again too
        return "" if is_so or job.state is JobState.READY else f"it is {job.state}"
    is_so = queue.discard(job_id)
    if is_so and spool and handoff:
        spool.discard(handoff)
    return "" if is_so or job.state is JobState.CANCELLED else f"it is {job.state}, not dead"


def _settings(places: Places, environ: Mapping[str, str], findings: list[Finding]) -> Settings:
    try:
        return load(places, environ, {}).settings
    except ConfigurationError as error:
        findings.append(Finding("config-wrong", where=str(places.config_file), detail=error.sentences[0]))
        return Settings()


def _spools(places: Places, settings: Settings) -> list[Spool]:
    configured = [
        (Path(spool.path), spool.harness or Path(spool.path).name.removesuffix(PLUGIN_SUFFIX) or "generic")
        for spool in settings.spools
    ]
    served = places_to_serve(places.spools, configured, places.home, discover=settings.discover)
    return [Spool(place.path, place.harness, own=place.own) for place in served]


def _counted(spool: Spool, now: float, findings: list[Finding]) -> SpoolPart:
    try:
        counts, paused = spool.counts(now), spool.paused.exists()
    except OSError as error:
        findings.append(Finding("spool-unreadable", where=str(spool.path), detail=error.strerror or str(error)))
        return SpoolPart(spool.harness, str(spool.path))
    return SpoolPart(
        spool.harness,
        str(spool.path),
        counts.pending,
        counts.running,
        counts.dead,
        counts.corrupt,
        counts.oldest_pending_seconds,
        paused=paused,
    )


def _queue(path: Path, now: float, findings: list[Finding]) -> tuple[QueueCounts, Sequence[Destination]]:
    try:
        with _reader(path) as queue:
            return (queue.counts(now), queue.destinations()) if queue else (NO_JOBS, ())
    except snapshot.NotADatabaseError as error:
        newer = isinstance(error.__cause__, NewerSchema)
        findings.append(
            Finding("queue-newer" if newer else "queue-unreadable", where=str(path), detail="" if newer else str(error))
        )
    return NO_JOBS, ()


def _extraction(spools: Sequence[Spool], now: float, findings: list[Finding]) -> ExtractionPart:
    number, oldest = 0, now
    for spool in spools:
        try:
            if not spool.evidence.exists():
                continue
            if snapshot.user_version(spool.evidence) > schema.VERSION:
                findings.append(Finding("newer-evidence", where=str(spool.path)))
                continue
            with snapshot.connected(spool.evidence) as connection:
                if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'memsyncd_posts'").fetchone():
                    found, since = connection.execute(OPEN_EXTRACTIONS).fetchone()
                    number, oldest = number + found, min(oldest, since or now)
        except (OSError, snapshot.NotADatabaseError) as error:
            findings.append(Finding("spool-unreadable", where=str(spool.path), detail=f"its evidence: {error}"))
    return ExtractionPart(number, now - oldest if number else 0.0)


@contextlib.contextmanager
def _reader(path: Path) -> Iterator[Reader | None]:
    """Give a reader of the queue's file; None where there is none, or nothing in it yet.

    Raises snapshot.NotADatabaseError, its cause NewerSchema where it is from a newer version.
    """
    try:
        if not path.exists():
            yield None
            return
        with snapshot.connected(path) as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > queue_schema.VERSION:
                raise NewerSchema(path, version, queue_schema.VERSION)
            connection.row_factory = sqlite3.Row
            yield Reader(connection) if version else None
    except OSError as error:
        raise snapshot.NotADatabaseError(error.strerror or str(error)) from error
    except QueueError as error:
        raise snapshot.NotADatabaseError(str(error)) from error


@contextlib.contextmanager
def _writable(path: Path) -> "Iterator[SqliteQueue]":
    """Give the queue for changing; huey and its like are loaded for this alone. The lock has to be held."""
    from random import Random  # noqa: PLC0415  (as above, and all that follow)

    from jobs.policy import Policy  # noqa: PLC0415
    from jobs.sqlite_queue import SqliteQueue  # noqa: PLC0415
    from memsyncd.clock import Clock  # noqa: PLC0415
    from memsyncd.counters import Counters  # noqa: PLC0415

    try:
        queue = SqliteQueue(path, clock=Clock(), policy=Policy(), counters=Counters(), random=Random())
        try:
            yield queue
        finally:
            queue.close()
    except QueueError as error:
        raise snapshot.NotADatabaseError(str(error)) from error
