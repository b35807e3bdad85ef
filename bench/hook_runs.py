"""One hook run some times, each of which is a process that must exit 0."""

import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ONE_AFTER_ANOTHER = Path(__file__).resolve().with_name("one_after_another.py")


@dataclass(frozen=True, slots=True)
class Cost:
    """One run: milliseconds of wall and processor, megabytes at the peak."""

    wall: float
    processor: float
    peak: float

    def __str__(self) -> str:
        return f"{self.wall:6.1f} {self.processor:6.1f} {self.peak:5.1f}"


@dataclass(frozen=True, slots=True)
class State:
    """Where a hook runs: its environment, whether it leaves handoffs, and its limits."""

    environ: Mapping[str, str]
    drops: bool
    limit: Callable[[], None] | None = None

    def written(self) -> int:
        """Count what lies in the spools."""
        return sum(1 for _ in Path(self.environ["MEMSYNCD_HOME"]).rglob("*.json"))


def run(words: Sequence[str], given: Path, times: int, state: State, *, prints: bool | None = False) -> list[Cost]:
    """Run a command some times; it prints something or nothing, None for either."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ONE_AFTER_ANOTHER), str(times), str(given), sys.executable, *words],
        env=dict(state.environ),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=state.limit,
    )
    costs = []
    for line in done.stdout.splitlines():
        code, wall, processor, peak, printed = map(float, line.split())
        if code or (prints is not None and prints != bool(printed)):
            raise SystemExit(f"{' '.join(words)} exited {code:.0f} and printed {printed:.0f} bytes")
        costs.append(Cost(wall * 1000, processor * 1000, peak / 1024))
    return costs


def median(costs: Sequence[Cost]) -> Cost:
    """Return the medians."""
    return Cost(
        *(statistics.median(values) for values in zip(*((c.wall, c.processor, c.peak) for c in costs), strict=True))
    )
