"""The problems of a status: those its parts found and those that follow from its numbers. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from daemon.forgetting import trouble_codes as forgetting_trouble
from daemon.intake import spool_codes
from daemon.status.parts import Finding, GivenUp, Phase, PlatformPart, SpoolPart, StatusParts
from daemon.status.problem_kinds import KINDS, Kind
from jobs.queue.contract import Destination

QUIET_SECONDS = 40.0
"""Work that has been ready this long with nothing finished is no progress (CONTRACT: told within 45 s)."""

CALL_MARGIN_SECONDS = 10.0
"""How much longer than the platform's longest call a job may run before it is stuck."""

FAILING_SECONDS = 20.0
"""A destination may fail this long before health turns red: with the 15 s a write may take before its first failure
is known, the 45 s of CONTRACT's "Health" are kept, and one short 429 or 503 alarms nobody."""

_ACCOUNT_REMEDIES = {
    "key-refused": "Write a valid key into the account's file in `queue.keys_directory` (`memsyncd config show` tells "
    "where that is), on every worker that has one; it is taken up within 15 seconds and nothing that waits is lost.",
}
"""What to do where a further account's key is another one than the platform's own."""

TELEMETRY, EXTRACTOR = "telemetry:", "extractor:"
"""How the name of a telemetry endpoint, and of a model, as a destination begins."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem as `status` shows it; `since` is Unix seconds or None. `brief` is the message without its detail."""

    code: str
    since: float | None
    message: str
    remedy: str
    degrades: bool
    brief: str


def problems(parts: StatusParts) -> list[Problem]:
    """Return what is wrong, what degrades first, each code and place once."""
    found: dict[tuple[str, str], Problem] = {}
    for finding in (*parts.findings, *_derived(parts)):
        code, _, where = finding.code.partition(":")
        plain = replace(finding, code=code, where=finding.where or where)
        found.setdefault((plain.code, plain.where), problem_of(plain))
    return sorted(found.values(), key=lambda problem: not problem.degrades)


def problem_of(finding: Finding) -> Problem:
    """Return a finding as people read it."""
    kind = KINDS.get(finding.code, Kind(degrades=False, message=finding.code, remedy="See the log of `memsyncd run`."))
    names = {"where": finding.where or "the platform", "detail": finding.detail}
    brief = message = finding.message or kind.message.format(**names)
    if finding.detail and not finding.message and "{detail}" not in kind.remedy:
        message = f"{message}: {finding.detail}"
    return Problem(
        code=finding.code,
        since=finding.since,
        message=_sentence(message),
        remedy=finding.remedy or kind.remedy.format(**names),
        degrades=kind.degrades if finding.degrades is None else finding.degrades,
        brief=_sentence(brief),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _derived(parts: StatusParts) -> Iterator[Finding]:
    for destination in parts.destinations:
        if failing(destination, parts.now):
            yield _of_destination(destination, parts)
    if parts.phase is Phase.STARTING and parts.uptime_seconds >= QUIET_SECONDS:
        yield Finding("slow-start", since=parts.started_at)
    if parts.phase is Phase.RUNNING:
        yield from _standing_still(parts)
    if parts.jobs.dead:
        yield Finding("dead-letters", where=_dead(parts))
    yield from _of_fleet(parts.fleet or {})
    if not parts.paused:
        yield from map(_paused_alone, (spool for spool in parts.spools if spool.paused))
    kept = parts.given_up.kept if parts.given_up is not None else {}
    for spool in parts.spools:
        yield from _of_spool(spool, kept.get(spool.path, 0))


def _dead(parts: StatusParts) -> str:
    """Name each loss once: a packet, and not also the job that saw to it and the handoff kept for that job."""
    found = parts.given_up or GivenUp(jobs=parts.jobs.dead)
    told = [
        _many(number, one, more)
        for number, one, more in ((found.packets, "packet", "packets"), (found.jobs, "job", "jobs"))
        if number
    ]
    return f"{' and '.join(told)} {'was' if found.packets + found.jobs == 1 else 'were'}"


def _of_fleet(fleet: Mapping[str, Any]) -> Iterator[Finding]:
    """Tell of dead letters in the shared queue: a worker of all machines', an edge of its own packets'."""
    batches, packets = (fleet.get("jobs") or {}).get("dead", 0), fleet.get("packets_dead", 0)
    told = [(batches, "batch of all machines", "batches of all machines")]
    told += [(packets, "packet of this machine", "packets of this machine")]
    for number, one, more in told:
        if number:
            yield Finding(
                "dead-letters",
                where=f"{_many(number, one, more)} in the shared queue {'was' if number == 1 else 'were'}",
                remedy="`memsyncd jobs list --all-hosts --state dead` says why; then `memsyncd jobs retry ID`, or "
                "`memsyncd jobs discard ID`, on any of the machines.",
            )


def is_own(destination: Destination, platform: PlatformPart) -> bool:
    """Return whether a destination is the platform as this machine's own account is known to it; the embedded queue
    knows no accounts."""
    return destination.name == platform.destination and destination.account in {"", platform.account}


def failing(destination: Destination, now: float) -> bool:
    """Return whether a destination is in trouble: parked, cooling, or not answered since its last failure."""
    return destination.parked or destination.failures > 0 or (destination.until or 0.0) > now


def _of_destination(destination: Destination, parts: StatusParts) -> Finding:
    """Name the trouble; a destination other than the platform (telemetry's, a model) never turns health red."""
    if destination.name.startswith(TELEMETRY):
        return _of_telemetry(destination)
    if destination.name.startswith(EXTRACTOR):
        where = destination.name.removeprefix(EXTRACTOR)
        return Finding("extractor-away", since=destination.since, where=where, detail=destination.why)
    platform = parts.platform
    ours = platform.destination in {"", destination.name}
    since = destination.since if destination.since is not None else parts.now
    lasting = destination.parked or parts.now - since >= FAILING_SECONDS
    code = destination.code if destination.code in KINDS else "offline"
    where = f"the platform at {platform.url}" if ours and platform.url else destination.name
    remedy = ""
    if ours and platform.destination and not is_own(destination, platform):
        where = f"{where}, asked with the key of account {destination.account!r},"
        remedy = _ACCOUNT_REMEDIES.get(code, "")
    return Finding(
        code,
        since=destination.since,
        where=where,
        remedy=remedy,
        detail=destination.why,
        degrades=ours and lasting and KINDS[code].degrades,
    )


def _of_telemetry(destination: Destination) -> Finding:
    code = "telemetry-refused" if destination.parked else "telemetry-waits"
    where = destination.name.removeprefix(TELEMETRY)
    return Finding(code, since=destination.since, where=where, detail=destination.why)


def _standing_still(parts: StatusParts) -> Iterator[Finding]:
    """Work that could go and does not, by the age of the work and of the last thing finished (never-again 134, 137)."""
    if parts.paused:
        return
    patience = max(QUIET_SECONDS, parts.longest_call_seconds + CALL_MARGIN_SECONDS)
    if parts.oldest_claim_seconds >= patience:
        yield Finding("stuck-claim", since=parts.now - parts.oldest_claim_seconds)
    if parts.uptime_seconds < QUIET_SECONDS:
        return  # what waited through a downtime is old and yet just begun
    if parts.last_progress_at is not None and parts.now - parts.last_progress_at < QUIET_SECONDS:
        return
    waits_for_calls = parts.jobs.claimed > 0 and parts.oldest_claim_seconds < patience
    quiet = patience if waits_for_calls else QUIET_SECONDS
    if parts.jobs.ready and parts.jobs.oldest_ready_seconds >= quiet:  # those held by a cooldown are not ready
        yield Finding("no-progress", since=parts.now - parts.jobs.oldest_ready_seconds)
        return
    if any(finding.code in forgetting_trouble.CODES for finding in parts.findings):
        return
    kept_out = {*parts.unserved, *(each.where for each in parts.findings if each.code in spool_codes.CODES)}
    taken = (spool for spool in parts.spools if not spool.paused and spool.path not in kept_out)
    oldest = max((spool.oldest_pending_seconds for spool in taken), default=0.0)
    if oldest >= QUIET_SECONDS:
        yield Finding("no-progress", since=parts.now - oldest, detail="handoffs are not taken in")


def _paused_alone(spool: SpoolPart) -> Finding:
    return Finding(
        "spool-paused",
        where=spool.path,
        message=f"Capture from {spool.harness} alone is paused, by the file {spool.path}/paused",
        remedy="Its hooks write nothing until `memsyncd resume` takes the file away.",
    )


def _of_spool(spool: SpoolPart, kept: int) -> Iterator[Finding]:
    """`kept` of the dead handoffs lie there for dead jobs, which are told of."""
    dead = spool.dead - kept
    if dead > 0:
        yield Finding(
            "dead-letters",
            where=_many(dead, "handoff was", "handoffs were") + f" ({spool.path})",
            message=f"{_many(dead, 'handoff', 'handoffs')} of {spool.harness} "
            f"{'was' if dead == 1 else 'were'} given up",
            remedy="`memsyncd jobs list --state dead` says why; then `memsyncd jobs retry ID`, or `memsyncd jobs "
            "discard ID`.",
        )
    if spool.corrupt:
        yield Finding(
            "corrupt-files",
            where=f"{_many(spool.corrupt, 'file', 'files')} of {spool.harness} {'is' if spool.corrupt == 1 else 'are'}",
            detail=f"{spool.path}/corrupt",
        )


def _many(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
