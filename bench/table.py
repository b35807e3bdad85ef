"""How every benchmark prints: one line a figure, with its target and whether it was met."""

import statistics
from collections.abc import Sequence

MET, MISSED = "met", "MISSED"


def line(what: str, figure: str, target: str = "", *, met: bool | None = None) -> None:
    """Print one figure."""
    verdict = "" if met is None else MET if met else MISSED
    print(f"{what:<58}{figure:>24}  {target:<22}{verdict}", flush=True)


def below(what: str, value: float, limit: float, unit: str, digits: int = 1) -> None:
    """Print a figure that is to be less than `limit`."""
    line(what, f"{value:.{digits}f} {unit}", f"< {limit:g} {unit}", met=value < limit)


def latencies(
    what: str, seconds: Sequence[float], median_ms: float | None = None, ninety_nine_ms: float | None = None
) -> None:
    """Print median and 99th percentile in milliseconds, against limits where there are some."""
    median, last = statistics.median(seconds) * 1000, percentile(seconds, 99) * 1000
    met = None if median_ms is None or ninety_nine_ms is None else median < median_ms and last < ninety_nine_ms
    target = "" if met is None else f"< {median_ms:g} / {ninety_nine_ms:g} ms"
    line(f"{what} (n={len(seconds)})", f"{median:.1f} / {last:.1f} ms", target, met=met)


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value that `percent` in a hundred do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, -(-len(ordered) * percent // 100) - 1)]
