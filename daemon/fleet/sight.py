"""What a status tells of the shared queue: as it was last seen, or seen anew for who asks and waits a moment for it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.queue.contract import Destination

WAIT_SECONDS = 1.0
"""How long a status waits for a look: it is to come at once, and a database may be slow."""

TIMES = 10.0
"""A look is fresh for so many times as long as it took. So a queue of millions, whose count takes seconds, is counted
in a tenth of the time however often a status is asked for; and a small one always anew."""


@dataclass(frozen=True, slots=True)
class Seen:
    """`jobs` are all machines' by their states, `destinations` where this worker delivers; `packets_dead` are an edge's
    own whose dead letters lie there."""

    jobs: Mapping[str, Any] = field(default_factory=dict)
    destinations: Sequence[Destination] = ()
    packets_dead: int = 0


class Sight:
    """One thread looks, any asks. `again` has that thread look soon; False where it looks no more, or not yet."""

    def __init__(self, again: Callable[[], bool], monotonic: Callable[[], float]) -> None:
        self._again = again
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._asked_at = float("-inf")
        self._begun_at = float("-inf")
        self._fresh_until = float("-inf")
        self.seen = Seen()
        """As the last look found it."""

    @property
    def is_wanted(self) -> bool:
        """Whether nobody looked yet, or somebody asked after the last look began."""
        return self._asked_at >= self._begun_at

    def look(self, see: Callable[[], Seen]) -> None:
        """Look now. What `see` raises goes through, and what was seen before stays."""
        begun_at = self._monotonic()
        seen = see()
        ended_at = self._monotonic()
        with self._changed:
            self.seen, self._begun_at = seen, begun_at
            self._fresh_until = ended_at + TIMES * (ended_at - begun_at)
            self._changed.notify_all()

    def asked(self) -> Seen:
        """Return what is seen now, or where that takes longer than WAIT_SECONDS what was seen last."""
        with self._changed:
            asked_at = self._monotonic()
            if asked_at < self._fresh_until:
                return self.seen
            self._asked_at = asked_at
            if self._again():
                self._changed.wait_for(lambda: self._begun_at >= asked_at, WAIT_SECONDS)
            return self.seen
