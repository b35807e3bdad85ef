"""launchd as the running daemon sees it: it asks for no sign of life and has no start limit, so both are kept here."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from daemon.places import Places
from daemon.service.agent_plist import LOG_FILE
from daemon.service.failed_starts import STEADY_SECONDS, FailedStarts
from daemon.service.log_cap import cap

WATCHDOG_SECONDS = 180.0
"""As the systemd units' WatchdogSec=: so long without a sign of life, and the process ends for a new one."""

HELD_SECONDS = 900.0
"""How long a daemon that is to stay down waits before it ends, while handoffs are waiting: launchd starts it again
every ten seconds for as long as one of the queue directories is not empty."""

EXIT_HUNG = 1


class LaunchdManager:
    """A `daemon.notify.Manager`. `end` ends the process at once; tests put something else there."""

    can_reload = False

    def __init__(
        self,
        places: Places,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        end: Callable[[int], None] = os._exit,
        descriptor: int = 2,
    ) -> None:
        self._spools = places.spools
        self._starts = FailedStarts(places.data)
        self._log = (places.logs or places.data) / LOG_FILE
        self._monotonic = monotonic
        self._end = end
        self._descriptor = descriptor
        self._ready_at: float | None = None
        self._alive_at = monotonic()
        self._is_over = threading.Event()

    @property
    def alive_seconds(self) -> float | None:
        """A third of the watchdog's time."""
        return WATCHDOG_SECONDS / 3

    def begin(self, now: float) -> float | None:
        """Note a start at `now` (Unix seconds). Return None where it may go on, else for how long to wait before
        leaving with 0, upon which launchd leaves it down."""
        cap(self._descriptor, self._log)
        if self._starts.begin(now):
            return None
        return HELD_SECONDS if any(map(_is_filled, self._spools.glob("*/pending"))) else 0.0

    def failed(self, why: str) -> None:
        """Note why a start came to nothing."""
        self._starts.tell(why)

    def ended(self, code: int) -> None:
        """Note the end of a run: one that was asked for has not failed."""
        if code == 0:
            self._starts.forget()

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """Do nothing: launchd gives a start all the time it takes."""
        yield

    def ready(self) -> None:
        """Begin to watch over the daemon."""
        self._ready_at = self._alive_at = self._monotonic()
        threading.Thread(target=self._watch, name="own-watchdog", daemon=True).start()

    def alive(self, sentence: str) -> None:  # noqa: ARG002  (launchd shows none)
        """Take the sign of life; after a steady minute earlier failures are over."""
        self._alive_at = self._monotonic()
        cap(self._descriptor, self._log)
        if self._ready_at is not None and self._alive_at - self._ready_at >= STEADY_SECONDS:
            self._ready_at = None
            self._starts.forget()

    def stuck(self, sentence: str) -> None:
        """Take no sign of life."""

    def reloading(self) -> None:
        """Never called: `can_reload` is false."""

    def stopping(self) -> None:
        """Watch no more: launchd's own time limit holds from here on."""
        self._is_over.set()

    def look(self) -> None:
        """End the process where it has given no sign of life for too long."""
        if self._monotonic() - self._alive_at > WATCHDOG_SECONDS:
            print("memsyncd: no progress for too long: ending for a new start", file=sys.stderr, flush=True)  # noqa: T201
            self._end(EXIT_HUNG)

    def _watch(self) -> None:
        while not self._is_over.wait(WATCHDOG_SECONDS / 12):
            self.look()


def _is_filled(directory: Path) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is not None
    except OSError:
        return False
