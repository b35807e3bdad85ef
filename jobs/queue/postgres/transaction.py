"""What an operation on the shared queue may do: statements, and effects that are published once they are committed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.job import Job
from jobs.outcomes import Outcome
from jobs.queue.postgres.rows import Row
from jobs.queue.postgres.storage import Connection, Cursor

Values = Sequence[Any] | Mapping[str, Any]


class Transaction:
    """One transaction under way, on a connection in pipeline mode: only a statement whose rows are wanted waits for the
    server.

    Locks are taken in one order, so that no two wait for each other: lanes (all at once, by `lanes.lock`), then jobs,
    then destinations. Taking a job waits for none: it passes over what is locked.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.counted: Counter[str] = Counter()
        """Counters to raise after the commit."""
        self.claimable = 0
        """How many jobs became claimable, less those claimed: how many workers to wake, here and elsewhere."""
        self.settled: list[tuple[Job, Outcome]] = []
        """Jobs that ended otherwise than by a run of their own, and how."""
        self.touched_lanes: set[bytes] = set()
        """Lanes whose heads are to be brought up to date."""
        self.due: float | None = None
        """In how many seconds the first of what was put off becomes due."""
        self._later: list[Cursor] = []
        self.tells_due = False
        """Whether other machines are told of that: a worker that puts its own job off wakes for it itself."""

    def send(self, statement: str, values: Values = ()) -> None:
        """Run a statement of whose rows there are none, or none are wanted."""
        self._connection.execute(statement, values)

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """Run a statement and return all its rows."""
        return list(self._connection.execute(statement, values).fetchall())

    def row(self, statement: str, values: Values = ()) -> Row | None:
        """Run a statement and return its first row."""
        return self._connection.execute(statement, values).fetchone()

    def later(self, statement: str, values: Values) -> None:
        """Run a statement whose one row tells how many jobs became `claimable`; it is read when all else is."""
        self._later.append(self._connection.execute(statement, values))

    def counted_up(self) -> None:
        """Read what was left for later."""
        while self._later:
            row = self._later.pop().fetchone()
            assert row is not None  # a count
            self.claimable += row["claimable"]

    def put_off(self, seconds: float) -> None:
        """Note that something becomes due in so many seconds."""
        self.due = seconds if self.due is None else min(self.due, seconds)
