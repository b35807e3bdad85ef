"""The status for people: the sentence first, then spools, jobs, platform, and each problem with what to do. Pure.

Lines are made of a text and a tone; how a tone looks is decided where they are printed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from daemon.cli.wording import clean, counted, moment, shorten, size, span, wrapped

Tone = Literal["", "good", "bad", "warn", "strong", "faint", "depth", "rate", "delay"]

NARROWEST, WIDEST = 40, 200
TABLE_WIDTH = 64
"""From this many columns on, spools are a table."""

LABEL = 12
"""Columns of the names on the left."""

TONES: Mapping[str, Tone] = {"ok": "good", "starting": "warn", "stopping": "warn", "paused": "warn"}
MARKS: Mapping[str, str] = {"good": "●", "warn": "◐", "bad": "✖"}
PLAIN_MARKS: Mapping[str, str] = {
    "→": "->",
    "…": "...",
    **dict(zip("●◐✖·▁▂▃▄▅▆▇█", "*~!-_..::++#", strict=True)),
}
"""What stands in for a character the terminal's encoding does not have."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output and its tone."""

    text: str
    tone: Tone = ""


def status_lines(document: Mapping[str, Any], *, width: int, now: float) -> list[Line]:
    """Return the lines for a document; none is wider than `width`, held between 40 and 200 columns."""
    columns = min(max(width, NARROWEST), WIDEST)
    lines = [*headline(document, columns), Line(""), *_facts(document, columns, now), Line("")]
    lines += spool_lines(document.get("spools") or (), columns)
    for problem in document.get("problems") or ():
        lines += [Line(""), *problem_lines(problem, columns, now)]
    return lines


def headline(document: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Yield the state and the sentence."""
    state = str(document.get("state", "unknown"))
    tone = TONES.get(state, "bad")
    for text in wrapped(f"{state}: {document.get('summary', '')}", width, first=f"{MARKS[tone]} ", rest="  "):
        yield Line(text, tone)


def facts(document: Mapping[str, Any], now: float) -> Sequence[tuple[str, str]]:
    """Return what holds, by its name; what there is nothing to tell of is left out."""
    told = (
        ("platform", _platform(document.get("platform") or {}, now)),
        ("jobs", _jobs(document.get("jobs") or {}, int(document.get("standing_jobs") or 0))),
        ("fleet", _fleet(document.get("fleet") or {})),
        ("extraction", _extraction(document.get("extraction") or {})),
        ("paused", _paused(document, now)),
        ("forgetting", _forgetting(document.get("forgetting") or 0)),
        ("telemetry", _telemetry(document.get("telemetry") or {})),
        ("disk", _sizes(document.get("sizes") or {})),
    )
    return [("daemon", _daemon(document, now)), *((name, text) for name, text in told if text)]


def _facts(document: Mapping[str, Any], width: int, now: float) -> Iterator[Line]:
    places = [(name, str(document[name])) for name in ("data", "socket") if document.get(name)]
    for name, told in (*facts(document, now), *places):
        for text in wrapped(told, width, first=name.ljust(LABEL), rest=" " * LABEL):
            yield Line(text)


def _daemon(document: Mapping[str, Any], now: float) -> str:
    if document.get("pid") is None:
        return f"{document.get('version', '?')}, not running"
    progress = document.get("last_progress_at")
    told = f"{document.get('version', '?')}, pid {document['pid']}, up {span(document.get('uptime_seconds') or 0)}"
    return f"{told}, last progress {moment(progress, now)}" if progress else told


def _platform(platform: Mapping[str, Any], now: float) -> str:
    if not platform:
        return ""
    place = " at ".join(filter(None, (platform.get("kind") or "?", platform.get("url"))))
    ok = platform.get("ok")
    word = {True: "well", False: "failing", None: "not tried yet"}.get(ok, "unknown")
    told = [f"{place}: {word}"]
    if platform.get("last_success_at"):
        told.append(f"last answer {moment(platform['last_success_at'], now)}")
    if platform.get("cooling_until"):
        told.append(f"next try {moment(platform['cooling_until'], now)}")
    if ok is not True and platform.get("last_error"):
        told.append(f"last error: {platform['last_error']}")
    return ", ".join(told)


def _jobs(jobs: Mapping[str, Any], standing: int) -> str:
    """Tell the counts, without the `standing` jobs that wait as the daemon's own timers: nobody waits for those."""
    if not jobs:
        return ""
    names = (("ready", "ready"), ("waiting", "waiting"), ("claimed", "running"), ("done", "done"), ("dead", "given up"))
    counts = {**jobs, "waiting": max((jobs.get("waiting") or 0) - standing, 0)}
    told = ", ".join(f"{counts.get(key) or 0:,} {word}" for key, word in names)
    oldest = jobs.get("oldest_ready_seconds") or 0
    return f"{told}; oldest ready {span(oldest)}" if jobs.get("ready") and oldest >= 1 else told


def _extraction(extraction: Mapping[str, Any]) -> str:
    if not extraction.get("open"):
        return "none open" if extraction else ""
    told = counted(extraction["open"], "batch open", "batches open")
    return f"{told}, oldest {span(extraction.get('oldest_seconds') or 0)}"


def _fleet(fleet: Mapping[str, Any]) -> str:
    """Tell what this machine is of a fleet, and how much all of its machines have in the shared queue."""
    if not fleet:
        return ""
    role = {"both": "edge and worker"}.get(str(fleet.get("role")), str(fleet.get("role")))
    if not fleet.get("reached"):
        return f"{role}, the shared queue is not reached: {fleet.get('problem') or 'no reason known'}"
    told = [role]
    if fleet.get("packets_out"):
        told.append(counted(fleet["packets_out"], "packet of ours under way", "packets of ours under way"))
    if jobs := fleet.get("jobs"):
        names = (("ready", "ready"), ("waiting", "waiting"), ("claimed", "running"), ("dead", "given up"))
        told.append("of all machines " + ", ".join(f"{jobs.get(key) or 0:,} {word}" for key, word in names))
    return "; ".join(told)


def _telemetry(telemetry: Mapping[str, Any]) -> str:
    if not telemetry.get("enabled"):
        return "off, nothing leaves this machine" if telemetry else ""
    names = [("spooled", "spooled"), ("parked", "parked"), ("dropped", "dropped")]
    names += [("set_aside", "files set aside")] if telemetry.get("set_aside") else []
    counts = ", ".join(f"{telemetry.get(key) or 0:,} {word}" for key, word in names)
    return f"to {telemetry.get('endpoint') or 'nowhere (no endpoint)'}: {counts}"


def _paused(document: Mapping[str, Any], now: float) -> str:
    """Name what is paused, and until when."""
    told = []
    if document.get("paused"):
        told.append("everything" + _until(document.get("paused_until"), now))
    told += [str(each.get("root")) + _until(each.get("until"), now) for each in document.get("paused_projects") or ()]
    return ", ".join(told)


def _until(value: Any, now: float) -> str:
    return f" (ends {moment(value, now)})" if value else ""


def _forgetting(number: int) -> str:
    """Say that what was under way when it was to be forgotten is looked for still."""
    one, more = "request looks", "requests look"
    return f"{counted(number, one, more)} for late memories on the platform" if number else ""


def _sizes(sizes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {size(number)}" for name, number in sizes.items() if number)


def spool_lines(spools: Sequence[Mapping[str, Any]], width: int) -> Iterator[Line]:
    """Yield a table with its head, or on a narrow screen a line a spool."""
    if not spools:
        yield Line("no spools yet", "faint")
        return
    columns = ("pending", "running", "dead", "corrupt")
    if width < TABLE_WIDTH:
        for spool in spools:
            told = ", ".join(f"{spool.get(key) or 0:,} {word}" for key, word in zip(columns, _WORDS, strict=True))
            for text in wrapped(f"{spool.get('harness') or '?'}: {told}", width, rest="  "):
                yield Line(text)
        return
    left = min(max(len(clean(spool.get("harness") or "?")) for spool in spools) + 2, width - 50)
    left = max(left, LABEL)
    yield Line("spool".ljust(left) + "".join(word.rjust(10) for word in (*_WORDS, "oldest")), "strong")
    for spool in spools:
        oldest = spool.get("oldest_pending_seconds") or 0
        cells = [f"{spool.get(key) or 0:,}" for key in columns] + [span(oldest) if oldest else "-"]
        name = shorten(clean(spool.get("harness") or "?"), left - 1)
        yield Line(name.ljust(left) + "".join(cell.rjust(10) for cell in cells))


_WORDS = ("waiting", "in work", "given up", "corrupt")


def problem_lines(problem: Mapping[str, Any], width: int, now: float) -> Iterator[Line]:
    """Yield what is wrong, since when, and what to do."""
    tone: Tone = "bad" if problem.get("degrades", True) else "warn"
    since = f" First seen {moment(problem['since'], now)}." if problem.get("since") else ""
    for text in wrapped(f"{problem.get('message', '')}{since}", width, first=f"{MARKS[tone]} ", rest="  "):
        yield Line(text, tone)
    for text in wrapped(str(problem.get("remedy", "")), width, first="  → ", rest="    "):
        yield Line(text)
