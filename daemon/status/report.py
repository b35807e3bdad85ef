"""The status as CONTRACT's `/status` JSON: state, one honest sentence, and every problem with its remedy. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from daemon.status.parts import (
    EvidencePart,
    ExtractionPart,
    Finding,
    GivenUp,
    PausedPart,
    Phase,
    PlatformPart,
    SpoolPart,
    StatusParts,
    TelemetryPart,
)
from daemon.status.problems import Problem, failing, is_own, problems
from jobs.queue.contract import Destination
from memsyncd.clock import rfc3339

__all__ = [
    "PROTOCOL",
    "EvidencePart",
    "ExtractionPart",
    "Finding",
    "GivenUp",
    "PausedPart",
    "Phase",
    "PlatformPart",
    "SpoolPart",
    "StatusParts",
    "TelemetryPart",
    "healthy",
    "status_document",
]

PROTOCOL = 1
"""The version of what the socket speaks (never-again 136)."""

DELIVERED = "packets_delivered"
REFUSED = "packets_refused"
NOTHING = "packets_empty"
"""The counters whose words differ for people: delivered, refused, nothing to keep (never-again 143)."""


def status_document(parts: StatusParts) -> dict[str, Any]:
    """Return the document: JSON values only; times ending in `_at`, `_until` and `since` are RFC 3339 or null."""
    found = problems(parts)
    return {
        "version": parts.version,
        "protocol": PROTOCOL,
        "pid": parts.pid,
        "run_id": parts.run_id,
        "started_at": _moment(parts.started_at),
        "at": _moment(parts.now),
        "uptime_seconds": round(parts.uptime_seconds, 3),
        "state": _state(parts, found),
        "paused": parts.paused,
        "paused_until": _moment(parts.paused_until),
        "paused_projects": [{"root": each.root, "until": _moment(each.until)} for each in parts.paused_projects],
        "summary": _summary(parts, found),
        "spools": [asdict(spool) for spool in parts.spools],
        "jobs": asdict(parts.jobs),
        "standing_jobs": parts.standing_jobs,
        "backlog": sum(spool.pending for spool in parts.spools) + _jobs_that_wait(parts),
        "forgetting": parts.forgetting,
        **({} if parts.fleet is None else {"fleet": dict(parts.fleet)}),
        "platform": _platform(parts),
        "destinations": [_destination(each) for each in parts.destinations],
        "extraction": asdict(parts.extraction),
        "evidence": asdict(parts.evidence),
        "telemetry": asdict(parts.telemetry),
        "counters": dict(parts.counters),
        "sizes": dict(parts.sizes),
        "last_progress_at": _moment(parts.last_progress_at),
        "socket": parts.socket,
        "data": parts.data,
        "problems": [_problem(problem) for problem in found],
    }


def healthy(document: Mapping[str, Any]) -> tuple[bool, Sequence[str]]:
    """Return whether a status document is one of a healthy daemon, and else the reasons, a sentence each.

    A user's pause, a start and a stop are healthy; problems that do not degrade are too (CONTRACT "Health"). A
    document of another version is judged by its state alone where its problems do not say.
    """
    state = document.get("state")
    if state not in {"degraded", "down"}:
        return True, ()
    if state == "down":
        return False, ("The daemon is not running.",)
    reasons = [problem["message"] for problem in document.get("problems", ()) if problem.get("degrades", True)]
    return False, tuple(reasons) or ("Degraded, and the daemon does not say why.",)


def _state(parts: StatusParts, found: Sequence[Problem]) -> str:
    if parts.phase in {Phase.DOWN, Phase.STOPPING}:
        return parts.phase.value
    if parts.paused:
        return "paused"
    if any(problem.degrades for problem in found):
        return "degraded"
    return "starting" if parts.phase is Phase.STARTING else "ok"


def _platform(parts: StatusParts) -> dict[str, Any]:
    platform = parts.platform
    ok, last_error, cooling_until = platform.ok, platform.last_error, None
    own = [each for each in parts.destinations if is_own(each, platform)]
    successes = (platform.last_success_at, *(each.last_success_at for each in own))
    last_success = max(filter(None, successes), default=None)
    if in_trouble := next((each for each in own if failing(each, parts.now)), None):
        ok, cooling_until, last_error = False, in_trouble.until, last_error or in_trouble.why
    elif ok is None and last_success is not None:
        ok = True
    return {
        "kind": platform.kind,
        "url": platform.url,
        "ok": ok,
        "cooling_until": _moment(cooling_until),
        "last_success_at": _moment(last_success),
        "last_error": last_error,
    }


def _problem(problem: Problem) -> dict[str, Any]:
    document = asdict(problem) | {"since": _moment(problem.since)}
    del document["brief"]
    return document


def _destination(destination: Destination) -> dict[str, Any]:
    return asdict(destination) | {
        "until": _moment(destination.until),
        "since": _moment(destination.since),
        "last_success_at": _moment(destination.last_success_at),
    }


def _summary(parts: StatusParts, found: Sequence[Problem]) -> str:
    """Say what is wrong, what moves, what waits; or, with nothing to do, what has become of all that came."""
    worst = next((problem for problem in found if problem.degrades), None)
    if parts.phase is Phase.DOWN:
        return _down(parts, worst)
    sentence = ", ".join(filter(None, (_moving(parts), _waiting(parts)))) or _outcome(parts)
    sentence = sentence[:1].upper() + sentence[1:]
    if parts.phase is Phase.STARTING:
        sentence = f"Starting: {sentence[:1].lower()}{sentence[1:]}"
    elif parts.phase is Phase.STOPPING:
        sentence = f"Stopping: {sentence[:1].lower()}{sentence[1:]}"
    elif parts.paused:
        sentence = f"Paused by you; nothing is captured or sent. {sentence}"
    if worst is not None:
        return f"{worst.brief.rstrip('.')}; {sentence[:1].lower()}{sentence[1:]}."
    if found:
        return f"{sentence}; {found[0].brief[:1].lower()}{found[0].brief[1:]}"
    return f"{sentence}."


def _down(parts: StatusParts, worst: Problem | None) -> str:
    """Say what waits and what is recorded; where the files could not all be read, say that rather than that nothing
    does."""
    waiting = _waiting(parts)
    tail = f"; {waiting} and will be taken up at the next start" if waiting else "" if worst else "; nothing waits"
    recorded = _recorded(parts)
    tail += recorded if tail else recorded.replace(",", ";", 1)
    told = f" {worst.brief}" if worst else ""
    return f"The daemon is not running{tail}.{told} Start it with `memsyncd run`."


def _moving(parts: StatusParts) -> str:
    taken = sum(spool.running for spool in parts.spools)
    moving = []
    if parts.jobs.claimed:
        moving.append(f"{_number(parts.jobs.claimed, 'job runs', 'jobs run')}")
    if parts.extraction.open:
        moving.append(f"{_number(parts.extraction.open, 'batch is', 'batches are')} being turned into memories")
    if taken and not moving:
        moving.append(f"{_number(taken, 'handoff is', 'handoffs are')} in work")
    if delivered := _of_all_machines(parts, "claimed"):
        batches = _number(delivered, "batch of all machines is", "batches of all machines are")
        moving.append(f"{batches} being delivered")
    return " and ".join(moving)


def _waiting(parts: StatusParts) -> str:
    pending = sum(spool.pending for spool in parts.spools)
    jobs = _jobs_that_wait(parts)
    if parts.phase is Phase.DOWN:  # what was in work waits too
        jobs += parts.jobs.claimed
        pending += sum(spool.running for spool in parts.spools)
    shared = _of_all_machines(parts, "ready", "waiting")
    counts = [(pending, "handoff", "handoffs"), (jobs, "job", "jobs")]
    counts += [(shared, "batch of all machines", "batches of all machines")]
    named = [_number(*each) for each in counts if each[0]]
    alone = sum(each[0] for each in counts) == 1
    return f"{' and '.join(named)} {'waits' if alone else 'wait'}" if named else ""


def _of_all_machines(parts: StatusParts, *states: str) -> int:
    """Return how many batches of the shared queue are in these states, as a worker sees them."""
    jobs = (parts.fleet or {}).get("jobs") or {}
    return sum(jobs.get(state) or 0 for state in states)


def _jobs_that_wait(parts: StatusParts) -> int:
    return parts.jobs.ready + max(parts.jobs.waiting - parts.standing_jobs, 0)


def _outcome(parts: StatusParts) -> str:
    words = [
        (parts.counters.get(DELIVERED, 0), "delivered"),
        (parts.counters.get(REFUSED, 0), "refused"),
        (parts.counters.get(NOTHING, 0), "held nothing to keep"),
    ]
    told = ", ".join(f"{number:,} {word}" for number, word in words if number)
    recorded = _recorded(parts)
    if told:
        return f"nothing waits{recorded}; packets since the start: {told}"
    is_worker = "jobs" in (parts.fleet or {})  # which is asked for nothing, and delivers what is there
    return f"nothing waits{recorded}" if recorded or is_worker else "nothing waits, nothing was asked for yet"


def _recorded(parts: StatusParts) -> str:
    """Say what is recorded and goes out later, for nothing is to look delivered that is not (never-again 143)."""
    if not parts.evidence.unsent_events:
        return ""
    events = _number(parts.evidence.unsent_events, "recorded event", "recorded events")
    sessions = _number(parts.evidence.unsent_sessions, "session", "sessions")
    goes = "goes" if parts.evidence.unsent_events == 1 else "go"
    ends = "it ends" if parts.evidence.unsent_sessions == 1 else "they end"
    asked = "" if parts.phase is Phase.DOWN else " (or `memsyncd flush`)"  # which needs the daemon
    return f", {events} of {sessions} {goes} out when {ends}{asked}"


def _number(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(seconds)
