"""The status for people: the sentence first, then spools, jobs, platform, and each problem with what to do. Pure.

Lines are made of a text and a tone; how a tone looks is decided where they are printed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from daemon.cli.wording import clean, counted, moment, shorten, span, wrapped

Tone = Literal["", "good", "bad", "warn", "strong", "faint"]

NARROWEST, WIDEST = 40, 200
TABLE_WIDTH = 64
"""From this many columns on, spools are a table."""

LABEL = 12
"""Columns of the names on the left."""

TONES: Mapping[str, Tone] = {"ok": "good", "starting": "warn", "stopping": "warn", "paused": "warn"}
MARKS: Mapping[str, str] = {"good": "●", "warn": "◐", "bad": "✖"}
PLAIN_MARKS: Mapping[str, str] = {"●": "*", "◐": "~", "✖": "!", "→": "->", "…": "...", "·": "-"}
"""What stands in for a character the terminal's encoding does not have."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output and its tone."""

    text: str
    tone: Tone = ""


def status_lines(document: Mapping[str, Any], *, width: int, now: float) -> list[Line]:
    """Return the lines for a document; none is wider than `width`, held between 40 and 200 columns."""
    columns = min(max(width, NARROWEST), WIDEST)
    lines = [*_headline(document, columns), Line("")]
    lines += _facts(document, columns, now)
    lines += _spools(document.get("spools") or (), columns)
    lines += _problems(document.get("problems") or (), columns, now)
    return lines


def _headline(document: Mapping[str, Any], width: int) -> Iterator[Line]:
    state = str(document.get("state", "unknown"))
    tone = TONES.get(state, "bad")
    for text in wrapped(f"{state}: {document.get('summary', '')}", width, first=f"{MARKS[tone]} ", rest="  "):
        yield Line(text, tone)


def _facts(document: Mapping[str, Any], width: int, now: float) -> Iterator[Line]:
    for name, told in (
        ("daemon", _daemon(document, now)),
        ("platform", _platform(document.get("platform") or {}, now)),
        ("jobs", _jobs(document.get("jobs") or {})),
        ("extraction", _extraction(document.get("extraction") or {})),
        ("telemetry", _telemetry(document.get("telemetry") or {})),
        ("data", clean(document.get("data") or "")),
        ("socket", clean(document.get("socket") or "")),
    ):
        if told:
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
        told.append(f"last success {moment(platform['last_success_at'], now)}")
    if platform.get("cooling_until"):
        told.append(f"next try {moment(platform['cooling_until'], now)}")
    if ok is not True and platform.get("last_error"):
        told.append(f"last error: {platform['last_error']}")
    return ", ".join(told)


def _jobs(jobs: Mapping[str, Any]) -> str:
    if not jobs:
        return ""
    names = (("ready", "ready"), ("waiting", "waiting"), ("claimed", "running"), ("done", "done"), ("dead", "given up"))
    told = ", ".join(f"{jobs.get(key) or 0:,} {word}" for key, word in names)
    oldest = jobs.get("oldest_ready_seconds") or 0
    return f"{told}; oldest ready {span(oldest)}" if jobs.get("ready") and oldest >= 1 else told


def _extraction(extraction: Mapping[str, Any]) -> str:
    if not extraction.get("open"):
        return "none open" if extraction else ""
    told = counted(extraction["open"], "batch open", "batches open")
    return f"{told}, oldest {span(extraction.get('oldest_seconds') or 0)}"


def _telemetry(telemetry: Mapping[str, Any]) -> str:
    if not telemetry.get("enabled"):
        return "off, nothing leaves this machine" if telemetry else ""
    counts = ", ".join(f"{telemetry.get(key) or 0:,} {key}" for key in ("spooled", "parked", "dropped"))
    return f"to {telemetry.get('endpoint') or 'nowhere (no endpoint)'}: {counts}"


def _spools(spools: Sequence[Mapping[str, Any]], width: int) -> Iterator[Line]:
    yield Line("")
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


def _problems(problems: Sequence[Mapping[str, Any]], width: int, now: float) -> Iterator[Line]:
    for problem in problems:
        yield Line("")
        tone: Tone = "bad" if problem.get("degrades", True) else "warn"
        since = f" First seen {moment(problem['since'], now)}." if problem.get("since") else ""
        for text in wrapped(f"{problem.get('message', '')}{since}", width, first=f"{MARKS[tone]} ", rest="  "):
            yield Line(text, tone)
        for text in wrapped(str(problem.get("remedy", "")), width, first="  → ", rest="    "):
            yield Line(text)
