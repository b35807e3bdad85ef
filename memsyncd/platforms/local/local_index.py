"""What this machine knows of a platform elsewhere: its memories as it told them, to answer while it is away."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from memsyncd.clock import Clock, rfc3339
from memsyncd.counters import Counters
from memsyncd.platforms.local import mirror, schema, searching
from memsyncd.platforms.local.door import Door
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.local.mirror import Asker
from memsyncd.platforms.platform import Memory, PlatformError, Query

MOST_MEMORIES = 20_000
"""Of one platform; the oldest go first, counted as `mirrored_dropped`."""

HEARD_AT_ONCE = 500
"""Memories that wait to be kept; one more and all are kept at once."""

WRITE_WAIT_MILLISECONDS = 200
"""How long a writer waits for another at the file: somebody waits for the answer in which the news came."""


class LocalIndex:
    """Methods are safe from any thread and raise only PlatformError.

    `path` is `memory.sqlite3`, which the embedded platform, notes and agent state share. `platform` is the destination
    whose memories these are: another's are never seen. `redact` goes over every text that is kept. One connection
    writes and one searches. What is forgotten goes by `deleting.py`, as the embedded platform's own memories do.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock,
        counters: Counters,
        *,
        platform: str,
        redact: Callable[[str], str],
        most: int = MOST_MEMORIES,
    ) -> None:
        self._clock = clock
        self._counters = counters
        self._platform = platform
        self._redact = redact
        self._most = most
        self._heard: list[tuple[Memory, Asker]] = []
        self._heard_lock = threading.Lock()
        self._writer = Door(path, lambda path: _impatient(schema.open_store(path)), begin="BEGIN IMMEDIATE")
        self._reader = Door(path, schema.open_store, begin="BEGIN")

    def search(self, query: Query) -> Sequence[Memory]:
        """Find memories, best first. Raises Rejected on a wildcard id, an unknown scope or category."""
        self.settle()
        with self._reader.transaction() as connection:
            return searching.search(connection, query, now=self._clock.wall(), platform=self._platform)

    def remember(self, query: Query, found: Sequence[Memory]) -> None:
        """Keep what the platform found for `query`; what is known as it stands is not written again."""
        self.learn(found, Asker(query.user_id, query.app_id, query.agent_ids, query.run_id))

    def hear(self, told: Sequence[Memory], asker: Asker) -> None:
        """Keep what the platform told `asker` of, at the next `settle`: many small news share a commit. What a death
        of the process takes away is kept when it is told again."""
        with self._heard_lock:
            self._heard += [(memory, asker) for memory in told]
            is_much = len(self._heard) > HEARD_AT_ONCE
        if is_much:
            self.settle()

    def settle(self) -> None:
        """Keep what was heard. Raises nothing."""
        with self._heard_lock:
            heard, self._heard = self._heard, []
        self._learn(heard)

    def learn(self, told: Sequence[Memory], asker: Asker) -> None:
        """Keep what the platform told `asker` of, now. Raises nothing: what cannot be kept is counted as
        `mirrored_failed`, and kept when it is told again."""
        self._learn([(memory, asker) for memory in told])

    def _learn(self, told: Sequence[tuple[Memory, Asker]]) -> None:
        now = rfc3339(self._clock.wall())
        safe = [(replace(memory, memory=self._redact(memory.memory)), asker) for memory, asker in told]
        rows = [row for each, asker in safe if (row := mirror.row_of(each, asker, platform=self._platform, now=now))]
        try:
            dropped = self._keep(rows) if rows else 0
        except PlatformError:
            self._counters.add("mirrored_failed", len(rows))
            return
        if dropped:
            self._counters.add("mirrored_dropped", dropped)

    def _keep(self, rows: Sequence[NewMemory]) -> int:
        """Keep what is news, and return how many older memories had to make room."""
        with self._reader.transaction() as connection:
            news = [row for row in rows if mirror.is_news(connection, row)]
        if not news:
            return 0
        with self._writer.transaction() as connection:
            for row in news:
                mirror.keep(connection, row)
            return mirror.make_room(connection, platform=self._platform, most=self._most)

    def cancel(self) -> None:
        """End the calls now running; later calls fail at once."""
        self._writer.cancel()
        self._reader.cancel()

    def close(self) -> None:
        """Keep what was heard, and close the file."""
        self.settle()
        self._writer.close()
        self._reader.close()


def _impatient(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute(f"PRAGMA busy_timeout = {WRITE_WAIT_MILLISECONDS}")
    connection.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes back is told again
    return connection
