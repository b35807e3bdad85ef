"""The status from the files, while no daemon runs. Nothing is changed by looking; unreadable files are problems."""

import contextlib
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from daemon import lock
from daemon.another_owner import AnotherOwner
from daemon.configuration_error import ConfigurationError
from daemon.forgetting import trouble as forgetting_trouble
from daemon.intake import spool_codes, spool_trouble
from daemon.intake.served import PLUGIN_SUFFIX, places_to_serve
from daemon.intake.spool import Spool, age_at
from daemon.pausing import Pauses
from daemon.places import Places
from daemon.settings import Settings, load, telling
from daemon.status import offline_jobs, snapshot
from daemon.status.given_up import forgetting, given_up
from daemon.status.kept_copies import kept_copies
from daemon.status.parts import (
    EvidencePart,
    ExtractionPart,
    Finding,
    PausedPart,
    Phase,
    PlatformPart,
    QueuePart,
    SpoolPart,
    StatusParts,
)
from daemon.status.sizes import sizes
from daemon.telemetry.told import telemetry_part
from jobs.job import JobState
from jobs.queue.contract import Destination
from jobs.queue.errors import NewerSchema
from memsyncd.evidence import schema
from memsyncd.platforms.local import schema as memory_schema
from memsyncd.version import __version__

TIMERS = ("poll", "telemetry")
"""The kinds of the daemon's own timers, whose modules load the platforms."""

MANY_TIMERS = 1000

OPEN_EXTRACTIONS = f"""SELECT count(*), min(nullif(waiting_since, 0)) FROM memsyncd_posts
    WHERE batch >= 0 AND event_id <> ''
    AND packet_id IN (SELECT packet_id FROM flushes WHERE {schema.UNCONFIRMED_SQL})"""  # noqa: S608  (a constant)

UNSENT = "SELECT count(*), count(DISTINCT session_id) FROM events WHERE flush_id IS NULL"


def offline_parts(
    places: Places,
    environ: Mapping[str, str],
    *,
    now: float,
    unanswered: str = "",
    another: AnotherOwner | None = None,
) -> StatusParts:
    """Return what the files tell. A daemon that holds the lock and does not answer is a finding, not down.

    `unanswered` is the sentence in which asking at the socket ended, empty where nobody listens; `another` tells whose
    the data are, where that is why. Never raises for what is missing, unreadable or foreign.
    """
    findings: list[Finding] = []
    if not _is_open(places.data):
        phase = Phase.RUNNING if another else Phase.DOWN  # it may well be there
        findings.append(_owned(Finding("data-closed", where=str(places.data)), another))
        socket, data = str(places.status_socket), str(places.data)
        return StatusParts(version=__version__, now=now, phase=phase, findings=findings, socket=socket, data=data)
    settings = settings_or_default(places, environ, findings)
    spools = spools_to_serve(places, settings)
    queue = _queue(places.queue_file, spools, now, findings)
    findings += kept_copies(places, spools)
    findings += forgetting_trouble.found(places.data)
    findings += _newer_memory(places.memory_file, is_needed=settings.platform.kind == "local")
    pauses = Pauses(places.data).state()
    is_held = lock.is_held(places.lock_file)
    holder = lock.holder(places.lock_file) if is_held else None
    if is_held:
        who = f"pid {holder.pid}" if holder else "pid unknown"
        findings.append(_owned(Finding("not-answering", where=who, detail=unanswered), another))
    elif unanswered:
        findings.append(Finding("socket-foreign", where=str(places.status_socket), detail=unanswered))
    return StatusParts(
        version=__version__,
        now=now,
        phase=Phase.RUNNING if is_held else Phase.DOWN,
        pid=holder.pid if holder else None,
        run_id=holder.run_id if holder else "",
        spools=[_counted(spool, now, findings) for spool in spools],
        jobs=queue.counts,
        destinations=queue.destinations,
        standing_jobs=queue.timers,
        given_up=queue.given_up,
        forgetting=queue.forgetting,
        platform=_platform(settings, queue.destinations),
        extraction=_extraction(spools, now, findings),
        evidence=unsent_evidence(spools),
        telemetry=telemetry_part(settings, places.data, spools),
        sizes=sizes(places, spools),
        findings=findings,
        paused=pauses.is_paused,
        paused_until=pauses.everything.until if pauses.everything else None,
        paused_projects=[PausedPart(each.root, each.pause.until) for each in pauses.projects],
        socket=str(places.status_socket),
        data=str(places.data),
    )


def _owned(finding: Finding, another: AnotherOwner | None) -> Finding:
    """Return the finding, in words of its own where the reason is whose the data are."""
    return replace(finding, message=another.sentence, remedy=another.remedy) if another else finding


def _is_open(data: Path) -> bool:
    """Whether the data directory can be looked into, or is not there yet."""
    try:
        return os.access(data, os.R_OK | os.X_OK, effective_ids=True) or not data.exists()
    except OSError:  # what is above it is closed too
        return False


def settings_or_default(places: Places, environ: Mapping[str, str], findings: list[Finding]) -> Settings:
    """Return the settings in effect; the defaults, and a finding, where the configuration is wrong."""
    try:
        return load(places, environ, {}).settings
    except ConfigurationError as error:
        findings.append(Finding("config-wrong", where=str(places.config_file), detail=error.sentences[0]))
        return Settings()


def spools_to_serve(places: Places, settings: Settings) -> list[Spool]:
    """Return the spools a daemon would serve now."""
    configured = [
        (Path(spool.path), spool.harness or Path(spool.path).name.removesuffix(PLUGIN_SUFFIX) or "generic")
        for spool in settings.spools
    ]
    served = places_to_serve(places.spools, configured, places.home, discover=settings.discover)
    return [Spool(place.path, place.harness, own=place.own) for place in served]


def _counted(spool: Spool, now: float, findings: list[Finding]) -> SpoolPart:
    try:
        counts, paused = spool.counts(age_at(now)), spool.own and spool.paused.exists()
    except OSError as error:
        code = spool_trouble.code_of(error, spool_codes.UNREADABLE)
        findings.append(Finding(code, where=str(spool.path), detail=spool_trouble.words(error)))
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


def _queue(path: Path, spools: Sequence[Spool], now: float, findings: list[Finding]) -> QueuePart:
    try:
        with offline_jobs.reader(path) as queue:
            if queue:
                timers = sum(
                    len(queue.jobs(state=JobState.WAITING, kind=kind, lane="", limit=MANY_TIMERS)) for kind in TIMERS
                )
                counts = queue.counts(now)
                dead = given_up(queue.jobs, counts.dead, spools)
                return QueuePart(counts, timers, queue.destinations(), dead, forgetting(queue.jobs))
    except snapshot.NotADatabaseError as error:
        newer = isinstance(error.__cause__, NewerSchema)
        findings.append(
            Finding("queue-newer" if newer else "queue-unreadable", where=str(path), detail="" if newer else str(error))
        )
    return QueuePart()


def _newer_memory(path: Path, *, is_needed: bool) -> list[Finding]:
    """`is_needed`: no daemon starts without it. Of a file that is damaged the daemon itself tells."""
    try:
        with snapshot.connected(path) as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    except (OSError, snapshot.NotADatabaseError):
        return []
    return [Finding("memory-newer", where=str(path), degrades=is_needed)] if version > memory_schema.VERSION else []


def _platform(settings: Settings, destinations: Sequence[Destination]) -> PlatformPart:
    """Return the platform of the settings, with what the queue remembers of it: a destination's name begins with its
    platform's kind, and its URL follows."""
    kind, url = settings.platform.kind, telling.place(settings.platform.url)
    known = next((each for each in destinations if each.name.partition(" ")[0] == kind), None)
    if known is None:
        return PlatformPart(kind, url)
    return PlatformPart(kind, url or known.name.partition(" ")[2], known.name, last_success_at=known.last_success_at)


def _extraction(spools: Sequence[Spool], now: float, findings: list[Finding]) -> ExtractionPart:
    number, oldest = 0, now
    for spool in spools:
        try:
            if not spool.evidence.exists():
                continue
            if snapshot.user_version(spool.evidence) > schema.VERSION:
                findings.append(Finding("newer-evidence", where=str(spool.path)))
                continue
            found, since = _open_extractions(spool.evidence)
            number, oldest = number + found, min(oldest, since or now)
        except (OSError, snapshot.NotADatabaseError) as error:
            if spool.own or isinstance(error, OSError):  # a plugin may be writing to its own at this moment
                findings.append(Finding("spool-unreadable", where=str(spool.path), detail=f"its evidence: {error}"))
    return ExtractionPart(number, now - oldest if number else 0.0)


def unsent_evidence(spools: Sequence[Spool]) -> EvidencePart:
    """Count what is recorded and not yet asked to be sent; what cannot be read is a finding of `_extraction`."""
    events = sessions = 0
    for spool in spools:
        with contextlib.suppress(OSError, sqlite3.Error, snapshot.NotADatabaseError):
            if spool.own and spool.evidence.exists() and snapshot.user_version(spool.evidence) <= schema.VERSION:
                with snapshot.connected(spool.evidence) as connection:
                    found = connection.execute(UNSENT).fetchone()
                events, sessions = events + int(found[0]), sessions + int(found[1])
    return EvidencePart(events, sessions)


def _open_extractions(evidence: Path) -> tuple[int, float | None]:
    with snapshot.connected(evidence) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'memsyncd_posts'").fetchone():
            return 0, None  # a plugin's file that no daemon has served yet
        number, since = connection.execute(OPEN_EXTRACTIONS).fetchone()
        return int(number), since
