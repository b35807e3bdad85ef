"""Each operation on the shared queue in a transaction of its own, whatever happens to the connection."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

import psycopg

from jobs.queue.postgres import errors, lanes
from jobs.queue.postgres.connections import Connections
from jobs.queue.postgres.errors import Fault
from jobs.queue.postgres.storage import Connection
from jobs.queue.postgres.transaction import Transaction

Result = TypeVar("Result")

TRIES = 4
"""How often an operation is begun that meets conflicts or broken connections."""

CONFLICT_SECONDS = 0.02
"""The longest pause before an operation that met a conflict is begun again."""


class Writer:
    """Runs operations, and publishes what is committed.

    `tell` writes what other machines are to know into the transaction (a NOTIFY); `publish` is called after the commit,
    on the thread that called `run`.
    """

    def __init__(
        self,
        connections: Connections,
        tell: Callable[[Transaction], None],
        publish: Callable[[Transaction], None],
    ) -> None:
        self._connections = connections
        self._tell = tell
        self._publish = publish

    def run(self, act: Callable[[Transaction], Result], in_doubt: Callable[[], None] = lambda: None) -> Result:
        """Run `act` in a transaction and return its result. Raises QueueUnavailable and what `act` raises.

        `act` may run more than once, and what counts is the last time. `in_doubt` is called when the answer to a commit
        was lost: from then on `act` has to look first whether it has happened already.
        """
        for left in reversed(range(TRIES)):
            attempt = _Attempt()
            try:
                with self._connections.one() as connection:
                    attempt.connection = connection
                    result = self._transact(attempt, connection, act)
            except psycopg.Error as error:
                fault = errors.fault_of(error, attempt.connection)
                if fault is Fault.OURS:
                    raise
                if fault is Fault.LOST:
                    self._connections.drop_idle()
                    if attempt.committing:
                        in_doubt()
                if not left or fault is Fault.STORE or attempt.connection is None:
                    raise errors.unavailable(error) from error
                if fault is Fault.CONFLICT:
                    time.sleep(random.uniform(0, CONFLICT_SECONDS))
            else:
                assert attempt.transaction is not None  # for it was committed
                self._publish(attempt.transaction)
                return result
        raise AssertionError("the last try returns or raises")

    def _transact(self, attempt: "_Attempt", connection: Connection, act: Callable[[Transaction], Result]) -> Result:
        with connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            attempt.transaction = transaction = Transaction(connection)
            result = act(transaction)
            lanes.reseat(transaction)
            transaction.counted_up()
            self._tell(transaction)
            attempt.committing = True
            connection.execute("COMMIT")
        return result


class _Attempt:
    """How far one try has come."""

    connection: Connection | None = None
    transaction: Transaction | None = None
    committing = False
