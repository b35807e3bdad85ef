"""How old something is whose time the wall clock told, whatever became of that clock since."""

import math
import threading
from collections import deque
from dataclasses import dataclass

STEP_SECONDS = 5.0
"""A smaller difference is slewing."""

MOST = 64
"""Settings of the clock and sleeps that are remembered."""


@dataclass(slots=True)
class _Era:
    """A time in which the wall clock and the monotonic one went alike: by how many seconds the wall clock was `ahead`,
    and `until` which of its own times."""

    ahead: float
    until: float = math.inf


class Ages:
    """Safe from any thread. What time the machine slept, or the wall clock was set forward, makes nothing older."""

    def __init__(self) -> None:
        self._eras: deque[_Era] = deque(maxlen=MOST)
        self._lock = threading.Lock()

    def look(self, wall: float, monotonic: float) -> None:
        """Note how the clocks stand to each other."""
        with self._lock:
            last = self._eras[-1] if self._eras else None
            if last is not None and abs(wall - monotonic - last.ahead) < STEP_SECONDS:
                return
            if last is not None:
                last.until = monotonic + last.ahead
            self._eras.append(_Era(wall - monotonic))

    def of(self, moment: float, wall: float, monotonic: float) -> float:
        """Return for how many seconds something has been there that came at the Unix time `moment`: the least that the
        clock says, and said in an era in which `moment` was. Negative for what is in the future of all of them."""
        self.look(wall, monotonic)
        with self._lock:
            told = [wall, *(monotonic + era.ahead for era in self._eras if moment <= era.until)]
        return min((now - moment for now in told if now >= moment), default=wall - moment)
