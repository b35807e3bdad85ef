"""A thread beside the daemon's rounds that looks at the database: it may be silent for long, and the rounds go on."""

import threading
from collections.abc import Callable

NAME = "fleet-looking"


class Looker:
    """Calls `look` once for each `ask`, one after the other. `look` raises nothing."""

    def __init__(self, look: Callable[[], None], monotonic: Callable[[], float]) -> None:
        self._look = look
        self._monotonic = monotonic
        self._asked = threading.Event()
        self.is_stopping = False
        """Whether it was told to end."""
        self._began_at: float | None = None
        self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)
        self._runs = False  # set by the thread itself: one that only starts looks like one that died

    def ask(self) -> None:
        """Have it look, now or after the look under way."""
        if not self._thread.ident:
            self._thread.start()
        self._asked.set()

    def again(self) -> bool:
        """As `ask`, from any thread; False where it has not begun to look yet, or was told to end."""
        if not self._thread.ident or self.is_stopping:
            return False
        self._asked.set()
        return True

    @property
    def silent_seconds(self) -> float:
        """For how long the look under way has been going on; 0 where there is none."""
        began_at = self._began_at
        return 0.0 if began_at is None else self._monotonic() - began_at

    @property
    def is_dead(self) -> bool:
        """Whether the thread ended though nobody stopped it."""
        return self._runs and not self._thread.is_alive() and not self.is_stopping

    def stop(self, seconds: float) -> bool:
        """Have it end; return whether it did within so many seconds."""
        self.is_stopping = True
        self._asked.set()
        if self._thread.ident:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        self._runs = True
        while True:
            self._asked.wait()
            self._asked.clear()
            if self.is_stopping:
                return
            self._began_at = self._monotonic()
            self._look()
            self._began_at = None
