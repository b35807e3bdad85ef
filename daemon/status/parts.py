"""What a status is made of, as plain values: gathered by the daemon, or from the files while it is down."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from jobs.queue.contract import Destination, QueueCounts

NO_JOBS = QueueCounts(ready=0, waiting=0, claimed=0, done=0, dead=0, cancelled=0, oldest_ready_seconds=0.0)
"""An empty queue."""


class Phase(StrEnum):
    """Where a daemon stands in its life; `DOWN` is told from the files."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, found by a part of the daemon.

    `code` names a kind of the table in `daemon.status.problem_kinds`, with `:` and the place after it where one kind
    can hold of several places (`spool-unreadable:codex`). `where` is what it is about (a path, a job, a destination)
    and `detail` the lower error's own words. `message`, `remedy` and `degrades` override the table, and are needed
    for a code it does not have. `since` is Unix seconds, None where nobody saw it begin.
    """

    code: str
    since: float | None = None
    where: str = ""
    detail: str = ""
    message: str = ""
    remedy: str = ""
    degrades: bool | None = None


@dataclass(frozen=True, slots=True)
class SpoolPart:
    """One spool's files. `oldest_pending_seconds` is 0 when nothing waits that could be taken in."""

    harness: str
    path: str
    pending: int = 0
    running: int = 0
    dead: int = 0
    corrupt: int = 0
    oldest_pending_seconds: float = 0.0
    paused: bool = False


@dataclass(frozen=True, slots=True)
class GivenUp:
    """`packets` that were not delivered, and dead `jobs` that are about none of them. `kept` tells for a spool's path
    how many of its dead handoffs lie there for a dead job."""

    packets: int = 0
    jobs: int = 0
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueuePart:
    """What a queue tells; all of it is empty where it cannot be asked. `timers` is how many of the waiting jobs are the
    daemon's own, `forgetting` how many requests to forget look for late memories still."""

    counts: QueueCounts = NO_JOBS
    timers: int = 0
    destinations: Sequence[Destination] = ()
    given_up: GivenUp | None = None
    forgetting: int = 0


@dataclass(frozen=True, slots=True)
class PausedPart:
    """A project paused by itself: the root of its working tree, and the pause's end in Unix seconds, or None."""

    root: str
    until: float | None = None


@dataclass(frozen=True, slots=True)
class PlatformPart:
    """Where memories go. `ok` None: nothing was tried yet. `destination` is the name under which the queue cools it,
    on a shared queue for this machine's own `account`; `last_success_at` is Unix seconds."""

    kind: str
    url: str = ""
    destination: str = ""
    account: str = ""
    ok: bool | None = None
    last_success_at: float | None = None
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionPart:
    """Batches sent whose extraction is not confirmed yet; `oldest_seconds` is 0 when there are none."""

    open: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """Recorded and not yet asked to be sent: it goes out when a threshold is reached or its session ends."""

    unsent_events: int = 0
    unsent_sessions: int = 0


@dataclass(frozen=True, slots=True)
class TelemetryPart:
    """Telemetry's own spool, in events (`parked` in files, and so `set_aside`, of what will not be sent). `account`
    tells that the account's e-mail may be told."""

    enabled: bool = False
    endpoint: str = ""
    spooled: int = 0
    parked: int = 0
    dropped: int = 0
    interval_seconds: float = 0.0
    account: bool = False
    set_aside: int = 0


@dataclass(frozen=True, slots=True)
class StatusParts:
    """Everything a status tells. Times ending in `_at` and `now` are Unix seconds.

    `last_progress_at` is when a job last finished or a handoff was last taken in; `oldest_claim_seconds` is how long
    the claimed job that has moved least lately has not moved, and `longest_call_seconds` how long it may be so.
    `paused` is the user's own pause of everything, `paused_until` its end. `forgetting` counts requests to forget that
    look for late memories still; `given_up` is None where only the counts are known. `standing_jobs` is how many of the
    waiting jobs are the daemon's own timers, behind which nobody's work waits. `unserved` has the paths of spools whose
    evidence is not open: a plugin has not made it yet, or a problem of its own tells why.
    """

    version: str
    now: float
    phase: Phase = Phase.RUNNING
    pid: int | None = None
    run_id: str = ""
    started_at: float | None = None
    uptime_seconds: float = 0.0
    spools: Sequence[SpoolPart] = ()
    unserved: Collection[str] = ()
    jobs: QueueCounts = NO_JOBS
    destinations: Sequence[Destination] = ()
    platform: PlatformPart = field(default_factory=lambda: PlatformPart(kind="local"))
    extraction: ExtractionPart = field(default_factory=ExtractionPart)
    evidence: EvidencePart = field(default_factory=EvidencePart)
    telemetry: TelemetryPart = field(default_factory=TelemetryPart)
    counters: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    last_progress_at: float | None = None
    oldest_claim_seconds: float = 0.0
    longest_call_seconds: float = 0.0
    standing_jobs: int = 0
    paused: bool = False
    paused_until: float | None = None
    paused_projects: Sequence[PausedPart] = ()
    given_up: GivenUp | None = None
    forgetting: int = 0
    fleet: Mapping[str, Any] | None = None
    socket: str = ""
    data: str = ""
