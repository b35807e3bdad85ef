"""An edge looks at the database while there is something to tell it, or to learn of it. It holds no connection else."""

import contextlib
import math
from typing import TYPE_CHECKING

from daemon.fleet.sight import Seen, Sight
from daemon.fleet.troubles import Troubles
from jobs.fleet.learn import GIVEN_UP_SECONDS, Learner, packets_dead
from memsyncd.evidence.errors import EvidenceError

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue

REST_SECONDS = 2.0
"""After so long without a call an edge holds no connection, from its next round on: a server has a few hundred, and
with ten seconds a thousand edges held twice as many (docs/fleet.md)."""


class EdgeLook:
    """Its clock, and what has had its days, are looked after by workers. Of one thread."""

    def __init__(self, learner: Learner, troubles: Troubles, sight: Sight) -> None:
        self._learner = learner
        self._troubles = troubles
        self._sight = sight
        self._gave_up = 0
        self._gave_up_at = -math.inf

    def look(self, queue: "PostgresQueue", now: float, *, is_due: bool) -> None:
        """Look whether the own packets are served where that `is_due`, and how many of them are dead letters there when
        others were given up, for who asks, and every few minutes. `now` is monotonic. Raises QueueError."""
        if is_due:
            is_out = packets(self._learner, "packets_open", "packets_shared")
            self._troubles.look(queue.unserved() if is_out else (), only_own=True)
        gave_up = packets(self._learner, "packets_gave_up")
        is_asked = self._sight.is_wanted and self._sight.seen.packets_dead
        if gave_up != self._gave_up or is_asked or (gave_up and now - self._gave_up_at >= GIVEN_UP_SECONDS):
            self._sight.look(lambda: Seen(packets_dead=packets_dead(self._learner)))
            self._gave_up, self._gave_up_at = gave_up, now
        queue.rest(REST_SECONDS)


def packets(learner: Learner, *names: str) -> int:
    """Return how many packets of this machine are so, as the evidence counts them and as far as can be told."""
    found = 0
    for _, store in learner.stores():
        with contextlib.suppress(EvidenceError):
            counts = store.counts()
            found += sum(counts[name] for name in names)
    return found
