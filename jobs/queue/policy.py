"""What follows from a run: pure decisions about retries, crashes and cooldowns. `jitter` is chance, in [0, 1)."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobs.job import MAX_CRASHES, JobState, NewJob
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.queue.contract import Destination

CRASHED = "crashed the worker"
"""The reason of a job whose claims expired too often (DESIGN: the queue)."""

SUSPECTED = "in hand at several deaths of the daemon: waits until it has lived for a while"
"""The reason of a job that waits for its trial."""

TRIAL_FIRST, TRIAL_LONGEST, TRIAL_SPREAD = 5.0, 60.0, 0.5
"""How long the daemon has lived when it tries a suspected job: doubled with each further death, spread upwards."""

TEXT_LIMIT = 500
"""Characters kept of a reason or an error."""

LONGEST_DELAY = 366 * 86400.0
"""No delay is longer: a platform's odd Retry-After or a job's slip must not put something off for ever."""

SHORTEST_COOLDOWN = 1.0
"""A destination that answers "come back in 0 seconds" is not asked in a loop."""

OFTEN_SECONDS, SELDOM_SECONDS = 900.0, 60.0
"""A trouble of the network is looked at often for a quarter of an hour, in which somebody may be about to end it; of
one that lasts, an evening without a network or a proxy that is broken for hours, a look a minute is enough."""

OFFLINE_FIRST, OFFLINE_LONGEST = 5.0, 20.0
"""No connection: a laptop's network is back soon, and a probe that finds none costs next to nothing. Below the 30 s
within which work is to go on (issue 6, point 9: two scans), chance included."""

PAGE_SECONDS = 15.0
"""A login page in the platform's place: one small question without key and text a scan."""

NOT_UNDERSTOOD_FIRST = 15.0
"""An answer that is not the platform's: in time for who logs in at once, then doubled, for the probe is a request with
all that belongs to it unless the platform shows itself to be gone, which makes a `login-page` of it."""

BUSY_FIRST = 60.0
"""Busy, without a Retry-After: the first wait, then doubled (issue 2, "answers and what follows")."""


_OF_THE_NETWORK = frozenset({"offline", "login-page"})

RETRY_SPREAD = 0.2
COOLDOWN_SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings: `retry.*` is the delay between one item's attempts, `max_cooldown` the ceiling of a destination's.

    All in seconds. Five attempts: facts 2.9; three crashes: DESIGN. Ten restarts: so often in a row, the last seven
    after a minute's life and less (`trial_wait`), the daemon dies of one job only if that job is the cause.
    """

    first_delay: float = 5.0
    max_delay: float = 1800.0
    max_attempts: int = 5
    max_cooldown: float = 900.0
    max_crashes: int = MAX_CRASHES
    max_restarts: int = 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a job. `delay` counts for `waiting`; `error` is added to its errors; `payload` replaces its own.

    The jobs of `enqueue` come with it, the waiting jobs of `wake` are made ready, the waiting job `ends` is done too.

    `cool` is set where the destination failed; the job is ready then, and held by the destination.
    """

    state: JobState
    attempts: int
    reason: str = ""
    delay: float = 0.0
    error: str = ""
    payload: Mapping[str, Any] | None = None
    wake_lane: bool = False
    cool: Cool | None = None
    enqueue: Sequence[NewJob] = ()
    wake: Sequence[str] = ()
    ends: str = ""


def settle(outcome: Outcome, attempts: int, policy: Policy, jitter: float) -> Verdict:
    """Decide what becomes of a job that had `attempts` before this run."""
    match outcome:
        case Done(summary, wake_lane, ends, payload):
            return Verdict(JobState.DONE, attempts, bounded(summary), payload=payload, wake_lane=wake_lane, ends=ends)
        case Snooze(delay, why, payload, enqueue, wake):
            return Verdict(
                JobState.WAITING,
                attempts,
                bounded(why),
                delay=clamped(delay),
                payload=payload,
                enqueue=enqueue,
                wake=wake,
            )
        case Retry(why, delay):
            why = bounded(why)
            if attempts + 1 >= policy.max_attempts:
                return Verdict(JobState.DEAD, attempts + 1, why, error=why)
            wait = retry_delay(attempts + 1, policy, jitter) if delay is None else clamped(delay)
            return Verdict(JobState.WAITING, attempts + 1, why, delay=wait, error=why)
        case Cool():
            return Verdict(JobState.READY, attempts, bounded(outcome.why), cool=outcome)
        case GiveUp(why, wake_lane):
            return Verdict(JobState.DEAD, attempts, bounded(why), error=bounded(why), wake_lane=wake_lane)
    raise TypeError(f"{type(outcome).__name__} is no outcome")


def after_crash(crashes: int, policy: Policy, *, daemon_died: bool = False) -> tuple[JobState, str]:
    """Return state and reason of a job whose claim was lost for the `crashes`-th time since its last ended run.

    With `daemon_died` the whole daemon went down with it, which is mostly somebody else's doing (a power cut, a
    kill -9): then it takes `max_restarts` in a row to call the job the cause.
    """
    limit = policy.max_restarts if daemon_died else policy.max_crashes
    return (JobState.DEAD, CRASHED) if crashes >= limit else (JobState.READY, "")


def trial_wait(job_id: str, crashes: int, lived: float, policy: Policy) -> float:
    """Return for how many more seconds a daemon that has `lived` for so long leaves a job alone; 0: it may run.

    What is first in the queue is in hand first after each start. Where something else kills the daemon again and again,
    that is no reason to give it up; so a job that was in hand at `max_crashes` deaths runs only when the daemon has
    shown that it lives without it. Spread by the job, or those that were in hand together always would be again.
    """
    if crashes < policy.max_crashes:
        return 0.0
    chance = zlib.crc32(f"{crashes} {job_id}".encode()) / 2**32
    due = doubled(TRIAL_FIRST, crashes - policy.max_crashes + 1, TRIAL_LONGEST) * (1 + TRIAL_SPREAD * chance)
    return max(0.0, due - lived)


def retry_delay(attempt: int, policy: Policy, jitter: float) -> float:
    """Return the wait after the `attempt`-th failed attempt (from 1): doubled, spread by a fifth, bounded."""
    base = doubled(policy.first_delay, attempt, policy.max_delay)
    return min(base * (1 + RETRY_SPREAD * (2 * jitter - 1)), policy.max_delay)


def cooldown(cool: Cool, failures: int, policy: Policy, jitter: float, lasted: float = 0.0) -> float:
    """Return for how many seconds a destination cools after its `failures`-th failure in a row (from 1), `lasted`
    seconds after its trouble began.

    Spread upwards only, so that a Retry-After is never undercut, and never above the ceiling.
    """
    if cool.parked:
        base = policy.max_cooldown  # rarely: nothing but a person changes it, and a changed key is taken up at once
    elif cool.delay is not None:
        base = max(clamped(cool.delay), SHORTEST_COOLDOWN)
    elif cool.code in _OF_THE_NETWORK and lasted >= OFTEN_SECONDS:
        base = SELDOM_SECONDS
    elif cool.code == "offline":
        base = doubled(OFFLINE_FIRST, failures, OFFLINE_LONGEST)
    elif cool.code == "login-page":
        base = PAGE_SECONDS
    elif cool.code == "not-understood":
        base = doubled(NOT_UNDERSTOOD_FIRST, failures, policy.max_cooldown)
    else:
        base = doubled(BUSY_FIRST, failures, policy.max_cooldown)
    return min(base * (1 + COOLDOWN_SPREAD * jitter), policy.max_cooldown)


def cooled(before: Destination, cool: Cool, policy: Policy, now: float, jitter: float) -> Destination:
    """Return the destination after a run that found it failing, begun since its last change.

    The wait grows with the failures of one kind in a row: a night offline is no reason to wait long for the first 503.
    """
    failures = before.failures + 1 if before.code in ("", cool.code) else 1
    since = now if before.since is None else before.since
    return replace(
        before,
        until=now + cooldown(cool, failures, policy, jitter, lasted=now - since),
        why=bounded(cool.why),
        code=cool.code,
        failures=failures,
        parked=cool.parked,
        since=since,
    )


def cooled_by_straggler(before: Destination, cool: Cool, policy: Policy, now: float) -> Destination:
    """Return the destination after a failing run that began before its present cooldown, or before the last one ended.

    It tells nothing new: four workers that fail together are one failure, and a request sent with the old key says
    nothing about the new one. Only a longer Retry-After is heeded, while the destination cools anyhow.
    """
    if before.until is None or cool.delay is None or before.parked:
        return before
    asked = now + min(max(clamped(cool.delay), SHORTEST_COOLDOWN), policy.max_cooldown)
    return replace(before, until=max(before.until, asked))


def released(before: Destination) -> Destination:
    """Return the destination with its cooldown over and its failures forgotten."""
    return replace(before, until=None, why="", code="", failures=0, parked=False, since=None)


def doubled(first: float, step: int, longest: float) -> float:
    """Return `first` doubled `step` - 1 times, at most `longest`."""
    return min(first * 2.0 ** min(step - 1, 60), longest)


def clamped(delay: float) -> float:
    """Return `delay` within 0 and the longest; 0 for what is no number."""
    return min(delay, LONGEST_DELAY) if delay > 0 else 0.0


def bounded(text: str) -> str:
    """Return `text`, cut to its limit, and with half characters spelt out, for no store takes those."""
    text = text[: TEXT_LIMIT + 1].encode(errors="backslashreplace").decode()
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
