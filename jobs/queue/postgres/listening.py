"""One connection that listens for what other machines tell, and rings this process's bell for it."""

import random
import select
import socket
import threading
from collections.abc import Callable

import psycopg
from psycopg import sql

from jobs.queue.doorbell import Doorbell
from jobs.queue.postgres.storage import Connection
from jobs.queue.postgres.transaction import Transaction

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two tries to listen again after the connection was lost. Meanwhile idle workers still look at every
`doorbell.SAFETY_SECONDS`, and once it is back they look at once: what was told in between is not told again."""

STOP_SECONDS = 2.0
"""How long its end is waited for: it may be on its way to a server that does not answer."""

NAME = "jobs-listening"


class Told:
    """What one commit tells the others: `sender claimable due`. PostgreSQL tells it after the commit, or not at all."""

    def __init__(self, channel: str, sender: str) -> None:
        self.channel = channel
        self.sender = sender

    def tell(self, transaction: Transaction) -> None:
        """Write it into the transaction, if there is anything."""
        due = transaction.due if transaction.tells_due else None
        if transaction.claimable > 0 or due is not None:
            words = f"{self.sender} {max(transaction.claimable, 0)} {'' if due is None else f'{due:.3f}'}"
            transaction.send("SELECT pg_notify(%s, %s)", (self.channel, words))

    def heard(self, words: str, bell: Doorbell) -> None:
        """Ring for it, unless it is this process's own, which has rung already."""
        sender, _, rest = words.partition(" ")
        claimable, _, due = rest.partition(" ")
        if sender == self.sender:
            return
        bell.ring(int(claimable))
        if due:
            bell.due_in(float(due))


class Listener:
    """A thread that listens from `start` to `stop`. Its connection may break as often as it likes."""

    def __init__(self, connect: Callable[[], Connection], told: Told, bell: Doorbell) -> None:
        self._connect = connect
        self._told = told
        self._bell = bell
        self._stopping = threading.Event()
        self._awake, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)
        self._runs = False  # set by the thread itself: one that only starts looks like one that died
        self.listening = threading.Event()
        """Set while the server would tell."""

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop it and wait for its end; again it does nothing."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._wake.send(b"\0")
        if self._thread.ident:
            self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            return  # it closes nothing that it still needs, and ends with the process
        self._awake.close()
        self._wake.close()

    @property
    def is_dead(self) -> bool:
        """Whether the thread ended though nobody stopped it."""
        return self._runs and not self._thread.is_alive() and not self._stopping.is_set()

    def _run(self) -> None:
        self._runs = True
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                with self._connect() as connection:
                    connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._told.channel)))
                    self.listening.set()
                    self._bell.wake_all()
                    pause = FIRST_PAUSE
                    self._listen(connection)
            except psycopg.Error:
                pass  # the workers meet it too, and they say so
            finally:
                self.listening.clear()
            self._stopping.wait(random.uniform(0.5, 1.0) * pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _listen(self, connection: Connection) -> None:
        while not self._stopping.is_set():
            select.select([connection.fileno(), self._awake.fileno()], [], [])
            for notification in connection.notifies(timeout=0):
                self._told.heard(notification.payload, self._bell)
