"""What can be wrong, in one table: the sentence a person reads, what to type, and whether health turns red.

Pure: the parts of a status go in, problems come out. Health is CONTRACT's "Health": dead letters, corrupt files and
the like are problems, not ill health.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from daemon.status_parts import Finding, Phase, SpoolPart, StatusParts
from jobs.queue import Destination

QUIET_SECONDS = 40.0
"""Work that has been ready this long with nothing finished is no progress (CONTRACT: told within 45 s)."""

FAILING_SECONDS = 20.0
"""A destination may fail this long before health turns red: with the 15 s a write may take before its first failure
is known, the 45 s of CONTRACT's "Health" are kept, and one short 429 or 503 alarms nobody."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One line of the table. `degrades`: health turns red. `{where}` and `{detail}` are filled in."""

    degrades: bool
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem as `status` shows it; `since` is Unix seconds or None."""

    code: str
    since: float | None
    message: str
    remedy: str
    degrades: bool


def _red(message: str, remedy: str) -> Kind:
    return Kind(degrades=True, message=message, remedy=remedy)


def _note(message: str, remedy: str) -> Kind:
    return Kind(degrades=False, message=message, remedy=remedy)


KINDS: dict[str, Kind] = {
    "key-refused": _red(
        "{where} refuses the key",
        "Write a valid key into the file named by platform.api_key_file (`memsyncd config show` tells where the key "
        "comes from); it is taken up within 15 seconds and nothing that waits is lost. A key from the environment "
        "needs a restart of `memsyncd run`.",
    ),
    "quota": _red(
        "The account's limit at {where} is reached",
        "Raise the limit or wait until it is renewed; it is probed by itself. `memsyncd jobs list --state waiting` "
        "shows what waits.",
    ),
    "offline": _red(
        "{where} cannot be reached",
        "Check the network, and platform.url and http.proxy with `memsyncd config show`; it is tried again by itself "
        "and nothing that waits is lost.",
    ),
    "busy": _red(
        "{where} says it is too busy",
        "Nothing to do if this passes: it is tried again by itself. `memsyncd status --watch` shows when it answers.",
    ),
    "not-understood": _red(
        "{where} gives answers that are not a memory platform's",
        "Check platform.url and http.proxy with `memsyncd config show`; on a network with a login page, log in first.",
    ),
    "stuck-claim": _red(
        "A job has been running without a sign of life",
        "`memsyncd jobs list --state claimed` names it; end `memsyncd run` and start it again, which gives every "
        "claim back.",
    ),
    "no-progress": _red(
        "Work is ready, but nothing gets finished",
        "`memsyncd jobs list --state ready` shows the work; end `memsyncd run` and start it again, and keep its log "
        "if that helps.",
    ),
    "not-answering": _red(
        "A daemon ({where}) is there and does not answer",
        "Wait a few seconds if it has just been started; otherwise end it with `kill` and its pid, and start "
        "`memsyncd run` again.",
    ),
    "slow-start": _red(
        "The start is taking unusually long",
        "`memsyncd status --watch` shows whether the spools are getting emptier; the log of `memsyncd run` says what "
        "it is at.",
    ),
    "spool-unreadable": _red(
        "The spool {where} cannot be read",
        "It has to belong to you with mode 0700: `ls -ld {where}`, then `chmod -R u+rwX {where}`.",
    ),
    "spool-read-only": _red(
        "The spool {where} cannot be written",
        "Make it writable (`chmod -R u+rwX {where}`) or mount it writable; until then nothing in it is taken or lost.",
    ),
    "newer-evidence": _red(
        "The evidence in {where} was written by a newer version and is left untouched",
        "Upgrade memsyncd (`memsyncd --version` tells yours) and start `memsyncd run` again.",
    ),
    "queue-unreadable": _red(
        "The queue {where} cannot be read",
        "Check who owns it with `ls -l {where}`. If it is damaged, move it aside and start `memsyncd run`: what the "
        "spools hold is queued again.",
    ),
    "queue-newer": _red(
        "The queue {where} was written by a newer version and is left untouched",
        "Upgrade memsyncd (`memsyncd --version` tells yours).",
    ),
    "config-wrong": _red(
        "The configuration is wrong",
        "`memsyncd config check` says what and where.",
    ),
    "disk-nearly-full": _red(
        "The disk of {where} is nearly full",
        "Free some space (`df -h {where}`); evidence waits in the spools meanwhile.",
    ),
    "watcher-dead": _red(
        "Nobody watches the spools",
        "End `memsyncd run` and start it again; on Linux, `sysctl fs.inotify.max_user_instances` may be too low.",
    ),
    "watcher-polling": _note(
        "File watching is not available; the spools are scanned on a timer instead",
        "Nothing is lost, things start up to 15 s later. On Linux, raise `sysctl fs.inotify.max_user_watches`.",
    ),
    "dead-letters": _note(
        "{where} given up",
        "`memsyncd jobs list --state dead` says why; then `memsyncd jobs retry --dead`, or `memsyncd jobs discard ID`.",
    ),
    "corrupt-files": _note(
        "{where} no handoff and kept whole",
        "Look at them with `ls -l {detail}`, and remove them once nobody needs them.",
    ),
    "clock-jumped": _note(
        "The clock jumped; waiting times were moved along",
        "Nothing to do; `timedatectl` (or `date`) shows whether the clock is right now.",
    ),
    "hook-errors": _note(
        "Hooks could not write their handoffs",
        "The hook's log says why: `tail {where}`.",
    ),
    "evidence-read-only": _note(
        "The evidence in {where} has an unknown form and is only read",
        "Nothing to do if another tool owns it; otherwise upgrade memsyncd (`memsyncd --version` tells yours).",
    ),
    "evidence-renewed": _note(
        "The evidence in {where} was damaged and begun anew",
        "The damaged file is kept beside it: `ls -l {where}`. What was delivered before is on the platform.",
    ),
    "socket-foreign": _red(
        "The socket's place {where} is not free for a daemon of yours",
        "`ls -l {where}` shows what is there; move it elsewhere and start `memsyncd run`.",
    ),
    "socket-elsewhere": _note(
        "The socket's path was too long for this system, so it is at {where}",
        "Nothing to do: `memsyncd config path` tells it, and every command finds it.",
    ),
}
"""Every code a status may carry."""


def problems(parts: StatusParts) -> list[Problem]:
    """Return what is wrong, what degrades first, each code and place once."""
    found: dict[tuple[str, str], Problem] = {}
    for finding in (*parts.findings, *_derived(parts)):
        code, _, where = finding.code.partition(":")
        plain = replace(finding, code=code, where=finding.where or where)
        found.setdefault((plain.code, plain.where), _problem(plain))
    return sorted(found.values(), key=lambda problem: not problem.degrades)


def _problem(finding: Finding) -> Problem:
    kind = KINDS.get(finding.code, Kind(degrades=False, message=finding.code, remedy="See the log of `memsyncd run`."))
    names = {"where": finding.where or "the platform", "detail": finding.detail}
    message = finding.message or kind.message.format(**names)
    if finding.detail and not finding.message and "{detail}" not in kind.remedy:
        message = f"{message}: {finding.detail}"
    return Problem(
        code=finding.code,
        since=finding.since,
        message=message[:1].upper() + message[1:].rstrip(".") + ".",
        remedy=finding.remedy or kind.remedy.format(**names),
        degrades=kind.degrades if finding.degrades is None else finding.degrades,
    )


def _derived(parts: StatusParts) -> Iterator[Finding]:
    for destination in parts.destinations:
        if failing(destination, parts.now):
            yield _of_destination(destination, parts)
    if parts.phase is Phase.STARTING and parts.uptime_seconds >= QUIET_SECONDS:
        yield Finding("slow-start", since=parts.started_at)
    if parts.phase is Phase.RUNNING:
        yield from _standing_still(parts)
    if parts.jobs.dead:
        yield Finding("dead-letters", where=_many(parts.jobs.dead, "job was", "jobs were"))
    for spool in parts.spools:
        yield from _of_spool(spool)


def failing(destination: Destination, now: float) -> bool:
    """Return whether a destination is in trouble: parked, cooling, or not answered since its last failure."""
    return destination.parked or destination.failures > 0 or (destination.until or 0.0) > now


def _of_destination(destination: Destination, parts: StatusParts) -> Finding:
    """Name the trouble; a destination other than the platform (telemetry's) never turns health red."""
    ours = parts.platform.destination in {"", destination.name}
    since = destination.since if destination.since is not None else parts.now
    lasting = destination.parked or parts.now - since >= FAILING_SECONDS
    code = destination.code if destination.code in KINDS else "offline"
    return Finding(
        code,
        since=destination.since,
        where=f"the platform at {parts.platform.url}" if ours and parts.platform.url else destination.name,
        detail=destination.why,
        degrades=ours and lasting and KINDS[code].degrades,
    )


def _standing_still(parts: StatusParts) -> Iterator[Finding]:
    """Work that could go and does not, by the age of the work and of the last thing finished (never-again 134, 137)."""
    if parts.paused:
        return
    if parts.oldest_claim_seconds >= QUIET_SECONDS:
        yield Finding("stuck-claim", since=parts.now - parts.oldest_claim_seconds)
    if parts.uptime_seconds < QUIET_SECONDS:
        return  # what waited through a downtime is old and yet just begun
    if parts.last_progress_at is not None and parts.now - parts.last_progress_at < QUIET_SECONDS:
        return
    if parts.jobs.ready and parts.jobs.oldest_ready_seconds >= QUIET_SECONDS:  # those held by a cooldown are not ready
        yield Finding("no-progress", since=parts.now - parts.jobs.oldest_ready_seconds)
        return
    oldest = max((spool.oldest_pending_seconds for spool in parts.spools if not spool.paused), default=0.0)
    if oldest >= QUIET_SECONDS:
        yield Finding("no-progress", since=parts.now - oldest, detail="handoffs are not taken in")


def _of_spool(spool: SpoolPart) -> Iterator[Finding]:
    if spool.dead:
        yield Finding(
            "dead-letters",
            where=_many(spool.dead, "handoff was", "handoffs were") + f" ({spool.path})",
            message=f"{_many(spool.dead, 'handoff', 'handoffs')} of {spool.harness} "
            f"{'was' if spool.dead == 1 else 'were'} given up",
            remedy=f"Each has its reason beside it in {spool.path}/dead; `mv` it into {spool.path}/pending to try "
            "again, or remove both.",
        )
    if spool.corrupt:
        yield Finding(
            "corrupt-files",
            where=f"{_many(spool.corrupt, 'file', 'files')} of {spool.harness} {'is' if spool.corrupt == 1 else 'are'}",
            detail=f"{spool.path}/corrupt",
        )


def _many(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
