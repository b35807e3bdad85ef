"""Wakes idle workers: by a ring when there is work, by one timer for what is due, else not at all."""

import threading
from collections.abc import Callable

SAFETY_SECONDS = 15.0
"""The timer's longest wait: another process (a command while the daemon is down, a shared file) rings no bell here."""


class Doorbell:
    """Idle workers wait here. One of them is the timer and waits with a time-out; the others wait without.

    A worker takes `ticket()` before it looks for work (and whether it is to stop); `wait` returns at once if the bell
    rang after that, so no ring is lost between looking and waiting. `monotonic` is the clock of the waits.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        condition: Callable[[threading.Lock], threading.Condition] = threading.Condition,
    ) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._timer_condition = condition(self._lock)
        self._idle_condition = condition(self._lock)
        self._tickets = 0
        self._idle = 0  # waiting without a time-out and not yet notified
        self._timer_due: float | None = None  # None: nobody is the timer

    @property
    def waiting(self) -> int:
        """How many workers wait."""
        with self._lock:
            return self._idle + (self._timer_due is not None)

    def ticket(self) -> int:
        """Return a mark of now, for `wait`."""
        with self._lock:
            return self._tickets

    def wait(self, ticket: int, delay: float | None) -> None:
        """Wait until rung or, for the one that is the timer, until `delay` seconds (None: unknown) are over."""
        with self._lock:
            if self._tickets != ticket:
                return
            due = self._monotonic() + min(SAFETY_SECONDS if delay is None else max(delay, 0.0), SAFETY_SECONDS)
            if self._timer_due is None:
                self._timer_due = due
                self._timer_condition.wait(due - self._monotonic())
                self._timer_due = None
                return
            if due < self._timer_due:
                self._timer_condition.notify()
            self._idle += 1
            self._idle_condition.wait()

    def ring(self, jobs: int) -> None:
        """Wake one worker for each of `jobs` that became claimable; the timer last, for it would need a successor."""
        if jobs <= 0:
            return
        with self._lock:
            self._tickets += 1
            woken = min(jobs, self._idle)
            self._idle -= woken
            self._idle_condition.notify(woken)
            if woken < jobs:
                self._timer_condition.notify()

    def due_in(self, delay: float) -> None:
        """Tell that something becomes due in `delay` seconds: the timer looks again if it would sleep past that."""
        with self._lock:
            if self._timer_due is None or self._monotonic() + delay < self._timer_due:
                self._tickets += 1
                self._timer_condition.notify()

    def hand_on(self) -> None:
        """Let one of those that wait become the timer where there is none; called by a worker that found work."""
        with self._lock:
            if self._timer_due is None and self._idle:
                self._idle -= 1
                self._idle_condition.notify()

    def wake_all(self) -> None:
        """Wake everybody, so that they see that they are to stop."""
        with self._lock:
            self._tickets += 1
            self._idle = 0
            self._idle_condition.notify_all()
            self._timer_condition.notify_all()
