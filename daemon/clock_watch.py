"""Notices that the wall clock jumped, or that the machine slept, by comparing it with the monotonic clock."""

from memsyncd.clock import Clock

JUMP_SECONDS = 5.0
"""A smaller drift is slewing, not a jump."""


class ClockWatch:
    """Asked on every tick. On Linux the monotonic clock stands still in sleep, so a sleep looks like a jump forward."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.wall() - clock.monotonic()

    def jumped(self) -> float:
        """Return by how many seconds the wall clock has moved against the monotonic one since last asked, or 0."""
        offset = self._clock.wall() - self._clock.monotonic()
        moved = offset - self._offset
        if abs(moved) < JUMP_SECONDS:
            return 0.0
        self._offset = offset
        return moved
