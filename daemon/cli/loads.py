"""What the daemon's minute samples show: which values are charted, and how they are said. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from daemon.cli.charts import Joined
from daemon.cli.status_view import Tone
from daemon.cli.wording import MINUTE, span
from memsyncd.clock import from_rfc3339

MINUTES = 60
"""What the charts show."""

Sample = Mapping[str, Any]
"""One of `GET /history`, by the names of `daemon.status.history.Sample`."""


@dataclass(frozen=True, slots=True)
class Load:
    """One chart: its name, what it takes from a sample, what stands for several minutes, and how a value and the
    whole hour are said."""

    name: str
    of: Callable[[Sample], float]
    joined: Joined
    tone: Tone
    told: Callable[[float], str]
    hour: Callable[[Sequence[float]], str]


def short(number: float) -> str:
    """Return a count in at most five characters: `950`, `9,500`, `12k`, `3M`."""
    for unit, size in (("M", 1_000_000), ("k", 10_000)):
        if number >= size:
            return f"{number / (1_000_000 if unit == 'M' else 1_000):.0f}{unit}"
    return f"{number:,.0f}"


def duration(seconds: float) -> str:
    """Return a time as short as it can be understood: `0`, `35 ms`, `1.2 s`, `12 s`, `3 min`."""
    if seconds <= 0:
        return "0"
    if seconds < 1:
        return f"{max(seconds * 1000, 1):.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else span(seconds)  # noqa: PLR2004  (one digit before the point)


def _last(values: Sequence[float], told: Callable[[float], str]) -> str:
    return next((told(value) for value in reversed(values) if value), "-")


WAITING = Load(
    "waiting",
    lambda sample: _number(sample, "pending") + _number(sample, "queued"),
    "highest",
    "depth",
    short,
    lambda values: f"{short(values[-1] if values else 0)} now",
)
DELIVERED = Load(
    "delivered",
    lambda sample: _number(sample, "delivered"),
    "sum",
    "rate",
    short,
    lambda values: f"{short(sum(values))}/h",
)
LATENCY = Load(
    "latency",
    lambda sample: _number(sample, "delivery_seconds"),
    "highest",
    "delay",
    duration,
    lambda values: _last(values, duration),
)
TAKEN = Load(
    "taken in",
    lambda sample: _number(sample, "taken"),
    "sum",
    "rate",
    short,
    lambda values: f"{short(sum(values))}/h",
)
RECALL = Load(
    "recall",
    lambda sample: _number(sample, "recall_milliseconds") / 1000 / max(_number(sample, "recalls"), 1),
    "highest",
    "delay",
    duration,
    lambda values: _last(values, duration),
)

LOADS = (WAITING, DELIVERED, LATENCY, TAKEN, RECALL)
"""The first come first where there is not room for all: depth, throughput, latency."""


def by_minute(samples: Sequence[Sample]) -> dict[int, Sample]:
    """Return the samples by their minute (Unix seconds divided by 60); what is none is left out."""
    found = {}
    for sample in samples:
        at = from_rfc3339(sample["at"]) if isinstance(sample.get("at"), str) else None
        if at is not None:
            found[int(at // MINUTE)] = sample
    return found


def last_hour(known: Mapping[int, Sample], now: float) -> list[Sample | None]:
    """Return the hour up to the minute of `now`, a sample a minute."""
    present = int(now // MINUTE)
    return [known.get(minute) for minute in range(present - MINUTES + 1, present + 1)]


def under_way(document: Mapping[str, Any], before: Mapping[str, Any]) -> Sample:
    """Return the minute that is under way, from the status now and the counters at its begin or at the first look."""
    counters = document.get("counters") or {}
    names = (("taken", "handoffs_recorded"), ("delivered", "packets_delivered"), ("refused", "packets_refused"),
             ("recalls", "recalls"), ("recall_milliseconds", "recall_milliseconds"))  # fmt: skip
    rises = {name: max(_number(counters, key) - _number(before, key), 0) for name, key in names}
    return {"pending": _number(document, "backlog"), **rises}


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
