"""Unlinks the handoffs of one committed batch while the next is read. Freeing what a hook has synced makes the file
system wait for its journal: it takes as long as the rest of a handoff's way (docs/performance.md, Backlog)."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from daemon.intake.spool import Spool

FEW = 10
"""So many are unlinked at once and at no other thread's cost: an agent at work leaves one or two at a time."""


class Unlinking:
    """Used by the one thread that owns the spools. At most one batch is under way, on a thread that begins with the
    first large batch and waits without waking."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="unlink")
        self._under_way: Future[None] | None = None

    def finish(self, spool: Spool, stems: Sequence[str]) -> None:
        """Unlink the claimed handoffs `stems`, after the batch before. Raises OSError for either, as `settle` does."""
        self.settle()
        if len(stems) <= FEW:
            _unlink(spool, stems)
        else:
            self._under_way = self._pool.submit(_unlink, spool, stems)

    def settle(self) -> None:
        """Wait for the batch that is under way; raises OSError where one of its files could not be unlinked."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()


def _unlink(spool: Spool, stems: Sequence[str]) -> None:
    for stem in stems:
        spool.finish(stem)
