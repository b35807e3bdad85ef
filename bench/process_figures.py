"""What the kernel says of a process: processor time, memory, wake-ups. Linux, from /proc (proc(5))."""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TICK_SECONDS = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Figures:
    """One look. `switches` is by thread: its name and id, and how often it was taken off a processor so far."""

    at: float
    cpu_seconds: float
    resident_mb: float
    peak_mb: float
    switches: Counter[str]


def look(pid: int) -> Figures:
    """Return the figures of a running process; raises FileNotFoundError where there is none."""
    place = Path(f"/proc/{pid}")
    memory = _fields(place / "status")
    return Figures(
        at=time.monotonic(),
        cpu_seconds=cpu_seconds(pid),
        resident_mb=_megabytes(memory["VmRSS"]),
        peak_mb=_megabytes(memory["VmHWM"]),
        switches=_switches(place),
    )


def cpu_seconds(pid: int) -> float:
    """Return user and system time so far, of the process alone; its resolution is a tick, mostly 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_SECONDS


def wake_ups(before: Figures, after: Figures) -> Counter[str]:
    """Return how often each thread was switched between two looks; a thread that ended between is left out."""
    return Counter({name: count - before.switches[name] for name, count in after.switches.items()})


def until(condition: Callable[[], object], seconds: float, failure: str, pause: float = 0.02) -> None:
    """Wait until `condition()` is true; raises SystemExit with `failure` after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(failure)
        time.sleep(pause)


def _switches(place: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for task in (place / "task").iterdir():
        try:
            fields = _fields(task / "status")
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has just ended
        switches = int(fields["voluntary_ctxt_switches"]) + int(fields["nonvoluntary_ctxt_switches"])
        found[f"{fields['Name']} {task.name}"] = switches
    return found


def _fields(path: Path) -> dict[str, str]:
    return dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)


def _megabytes(text: str) -> float:
    return int(text.split(maxsplit=1)[0]) / 1024
