"""huey's own SQLite store, full sync: what is taken is deleted first."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huey import SqliteHuey
from huey.consumer import Consumer

from bench.rivals.rival import Act


class _QuietConsumer(Consumer):
    """huey's consumer without its signal handlers."""

    def _set_signal_handlers(self) -> None:
        """Set none."""


class PlainHuey:
    """Its consumer polls every 5 ms at most here, where 0.1 to 10 s is its own choice."""

    def __init__(self, place: Path) -> None:
        self._huey = SqliteHuey(filename=str(place / "huey.sqlite3"), fsync=True, results=False)
        self._act: Act = lambda _: None

        def work(number: int) -> None:
            self._act(number)

        self._task = self._huey.task(name="work")(work)

    def put(self, number: int) -> None:
        """See Rival."""
        self._task(number)

    def fill(self, numbers: range) -> None:
        """See Rival."""
        for number in numbers:
            self._task(number)

    @contextmanager
    def work(self, workers: int, act: Act) -> Iterator[None]:
        """See Rival."""
        self._act = act
        consumer = _QuietConsumer(
            self._huey,
            workers=workers,
            periodic=False,
            check_worker_health=False,
            initial_delay=0.005,
            max_delay=0.005,
        )
        consumer.start()
        try:
            yield
        finally:
            consumer.shutdown_timeout = 10
            consumer.stop(graceful=True)

    def close(self) -> None:
        """See Rival."""
        self._huey.storage.close()
