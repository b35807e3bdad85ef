"""How long an answer may take, and whether anybody still waits for it."""

from dataclasses import dataclass

from memsyncd.clock import Clock

ANSWER_SECONDS = 1.8
"""What the daemon takes at most: less than the two seconds of its hook, which has to write and to print as well."""

RESERVE_SECONDS = 0.1
"""Left of a caller's time for noting what is shown, and for the way back."""


@dataclass(slots=True)
class Limit:
    """`at` is monotonic seconds. Whoever gives up the wait sets `is_abandoned`: what nobody gets is not shown."""

    clock: Clock
    at: float
    is_abandoned: bool = False

    @classmethod
    def of(cls, clock: Clock, until: float | None) -> "Limit":
        """Return the limit of an answer asked for now; `until`, Unix seconds, is how long its caller waits."""
        seconds = ANSWER_SECONDS
        if until is not None:
            seconds = min(seconds, until - clock.wall() - RESERVE_SECONDS)
        return cls(clock, clock.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds until it is over; never less than 0."""
        return max(0.0, self.at - self.clock.monotonic())

    def check(self) -> None:
        """Raise TimeoutError where it is over."""
        if self.is_abandoned or not self.left:
            raise TimeoutError("nobody waits for the answer any more")
