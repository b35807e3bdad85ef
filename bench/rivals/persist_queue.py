"""persist-queue's SQLite queue with acknowledgements, each item committed by itself."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import persistqueue

from bench.rivals.rival import Act

LOOK_SECONDS = 0.1


class PersistQueue:
    """`auto_resume` brings what an earlier process had taken and not acknowledged back."""

    def __init__(self, place: Path) -> None:
        self._queue = persistqueue.SQLiteAckQueue(str(place / "persist"), multithreading=True, auto_commit=True)

    def put(self, number: int) -> None:
        """See Rival."""
        self._queue.put(number)

    def fill(self, numbers: range) -> None:
        """See Rival."""
        for number in numbers:
            self._queue.put(number)

    @contextmanager
    def work(self, workers: int, act: Act) -> Iterator[None]:
        """See Rival."""
        over = threading.Event()

        def loop() -> None:
            while not over.is_set():
                try:
                    number = self._queue.get(timeout=LOOK_SECONDS)
                except persistqueue.Empty:
                    continue
                act(number)
                self._queue.ack(number)

        threads = [threading.Thread(target=loop) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def close(self) -> None:
        """See Rival."""
        self._queue.close()
