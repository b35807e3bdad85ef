"""Runs the daemon under clocks that a test sets: the wall clock, and how long the machine slept.

    python other_clocks.py FILE run …

FILE holds two numbers of seconds: by how much the wall clock was set forward, and for how long the machine has slept by
now. In a sleep the wall clock and the time since the start of the system go on, and the monotonic clock stands still,
as Linux has it. Nothing of the daemon knows of it. Files have the times of the system, but for those that the daemon
touches.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

clocks = Path(sys.argv[1])
plain_time, plain_gettime, plain_utime = time.time, time.clock_gettime, os.utime


def gaps() -> tuple[float, float]:
    was_set, slept = clocks.read_text().split()
    return float(was_set), float(slept)


def wall() -> float:
    return plain_time() + sum(gaps())


def gettime(clock: int) -> float:
    return plain_gettime(clock) + (gaps()[1] if clock == time.CLOCK_BOOTTIME else 0.0)


def utime(path: Any, times: Any = None, **named: Any) -> None:
    plain_utime(path, (wall(), wall()) if times is None and "ns" not in named else times, **named)


if __name__ == "__main__":
    time.time, time.clock_gettime, os.utime = wall, gettime, utime
    from daemon.__main__ import main

    sys.exit(main(sys.argv[2:]))
