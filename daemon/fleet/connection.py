"""The shared queue as this daemon holds it: opened when it can be reached, and tried again while it cannot."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from daemon.configuration_error import ConfigurationError
from jobs.queue.errors import NewerSchema, NotSetUp, QueueError, QueueUnavailable

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue

CLOSE_SECONDS = 1.0
"""How long a close waits for a try to reach the database; that one then closes what it has reached."""


class Connection:
    """Safe from any thread. `failure` says why there is none at present, None while there is one. Only `look_first`
    and `reach` wait for a database that is not there."""

    def __init__(self, opened: Callable[[], "PostgresQueue"]) -> None:
        self._open = opened
        self._lock = threading.Lock()
        self._queue: PostgresQueue | None = None
        self._is_closed = False
        self.failure: QueueError | None = None
        self.trouble = ""
        """Why one that was reached cannot be used at present, as the last look found it; who asks is told at once."""

    def look_first(self) -> None:
        """Try to reach it at the start. Raises ConfigurationError where a person must act; one that is away is tried
        again later."""
        with self._lock:
            try:
                self._queue = self._open()
            except (NewerSchema, NotSetUp) as error:
                raise ConfigurationError(f"queue.url: {error}") from error
            except QueueUnavailable as error:
                self.failure = error

    def queue(self) -> "PostgresQueue":
        """Return the queue that was reached. Raises QueueUnavailable, at once, while none was or it is in trouble."""
        queue = self._queue
        if queue is None or self.trouble:
            raise QueueUnavailable(self.trouble or str(self.failure or "") or "the shared queue was not reached yet")
        return queue

    def reach(self) -> "PostgresQueue":
        """Return the queue; try to reach it first where it was not. Raises QueueError; it is tried again also where a
        person must act."""
        with self._lock:
            if self._queue is None and not self._is_closed:
                try:
                    self._queue = self._open()
                except (QueueUnavailable, NewerSchema, NotSetUp) as error:
                    self.failure = error
                    raise
                self.failure = None
            if self._is_closed and self._queue is not None:
                self._queue.close()
            if self._queue is None:
                raise QueueUnavailable("the shared queue is closed")
            return self._queue

    @property
    def opened(self) -> "PostgresQueue | None":
        """The queue if it was reached once; it reconnects by itself from then on."""
        return self._queue

    def hurry(self, seconds: float) -> None:
        """Let every call end within so many seconds: the daemon is about to stop."""
        if self._queue is not None:
            self._queue.hurry(seconds)

    def close(self) -> None:
        """Close it, for good."""
        self._is_closed = True
        if self._lock.acquire(timeout=CLOSE_SECONDS):
            try:
                if self._queue is not None:
                    self._queue.close()
            finally:
                self._lock.release()
