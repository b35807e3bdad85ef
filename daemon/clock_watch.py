"""Notices that the wall clock was set, or that the machine slept, by comparing the clocks with each other."""

from dataclasses import dataclass

from memsyncd.clock import Clock

JUMP_SECONDS = 5.0
"""A smaller drift is slewing, not a jump."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What happened since the last look, in seconds: by how much the wall clock was `set` forward (or, negative, back),
    and for how long the machine `slept`."""

    set: float = 0.0
    slept: float = 0.0

    def __bool__(self) -> bool:
        """Whether anything did."""
        return bool(self.set or self.slept)


class ClockWatch:
    """Asked on every tick."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall_ahead = clock.wall() - clock.up()
        self._up_ahead = clock.up() - clock.monotonic()

    def look(self) -> Gap:
        """Return the gap since the last look; what is smaller than a jump is left for the next one to add to."""
        wall_ahead = self._clock.wall() - self._clock.up()
        up_ahead = self._clock.up() - self._clock.monotonic()
        moved, slept = wall_ahead - self._wall_ahead, up_ahead - self._up_ahead
        moved, slept = (each if abs(each) >= JUMP_SECONDS else 0.0 for each in (moved, slept))
        if moved:
            self._wall_ahead = wall_ahead
        if slept:
            self._up_ahead = up_ahead
        return Gap(moved, slept)
