"""The live screen as rows that fill a terminal exactly: what matters most stays when there is less room. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from daemon.cli.charts import drawn
from daemon.cli.loads import LOADS, MINUTES, Load, Sample
from daemon.cli.status_view import LABEL, Line, Tone, facts, headline, problem_lines, spool_lines
from daemon.cli.wording import clean, shorten

Row = Sequence[Line]
"""Pieces of one row, from the left."""

PEAK = 8
"""Columns at the right of a chart, for what its highest column stands for."""

NARROWEST = 20
"""Columns below which the screen is cut off at the right: words do not wrap any more."""

NARROWEST_CHART = 10
FIRST_LOADS = 3
"""Charts that come before facts and spools: depth, throughput, latency."""

HIGHEST_CHART = 4

FEW_FACTS = 3
"""So many are shown before the charts are two rows high, the others after."""

GAPS = 4
"""Empty rows between the blocks, where there is room."""

ORDER = ("platform", "jobs", "paused", "extraction", "daemon", "forgetting", "telemetry", "disk")
"""Facts by how soon one wants them on a small screen."""


@dataclass(frozen=True, slots=True)
class Footer:
    """The last row: the keys that do something now, or what one of them has brought, and the time of the look."""

    keys: Sequence[tuple[str, str]]
    message: str = ""
    clock: str = ""


def screen(
    document: Mapping[str, Any], hour: Sequence[Sample | None], footer: Footer, *, width: int, height: int, now: float
) -> list[Row]:
    """Return `height` rows of at most `width` columns. `hour` is a sample a minute, oldest first, None where there was
    no daemon."""
    if width < NARROWEST:
        wider = screen(document, hour, footer, width=NARROWEST, height=height, now=now)
        return [_cropped(row, width) for row in wider]
    foot = _foot(footer, width, height)
    room = max(height - len(foot), 0)
    blocks = _blocks(document, hour, width=width, room=room, now=now)
    gaps = min(max(len(blocks) - 1, 0), max(room - sum(len(block) for block in blocks), 0))
    rows: list[Row] = []
    for place, block in enumerate(blocks):
        if place and place > len(blocks) - 1 - gaps:  # a gap too few is missed least under the sentence
            rows.append(())
        rows += block
    rows = rows[:room]
    return [*rows, *([()] * (room - len(rows))), *foot]


def _blocks(
    document: Mapping[str, Any], hour: Sequence[Sample | None], *, width: int, room: int, now: float
) -> list[Sequence[Row]]:
    """Share the room out: the sentence, the problems (up to half), three charts, facts, spools; what is left makes the
    charts higher, and more."""
    head = _cut(headline(document, width), max(room // 3, 1), width)
    room -= len(head)
    problems = _problems(document.get("problems") or (), max(room // 2, min(room, 3)), width, now)
    room -= len(problems)
    has_charts = width >= LABEL + PEAK + NARROWEST_CHART
    minimum = min(FIRST_LOADS, room) if has_charts else 0
    known = dict(facts(document, now))
    few = min(FEW_FACTS, (room - minimum) * 2 // 3)
    spools = _spools(document.get("spools") or (), max(room - minimum - few, 0), width)
    room -= len(spools) + GAPS
    told = [name for name in ORDER if name in known][: max(few, room - 2 * FIRST_LOADS - 1)]
    room -= len(told)
    charts = _charts(hour, width, max(room, minimum)) if minimum else []
    shown = [_one(f"{name.ljust(LABEL)}{clean(known[name])}", width) for name in told]
    return [block for block in (head, shown, charts, spools, problems) if block]


def _charts(hour: Sequence[Sample | None], width: int, room: int) -> Sequence[Row]:
    """Draw as many loads as there is room for, at least a row each; two rows each come before a fourth chart."""
    number = min(FIRST_LOADS, room)
    for more in range(number + 1, len(LOADS) + 1):
        if room - 1 >= 2 * more:
            number = more
    has_axis = room > number
    each = max((room - has_axis) // max(number, 1), 1)
    is_airy = each >= 3  # noqa: PLR2004  (two rows of chart, and an empty one)
    rows: list[Row] = []
    for load in LOADS[:number]:
        rows += [*_chart(load, hour, width, min(each - is_airy, HIGHEST_CHART)), *([()] if is_airy else [])]
    return [*rows[: len(rows) - is_airy], *([_axis(hour, width)] if has_axis else [])]


def _chart(load: Load, hour: Sequence[Sample | None], width: int, height: int) -> Iterable[Row]:
    values = [None if sample is None else load.of(sample) for sample in hour]
    known = [value for value in values if value is not None]
    chart = drawn(values, columns=width - LABEL - PEAK, height=height, joined=load.joined)
    for number, columns in enumerate(chart.rows):
        name = load.name if number == 0 else ""
        if number == 1:
            name = load.hour(known)
        right = load.told(chart.peak) if number == 0 and height > 1 else load.hour(known) if height == 1 else ""
        yield (
            Line(shorten(name, LABEL - 1).ljust(LABEL), "" if number == 0 else "faint"),
            Line(columns, load.tone),
            Line(f" {right}", "faint"),
        )


def _axis(hour: Sequence[Sample | None], width: int) -> Row:
    columns = len(drawn([0.0] * len(hour), columns=width - LABEL - PEAK, height=1, joined="sum").rows[0])
    left, right = f"{MINUTES} min ago", "now"
    return (Line(" " * LABEL + left + right.rjust(columns - len(left)), "faint"),) if columns > len(left) + 4 else ()


def _problems(problems: Sequence[Mapping[str, Any]], room: int, width: int, now: float) -> Sequence[Row]:
    """Show whole problems while there is room, and say how many more there are; a first one may be cut."""
    rows: list[Row] = []
    for number, problem in enumerate(problems):
        lines = list(problem_lines(problem, width, now))
        left = len(problems) - number - 1
        if len(rows) + len(lines) + bool(left) > room:
            if not rows:
                rows += _cut(lines, max(room - bool(left), 1), width)
                left += 1
                number += 1  # noqa: PLW2901  (it is shown, if not whole)
            hidden = len(problems) - max(number, 1)
            if hidden and len(rows) < room:
                rows.append(_one(f"… and {hidden} more: `memsyncd status`", width, "warn"))
            return rows[:room]
        rows += [(line,) for line in lines]
    return rows


def _spools(spools: Sequence[Mapping[str, Any]], room: int, width: int) -> Sequence[Row]:
    """Show the table, those with something in them first, and how many are left out."""
    busy = ("pending", "running", "dead", "corrupt")
    ordered = sorted(spools, key=lambda spool: not any(spool.get(name) for name in busy))
    rows: list[Row] = [(line,) for line in spool_lines(ordered, width)]
    if len(rows) <= room:
        return rows
    if room < 3:  # noqa: PLR2004  (a head, a spool, and how many more)
        return []
    return [*rows[: room - 1], _one(f"… and more: {len(spools)} spools in all", width, "faint")]


def _foot(footer: Footer, width: int, height: int) -> Sequence[Row]:
    """Return the keys, and over them what one has just brought; on a few rows that stands in their place."""
    pieces: list[Line] = []
    used = 0
    for key, word in footer.keys:
        if used + len(key) + len(word) + 1 > width:
            break
        pieces += [Line(key, "strong"), Line(f" {word}  ", "faint")]
        used += len(key) + len(word) + 3
    if footer.clock and used + len(footer.clock) <= width:
        pieces.append(Line(footer.clock.rjust(width - used), "faint"))
    if not footer.message:
        return [pieces]
    message = _one(footer.message, width, "strong")
    return [message, pieces] if height >= 10 and pieces else [message]  # noqa: PLR2004  (more than the bare minimum)


def _cut(lines: Iterable[Line], room: int, width: int) -> list[Row]:
    """Return so many lines as there is room for; the last one says with … that something is cut."""
    found = list(lines)
    if len(found) <= room:
        return [(line,) for line in found]
    last = found[room - 1]
    kept = [(line,) for line in found[: room - 1]]
    return [*kept, (Line(last.text[: width - 1] + "…", last.tone),)]


def _cropped(row: Row, width: int) -> Row:
    pieces = []
    for piece in row:
        pieces.append(Line(piece.text[:width], piece.tone))
        width -= len(pieces[-1].text)
    return pieces


def _one(text: str, width: int, tone: Tone = "") -> Row:
    return (Line(shorten(clean(text), width), tone),)


def keys(document: Mapping[str, Any], *, is_asking: bool) -> Sequence[tuple[str, str]]:
    """Return what the keys do now."""
    if is_asking:
        return (("y", "yes"), ("any other key", "no"))
    return (("q", "quit"), ("p", "resume" if document.get("paused") else "pause"), ("f", "flush"), ("r", "retry"))
