"""Whether the database's own clock was set: it goes on with the time since this machine was started, sleep included."""

from collections.abc import Callable

from jobs.queue.postgres.transaction import Transaction

JUMP_SECONDS = 5.0
"""What two clocks drift apart between two looks is no jump."""


class DatabaseClock:
    """Every machine notices a jump; the first moves the stored times and writes down by how much all were moved so far,
    and the others see that. `up` gives seconds that count this machine's sleep."""

    def __init__(self, up: Callable[[], float]) -> None:
        self._up = up
        self._ahead = 0.0  # of `up`, less what was moved

    def look(self, transaction: Transaction) -> None:
        """Remember how the clocks stand now."""
        self._ahead = self._look(transaction)

    def jumped(self, transaction: Transaction) -> float:
        """Return by how many seconds the database's clock was set, 0 where it was not or another machine has dealt with
        it; that is then dealt with in this transaction. Holds the row until its end."""
        ahead = self._look(transaction)
        jump = ahead - self._ahead
        if abs(jump) < JUMP_SECONDS:
            self._ahead = ahead
            return 0.0
        transaction.send("UPDATE memsyncd_clock SET moved = moved + %s", (jump,))
        return jump

    def _look(self, transaction: Transaction) -> float:
        row = transaction.row("SELECT memsyncd_now() AS now, moved FROM memsyncd_clock FOR UPDATE")
        assert row is not None  # the one row is made with the table
        return float(row["now"]) - self._up() - float(row["moved"])
