"""Group commit: many small transactions of many threads share one `BEGIN IMMEDIATE … COMMIT`.

With full sync a commit waits for the disk. While one thread waits, the others have its turn to compute and queue up;
whoever gets the lock next runs all that is queued, so that four workers are not slower than one. One that fails undoes
only itself: it is taken out, and the others run once more.
"""

import contextlib
import sqlite3
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from jobs.job import Job
from jobs.outcomes import Outcome
from jobs.queue.errors import QueueUnavailable, is_store_error, unavailable
from memsyncd import damaged_file, turn

Result = TypeVar("Result")

MAX_BATCH = 64
"""Operations in one commit at most, so that the first of them does not wait for ever."""


class Transaction:
    """What an operation may do: statements, and effects that are published only once they are committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.counted: Counter[str] = Counter()
        """Counters to raise after the commit."""
        self.claimable = 0
        """How many jobs became claimable, less those claimed: how many workers to wake."""
        self.settled: list[tuple[Job, Outcome]] = []
        """Jobs that ended otherwise than by a run of their own, and how."""
        self.touched_lanes: set[str] = set()
        """Lanes whose heads are to be brought up to date (jobs/queue/lanes.py)."""
        self.due: float | None = None
        """The earliest Unix time for which something was put off."""

    def rows(self, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """Run a statement and return all its rows."""
        return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Row | None:
        """Run a statement to its end and return its first row."""
        found = self.rows(statement, values)
        return found[0] if found else None

    def change(self, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> int:
        """Run a statement and return how many rows it changed."""
        return self._connection.execute(statement, values).rowcount

    def put_off(self, until: float) -> None:
        """Note that something becomes due at that Unix time."""
        self.due = until if self.due is None else min(self.due, until)


class Operation(Generic[Result]):
    """One queued operation and what came of it."""

    def __init__(self, act: Callable[[Transaction], Result], *, durable: bool = True) -> None:
        """Take what is to be done. It may run more than once, and what counts is the last time.

        Where it may be forgotten in a power cut (never in a mere crash of the process) `durable` is False, and it does
        not wait for the disk: a forgotten claim is a job that is still ready.
        """
        self._act = act
        self.durable = durable
        self._result: Result | None = None
        self.error: BaseException | None = None
        self.transaction: Transaction | None = None
        self.over = False

    def run(self, transaction: Transaction) -> None:
        """Act, and keep the result."""
        self.transaction = transaction
        self._result = self._act(transaction)

    def result(self) -> Result:
        """Return what `act` returned, or raise what kept it from being committed."""
        if self.error is not None:
            raise self.error
        return self._result  # type: ignore[return-value]  # None only where that is the result


class Writer:
    """Runs operations on one connection in autocommit mode, which is the writer's own from then on.

    `publish` is called with the committed transactions of a `submit`, on the thread that called it.
    """

    def __init__(self, connection: sqlite3.Connection, publish: Callable[[Sequence[Transaction]], None]) -> None:
        self._connection = connection
        self._publish = publish
        self._lock = threading.Lock()
        self._queued: deque[Operation[Any]] = deque()
        self._closed = False
        self._synced = True
        self.met_damage = False
        """Whether SQLite has called the file damaged."""

    def submit(self, *operations: Operation[Any]) -> None:
        """Run `operations` in order, in one commit with whatever else is queued; return when all are over: committed,
        and on disk if any of them is `durable`, or failed with the error that their `result` raises."""
        self._queued.extend(operations)
        while not operations[-1].over:
            with turn.locked(self._lock):
                if not operations[-1].over:
                    self._commit_batch()
        done = [each.transaction for each in operations if each.error is None and each.transaction is not None]
        if done:
            self._publish(done)

    def close(self) -> None:
        """Fold the log into the file and close the connection; what comes later is QueueUnavailable."""
        with self._lock:
            if not self._closed:
                self._closed = True
                try:
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                except sqlite3.Error:
                    pass  # the log is whole and is folded in by whoever opens the file next
                finally:
                    self._connection.close()

    def alone(self, statement: str) -> None:
        """Run a statement that may not be inside a transaction (a checkpoint, a vacuum)."""
        with self._lock:
            self._guarded(lambda: self._connection.executescript(statement))

    def _commit_batch(self) -> None:
        batch = [self._queued.popleft() for _ in range(min(len(self._queued), MAX_BATCH))]
        try:
            self._guarded(lambda: self._transact(batch))
        except Exception as error:  # noqa: BLE001  (each thread of the batch raises it from its own result)
            _fail(batch, error)
        except BaseException:
            _fail(batch, QueueUnavailable("the commit was interrupted"))
            raise
        finally:
            for operation in batch:
                operation.over = True

    def _guarded(self, act: Callable[[], Any]) -> None:
        """Map SQLite's errors about the store to ours, and leave no transaction open."""
        if self._closed:
            raise QueueUnavailable("the queue is closed")
        try:
            act()
        except sqlite3.Error as error:
            self.met_damage |= damaged_file.is_damage(error)
            raise (unavailable(error) if is_store_error(error) else error) from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _sync(self, durable: bool) -> None:
        """Have the next commit wait for the disk or not; one that waits takes those before it along."""
        if durable != self._synced:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._synced = durable

    def _transact(self, batch: Sequence[Operation[Any]]) -> None:
        execute = self._connection.execute
        self._sync(any(operation.durable for operation in batch))
        left = list(batch)
        while left:
            execute("BEGIN IMMEDIATE")
            failed = self._run_all(left)
            if failed is None:
                with turn.away() if self._synced else contextlib.nullcontext():
                    execute("COMMIT")
                return
            execute("ROLLBACK")
            left.remove(failed)

    def _run_all(self, operations: Sequence[Operation[Any]]) -> Operation[Any] | None:
        """Run all, up to the first that fails; return that one, its error kept."""
        for operation in operations:
            try:
                operation.run(Transaction(self._connection))
            except Exception as error:
                if isinstance(error, sqlite3.Error) and is_store_error(error):
                    raise  # disk full and the like: SQLite may have undone the whole transaction already
                operation.error = error
                return operation
        return None


def _fail(batch: Sequence[Operation[Any]], error: Exception) -> None:
    for operation in batch:
        operation.error = error
