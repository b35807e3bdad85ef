"""The open extraction events: when each is asked next, and what was answered. Kept in memory, for the packet's row is
the truth: a job that finds its event unknown here registers it anew."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memsyncd.clock import Clock
from memsyncd.platforms.platform import Extraction

GROWTH = 1.5
"""Each further question waits this much longer than the one before."""

MAX_INTERVAL_SECONDS = 20.0
"""The longest wait between questions; below the 30 s within which a verdict is to be known (issue figures)."""

GAP_SECONDS = 0.25
"""Between two rounds of questions, or a quarter of the first interval: of many that are open a round asks many for the
price of a listing, and wakes their jobs together. One that is alone waits for nobody."""

AWAY_SECONDS = 2 * MAX_INTERVAL_SECONDS
"""A longer time without an answer was spent with the platform away or the machine asleep: it is no part of the time
that an extraction takes."""

KEPT_VERDICTS = 10_000
"""Verdicts nobody fetched are forgotten beyond this many; asking the platform again brings them back."""


@dataclass(frozen=True, slots=True)
class Open:
    """An extraction not yet decided. `job_id` is woken by its verdict; times are seconds the system is up.
    `away_seconds` is how much of the time since it was opened nobody could have answered, `wall_ahead` what the wall
    clock was ahead of `up` then."""

    event_id: str
    job_id: str
    opened_at: float
    next_ask: float
    interval: float
    answered_at: float
    wall_ahead: float
    away_seconds: float = 0.0


class Extractions:
    """Safe from any thread. `on_open` is called, outside the lock and with the seconds until then, when an event is
    due before the planned look."""

    def __init__(self, clock: Clock, *, first_interval_seconds: float) -> None:
        self._clock = clock
        self._first_interval = first_interval_seconds
        self._lock = threading.Lock()
        self._open: dict[str, Open] = {}
        self._verdicts: dict[str, Extraction] = {}
        self._news: set[str] = set()
        self._planned = math.inf
        self._asked_at = -math.inf
        self._gap = min(GAP_SECONDS, first_interval_seconds / 4)
        self.on_open: Callable[[float], object] = lambda _: None

    def register(self, event_id: str, job_id: str) -> None:
        """Watch an event for a job; one that is watched already keeps its schedule."""
        now = self._clock.up()
        with self._lock:
            known = self._open.get(event_id)
            if known is not None:
                self._open[event_id] = replace(known, job_id=job_id)
                return
            next_ask = now + self._first_interval
            self._open[event_id] = Open(
                event_id,
                job_id,
                now,
                next_ask,
                self._first_interval,
                answered_at=now,
                wall_ahead=self._clock.wall() - now,
            )
            earlier = next_ask < self._planned
            if earlier:
                self._planned = next_ask
        if earlier:
            self.on_open(self._first_interval)

    def due(self) -> Sequence[Open]:
        """Return the events to ask now, the longest overdue first."""
        now = self._clock.up()
        with self._lock:
            self._asked_at = now
            return sorted((entry for entry in self._open.values() if entry.next_ask <= now), key=lambda e: e.next_ask)

    def wait_seconds(self) -> float | None:
        """Return how long until the next question is due, or None where nothing is open; the asker waits that long."""
        now = self._clock.up()
        with self._lock:
            first = min((entry.next_ask for entry in self._open.values()), default=math.inf)
            # what a round had to leave (a server without a listing) is asked at once
            self._planned = first if first <= now else max(first, self._asked_at + self._gap)
            return max(0.0, self._planned - now) if self._open else None

    def told(self, answer: Extraction) -> str | None:
        """Take an answer in. Return the job to wake if it is a verdict on a watched event, else None."""
        now = self._clock.up()
        with self._lock:
            entry = self._open.get(answer.event_id)
            if entry is None:
                return None
            if answer.state.is_terminal:
                del self._open[answer.event_id]
                self._verdicts[answer.event_id] = answer
                self._news.add(entry.job_id)
                while len(self._verdicts) > KEPT_VERDICTS:
                    del self._verdicts[next(iter(self._verdicts))]
                return entry.job_id
            interval = min(entry.interval * GROWTH, MAX_INTERVAL_SECONDS)
            silent = now - entry.answered_at
            self._open[answer.event_id] = replace(
                entry,
                next_ask=now + interval,
                interval=interval,
                answered_at=now,
                away_seconds=entry.away_seconds + (silent if silent > AWAY_SECONDS else 0.0),
            )
            return None

    def put_off(self, event_id: str) -> None:
        """Ask for an event later, behind its neighbours: a question about it failed."""
        now = self._clock.up()
        with self._lock:
            entry = self._open.get(event_id)
            if entry is not None:
                interval = min(entry.interval * GROWTH, MAX_INTERVAL_SECONDS)
                self._open[event_id] = replace(entry, next_ask=now + interval, interval=interval)

    def away_seconds(self, event_id: str) -> float | None:
        """Return how much of the time by the wall clock since an event was opened nobody could have answered: the
        platform was away, the machine slept, the clock was set. None where the event is not watched."""
        wall_ahead = self._clock.wall() - self._clock.up()
        with self._lock:
            entry = self._open.get(event_id)
            return None if entry is None else entry.away_seconds + wall_ahead - entry.wall_ahead

    def has_news(self, job_id: str) -> bool:
        """Whether a verdict came for the job since it last looked: its wake-up may have met it awake."""
        with self._lock:
            return job_id in self._news

    def looked(self, job_id: str) -> None:
        """Note that a job is about to look at its verdicts."""
        with self._lock:
            self._news.discard(job_id)

    def verdict(self, event_id: str) -> Extraction | None:
        """Return the verdict on an event, if it has come."""
        with self._lock:
            return self._verdicts.get(event_id)

    def forget(self, event_id: str) -> None:
        """Stop watching an event and drop its verdict: its job has acted on it."""
        with self._lock:
            self._open.pop(event_id, None)
            self._verdicts.pop(event_id, None)

    def counts(self) -> tuple[int, float]:
        """Return how many are open, and for how many seconds the oldest has been."""
        now = self._clock.up()
        with self._lock:
            oldest = min((entry.opened_at for entry in self._open.values()), default=now)
            return len(self._open), now - oldest
