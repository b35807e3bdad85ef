"""The connections of one process, few and bounded: whoever needs one takes it, uses it and puts it back."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg.pq import TransactionStatus

from jobs.queue.errors import QueueUnavailable
from jobs.queue.postgres.patience import LONGEST_SECONDS, Patience
from jobs.queue.postgres.storage import Connection
from jobs.queue.shared_queue import UNUSABLE

ROOM_SECONDS = 20.0
"""How long somebody waits for a connection of the process's few: longer than any transaction of ours that goes well."""


class Connections:
    """At most `limit` at a time; who comes beyond waits for one, ROOM_SECONDS at most. Once the patience is hurried no
    new one is opened: that takes seconds where nobody answers."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        limit: int,
        monotonic: Callable[[], float] = time.monotonic,
        patience: Patience | None = None,
    ) -> None:
        self._connect = connect
        self._patience = patience or Patience(monotonic)
        self._monotonic = monotonic
        self._used_at = monotonic()
        self._room = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False

    @contextmanager
    def one(self, longest: float = LONGEST_SECONDS) -> Iterator[Connection]:
        """Give a connection, whose server has `longest` seconds for each answer. Raises psycopg.Error where none comes
        about, QueueUnavailable after the close and where none is free."""
        if not self._room.acquire(timeout=ROOM_SECONDS):
            raise QueueUnavailable(f"{UNUSABLE}no connection was free for long")
        try:
            connection = self._take()
            connection.longest = longest
            try:
                yield connection
            except BaseException:
                self._put_back(_undone(connection))
                raise
            self._put_back(connection)
        finally:
            self._room.release()

    def drop_idle(self) -> None:
        """Let go of those that nobody uses: the server they led to is gone or another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def drop_unused(self, seconds: float) -> None:
        """Let go of all where none was used for so long: a server has few for many machines."""
        if self._idle and self._monotonic() - self._used_at >= seconds:
            self.drop_idle()

    def close(self) -> None:
        """Close them; those in use when they are put back."""
        self._closed = True
        self.drop_idle()

    def _take(self) -> Connection:
        if self._closed:
            raise QueueUnavailable("the queue is closed")
        with self._lock:
            if self._idle:
                return self._idle.pop()
        if self._patience.is_hurried:
            raise QueueUnavailable(f"{UNUSABLE}this daemon is stopping")
        return self._connect()

    def _put_back(self, connection: Connection) -> None:
        with self._lock:
            self._used_at = self._monotonic()
            if not self._closed and connection.info.transaction_status is TransactionStatus.IDLE:
                self._idle.append(connection)
                return
        connection.close()


def _undone(connection: Connection) -> Connection:
    """Return the connection with no transaction open, or closed where that cannot be had."""
    try:
        if connection.info.transaction_status is not TransactionStatus.IDLE:
            connection.rollback()
    except psycopg.Error:
        connection.close()
    return connection
