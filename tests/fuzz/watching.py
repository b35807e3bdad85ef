"""What is watched over every target: the time of each input, and what the process holds when all are done."""

import gc
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.target import TryOne

SECONDS_AT_ONCE = 0.1
SECONDS_PER_BYTE = 0.9 / 65_536
"""Processor seconds an input may take: a second for 64 KB, and in proportion, so that squares show early."""

LOOKS = 3
"""The least of so many counts: the first may have imported something."""


WHILE_TRACED = 5.0
"""How many times slower code is while its coverage is measured."""


class TooSlow(AssertionError):
    """An input took longer than its length allows."""


def usual_patience() -> float:
    """Return how many times slower the code is than it will be: while it is traced, some."""
    return WHILE_TRACED if sys.gettrace() is not None or "coverage" in sys.modules else 1.0


@dataclass(slots=True)
class Watched:
    """Tries inputs with an eye on the time. `patience` is how many times slower the code is than it will be, as when it
    is instrumented. `slowest` is the longest that an input took, in processor seconds, and its length."""

    try_one: TryOne
    patience: float = field(default_factory=usual_patience)
    inputs: int = 0
    slowest: tuple[float, int] = (0.0, 0)

    def __call__(self, content: bytes) -> None:
        """Try one input; raises what the target raises, and TooSlow."""
        self.inputs += 1
        spent = self._once(content)
        allowed = self.patience * (SECONDS_AT_ONCE + SECONDS_PER_BYTE * len(content))
        for _ in range(LOOKS - 1):
            if spent <= allowed:
                break
            spent = min(spent, self._once(content))
        self.slowest = max(self.slowest, (spent, len(content)))
        if spent > allowed:
            raise TooSlow(f"{spent:.2f} s for {len(content)} bytes, of which {allowed:.2f} s are allowed")

    def _once(self, content: bytes) -> float:
        begun = time.process_time()
        self.try_one(content)
        return time.process_time() - begun


@dataclass(frozen=True, slots=True)
class Held:
    """What a process holds: memory in bytes (0 where the system does not tell), descriptors and threads."""

    memory: int
    descriptors: int
    threads: int


def held() -> Held:
    """Look, after a collection of garbage."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        descriptors = len(os.listdir("/proc/self/fd"))
    except FileNotFoundError:
        return Held(0, 0, threading.active_count())
    return Held(pages * os.sysconf("SC_PAGE_SIZE"), descriptors, threading.active_count())
