"""Small charts of one value a minute, drawn with eighths of a character cell. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

EIGHTHS = " ▁▂▃▄▅▆▇█"

Joined = Literal["highest", "sum"]
"""What stands for several minutes that share a column."""

Values = Sequence[float | None]
"""Oldest first; None is a minute without a daemon, and 0 one in which nothing was."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """`rows` from the top, all of one width; `peak` is the value that the highest column stands for."""

    rows: Sequence[str]
    peak: float


def drawn(values: Values, *, columns: int, height: int, joined: Joined) -> Drawn:
    """Draw the values over at most `columns` columns: each over as many as there is room for, or several in one.

    Every minute is as wide as the next, so a chart may be narrower than its room. Nothing is a thin line, and a minute
    without a daemon is empty.
    """
    across = max(columns // len(values), 1) if values else 1
    together = math.ceil(len(values) * across / max(columns, 1))
    cells = [value for value in _joined(values, together, joined) for _ in range(across)]
    peak = max((value for value in cells if value is not None), default=0.0)
    levels = [_level(value, peak, height * 8) for value in cells]
    rows = ["".join(EIGHTHS[min(max(level - 8 * row, 0), 8)] for level in levels) for row in range(height)]
    return Drawn(rows[::-1], peak)


def _joined(values: Values, together: int, joined: Joined) -> Values:
    """Join neighbours, counted from the newest, so that a column does not change its minutes at every look."""
    if together <= 1:
        return values
    found: list[float | None] = []
    first = len(values) % together
    for start in range(first - together if first else 0, len(values), together):
        known = [value for value in values[max(start, 0) : start + together] if value is not None]
        found.append((max(known) if joined == "highest" else sum(known)) if known else None)
    return found


def _level(value: float | None, peak: float, eighths: int) -> int:
    """Return how many eighths high a column stands; more than nothing is always higher than the line of nothing."""
    if value is None:
        return 0
    if value <= 0 or peak <= 0:
        return 1
    return 1 + math.ceil(value / peak * (eighths - 1))
