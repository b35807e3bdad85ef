"""A clock tests move by hand."""

from memsyncd.clock import Clock


class HandClock:
    """`wall` and `monotonic` stand still until moved."""

    def __init__(self, wall: float = 1_800_000_000.0) -> None:
        self.wall_now = wall
        self.monotonic_now = 1_000.0
        self.slept = 0.0

    def move(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self.wall_now += seconds
        self.monotonic_now += seconds

    def sleep(self, seconds: float) -> None:
        """Let the machine sleep: waits stand still, and the wall clock goes on."""
        self.wall_now += seconds
        self.slept += seconds

    def clock(self) -> Clock:
        """Return the clock that reads the hands."""
        return Clock(
            wall=lambda: self.wall_now,
            monotonic=lambda: self.monotonic_now,
            up=lambda: self.monotonic_now + self.slept,
        )
