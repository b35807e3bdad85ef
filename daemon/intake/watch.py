"""Watching the spools, as a hint: whatever it tells or misses, the scan is the truth.

watchfiles looks every `step`; a small step costs wake-ups all day (measured.md, Watching). So it looks slowly while
nothing happens and quickly while an agent is at work. Hooks of ours do not need it at all: they nudge.
"""

import os
import threading
from collections.abc import Callable, Sequence

from watchfiles._rust_notify import RustNotify

from daemon.intake.spool import WAITING

IDLE_STEP_MS = 100
"""Ten looks a second while nothing happens: half the wake-ups of the library's default."""

BUSY_STEP_MS = 10
"""Tells after 16 ms at the median (measured.md)."""

DEBOUNCE_MS = 50
"""The library's default of 1.6 s waits for quiet that a working agent does not give."""

BUSY_FOR_MS = 5_000
"""How long after the last change the quick step is kept."""

FOREVER = 0
"""watchfiles' word for no time-out; a positive one may lose an event, so a look follows each (measured.md)."""


class Watcher:
    """One thread over one set of directories, but for those that may not be read. `hint()` is called when something may
    wait. It ends when stopped or when the watch fails; `failure` then says why, and the owner falls back to scanning on
    its timer. Raises OSError and RuntimeError where the system does not let it watch."""

    def __init__(self, directories: Sequence[str], hint: Callable[[], None]) -> None:
        # told to pass over what may not be read, it would pass over a limit that is reached as well, without a word
        readable = [directory for directory in directories if os.access(directory, os.R_OK)]
        self._notify = RustNotify(readable, False, False, 0, False, False)  # noqa: FBT003  (its own signature)
        self._hint = hint
        self._stop = threading.Event()
        self.directories = tuple(directories)
        self.failure = ""
        self.thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self.thread.start()

    def stop(self) -> None:
        """End the watch; returns when its thread has noticed, within a step."""
        self._stop.set()
        self.thread.join(timeout=1.0)
        self._notify.close()

    def _run(self) -> None:
        step, timeout = IDLE_STEP_MS, FOREVER
        try:
            while not self._stop.is_set():
                changes = self._notify.watch(DEBOUNCE_MS, step, timeout, self._stop)
                if changes == "timeout":
                    step, timeout = IDLE_STEP_MS, FOREVER
                    self._hint()
                elif not isinstance(changes, str) and self._matters(changes):
                    step, timeout = BUSY_STEP_MS, BUSY_FOR_MS
                    self._hint()
        except Exception as error:  # noqa: BLE001  (whatever it was, the owner shows it and scans on)
            self.failure = f"{type(error).__name__}: {error}"
            self._hint()

    def _matters(self, changes: set[tuple[int, str]]) -> bool:
        """Whether a change may mean a waiting handoff or a new spool; our own claims and unlinks do not."""
        return any(path.endswith(WAITING) or os.path.isdir(path) for _, path in changes)
