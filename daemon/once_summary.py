"""What a `run --once` has done, in sentences for people (CONTRACT: `run --once`), and whether it failed at anything."""

from collections.abc import Iterator, Mapping

from daemon.cli.wording import counted
from daemon.compose import Parts
from daemon.status.kept_copies import kept_copies
from daemon.status.not_taken_in import not_taken_in
from daemon.status.problems import problem_of
from jobs.delivery import CHECKPOINT, FLUSH
from jobs.fleet.shared_batch import DELIVER
from jobs.job import JobState
from memsyncd.evidence.database import SET_ASIDE as EVIDENCE_SET_ASIDE

GivenUp = Mapping[str, tuple[int, str]]
"""By their kind, how many jobs became dead letters, and why the last one did (`daemon.observer`)."""

_LOST = {
    "handoffs_expired": "too old",
    "handoffs_oversized": "too large",
    "handoffs_outgrown": "too large for this machine's memory",
    "handoffs_corrupt": "no handoff",
}
"""Counters of handoffs that no job was made for."""

_SHOWN = "`memsyncd jobs list --state dead` shows what was given up."


def has_failed(parts: Parts, given_up: GivenUp) -> bool:
    """Whether anything was given up by a job, set aside as damaged, or not taken in."""
    return bool(given_up or EVIDENCE_SET_ASIDE in parts.counters.snapshot() or not_taken_in(parts.findings))


def summary(parts: Parts, given_up: GivenUp) -> str:
    """Say what was delivered, refused, put off and given up, and why; and, a line each, what kept it from taking
    anything in, and which damaged files are kept, for what is in them is not delivered by any run."""
    counters = parts.counters.snapshot()
    left = not_taken_in(parts.findings)
    kept = [problem_of(finding) for finding in kept_copies(parts.places, parts.served.spools())]
    lines = [*_packets(parts, counters), *_batches(parts, counters), *_handoffs(counters, given_up)]
    lines += [] if lines or left else ["Nothing was due."]
    return "\n".join(lines + [f"{problem.message} {problem.remedy}" for problem in (*left, *kept)])


def _packets(parts: Parts, counters: Mapping[str, int]) -> Iterator[str]:
    told = _numbers(
        (counters.get("packets_delivered", 0), "delivered"),
        (counters.get("packets_refused", 0), "refused"),
        (counters.get("packets_empty", 0), "without anything to keep"),
    )
    if parts.fleet is not None and (why := parts.fleet.problem):
        told.append(f"the shared queue was not reached ({why})")
    held = parts.queue.jobs(state=JobState.WAITING, kind=FLUSH, limit=1_000)
    told += _numbers((len(held), f"put off ({held[0].reason})" if held else ""))
    if told:
        yield f"Packets: {', '.join(told)}."


def _batches(parts: Parts, counters: Mapping[str, int]) -> Iterator[str]:
    """Say what a worker did of the shared queue, if there was anything."""
    held = parts.fleet.put_off() if parts.fleet is not None else ()
    told = _numbers(
        (counters.get("batches_delivered", 0), "delivered"),
        (counters.get("batches_refused", 0), "refused"),
        (len(held), f"put off ({held[0].reason})" if held else ""),
    )
    if told:
        yield f"Batches of the shared queue: {', '.join(told)}."


def _handoffs(counters: Mapping[str, int], given_up: GivenUp) -> Iterator[str]:
    """Say what was given up that is in no packet: handoffs, and jobs of the other kinds."""
    asked, why = given_up.get(CHECKPOINT, (0, ""))
    told = _numbers(
        (asked, f"given up ({why})"),
        (counters.get("handoffs_dead", 0) - asked, "not recorded"),
        *((counters.get(name, 0), what) for name, what in _LOST.items()),
    )
    jobs = [
        f"{counted(number, f'{kind} job', f'{kind} jobs')} given up ({reason})"
        for kind, (number, reason) in given_up.items()
        if kind not in {CHECKPOINT, FLUSH, DELIVER}
    ]
    if told:
        yield f"Handoffs: {', '.join(told)}. {_SHOWN}"
    if jobs:
        yield f"{', '.join(jobs)}. {_SHOWN}"


def _numbers(*counts: tuple[int, str]) -> list[str]:
    return [f"{number:,} {what}" for number, what in counts if number > 0]
