"""The shared queue as this daemon holds it: opened when it can be reached, and tried again while it cannot."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from daemon.configuration_error import ConfigurationError
from jobs.queue.errors import NewerSchema, NotSetUp, QueueUnavailable

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue

TRY_SECONDS = 5.0
"""Between two tries to reach a database that was not there."""


class Connection:
    """Safe from any thread. `problem` says why there is none at present, empty while there is one."""

    def __init__(self, opened: Callable[[], "PostgresQueue"], monotonic: Callable[[], float]) -> None:
        self._open = opened
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._queue: PostgresQueue | None = None
        self._tried_at = float("-inf")
        self._is_closed = False
        self.problem = ""

    def look_first(self) -> None:
        """Try to reach it at the start. Raises ConfigurationError where a person must act; one that is away is tried
        again later."""
        with self._lock:
            self._tried_at = self._monotonic()
            try:
                self._queue = self._open()
            except (NewerSchema, NotSetUp) as error:
                raise ConfigurationError(f"queue.url: {error}") from error
            except QueueUnavailable as error:
                self.problem = str(error)

    def queue(self) -> "PostgresQueue":
        """Return the queue. Raises QueueUnavailable while it cannot be used; where a person must act, `problem` says
        so too, and it is tried all the same."""
        with self._lock:
            if self._queue is not None:
                return self._queue
            if self._is_closed or self._monotonic() - self._tried_at < TRY_SECONDS:
                raise QueueUnavailable(self.problem or "the shared queue is closed")
            self._tried_at = self._monotonic()
            try:
                self._queue = self._open()
            except (QueueUnavailable, NewerSchema, NotSetUp) as error:
                self.problem = str(error)
                raise QueueUnavailable(self.problem) from error
            self.problem = ""
            return self._queue

    @property
    def opened(self) -> "PostgresQueue | None":
        """The queue if it was reached once; it reconnects by itself from then on."""
        return self._queue

    def close(self) -> None:
        """Close it, for good."""
        with self._lock:
            self._is_closed = True
            if self._queue is not None:
                self._queue.close()
