"""The embedded platform: the same asynchronous answers as the hosted one, from `memory.sqlite3` alone."""

import sqlite3
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from memsyncd.clock import Clock, from_rfc3339, rfc3339
from memsyncd.platforms.local import events, extracting, memories, schema, searching
from memsyncd.platforms.local.candidate import Candidate
from memsyncd.platforms.local.candidates import memories_from
from memsyncd.platforms.local.door import Door
from memsyncd.platforms.local.scope_filter import require_identity
from memsyncd.platforms.platform import (
    Accepted,
    Account,
    Batch,
    Extraction,
    ExtractionState,
    Found,
    Memory,
    Query,
    Rejected,
)

PAGE_SIZE = 100
EXTRACTED_PER_PAGE = 500
EXTRACTION_SECONDS = 3.0
"""What listing a page carries out at most. A packet takes some 4 ms, a full request 0.25 s (bench/local_memory.py):
three seconds are some hundreds of them, and a stop is noticed after each."""

MAX_ERROR_CHARS = 500
FREED_PAGES = 200
"""Pages given back to the file system after an extraction, at most (never-again 115)."""


class LocalPlatform:
    """Memories made and found on this machine. Methods are safe from any thread and raise only PlatformError.

    `path` is the store, made on first use with mode 0600. `new_id` gives unique ids of events and memories. The
    constructor raises schema.NewerSchema where a newer version wrote the file, which stays as it is; any other
    trouble with the file is told by each call, and gone when the file is well again. One connection writes and one
    searches, so that a recall does not wait for an extraction.

    Rules make the memories when somebody asks for the verdict, unless `is_left(event_id, since)` says that whoever was
    told by `on_accepted(event_id)` may still make better ones; since: Unix seconds. Neither is called inside a
    transaction, and neither may raise. `outside_seconds` is what one call of those takes at most.
    """

    kind = "local"
    url = ""

    def __init__(self, path: Path, clock: Clock, *, new_id: Callable[[], str] = lambda: str(uuid.uuid4())) -> None:
        self._path = path
        self._clock = clock
        self._new_id = new_id
        self._writer = Door(path, schema.open_store, begin="BEGIN IMMEDIATE")
        self._reader = Door(path, schema.open_store, begin="BEGIN")
        self.on_accepted: Callable[[str], object] = lambda _: None
        self.is_left: Callable[[str, float], bool] = lambda _event, _since: False
        self.outside_seconds = 0.0
        try:
            schema.refuse_newer(path)
        except (sqlite3.Error, OSError):
            return  # the next call says so, as a PlatformError

    @property
    def longest_call_seconds(self) -> float:
        """A wait for another process's lock, or for who makes memories outside."""
        return max(schema.BUSY_SECONDS, self.outside_seconds)

    @property
    def destination(self) -> str:
        """The name under which this platform cools."""
        return "local"

    def add(self, batch: Batch) -> Accepted:
        """Store a batch durably. The same packet and batch again gives the same event and adds nothing."""
        require_identity(user_id=batch.user_id, app_id=batch.app_id, agent_id=batch.agent_id)
        if not batch.packet_id:
            raise Rejected("packet_id is missing")
        with self._writer.transaction() as connection:
            event_id = events.add(connection, batch, event_id=self._new_id(), now=self._now())
        self.on_accepted(event_id)
        return Accepted(event_id)

    def extraction(self, event_id: str) -> Extraction:
        """Return an extraction event, carrying it out first if it still waits.

        The thinking is done outside the transaction (never-again 44); what was decided is stored with the event's end
        in one, so that a crash anywhere leaves it pending or done.
        """
        self._carry_out(event_id)
        with self._writer.transaction() as connection:
            return events.get(connection, event_id)

    def extractions(self) -> Iterator[Sequence[Extraction]]:
        """List extraction events, newest first, a page at a time, carrying out what waits before each page.

        Whoever lists looks for verdicts, and nothing else would bring them. What the bounds leave over is told as
        pending, and carried out for the next page or listing.
        """
        before: int | None = None
        while True:
            self._carry_out_pending()
            with self._reader.transaction() as connection:
                page, before = events.page(connection, before=before, size=PAGE_SIZE)
            if page:
                yield page
            if before is None:
                return

    def pending(self, *, limit: int = EXTRACTED_PER_PAGE) -> Sequence[str]:
        """Return the ids of the oldest events that wait for their memories."""
        with self._reader.transaction() as connection:
            return events.pending(connection, limit=limit)

    def pending_batch(self, event_id: str) -> tuple[Batch, float] | None:
        """Return the batch of an event that waits for its memories, and since when (Unix seconds)."""
        with self._reader.transaction() as connection:
            batch, since = events.pending_batch(connection, event_id), events.pending_since(connection, event_id)
        return None if batch is None else (batch, from_rfc3339(since or "") or 0.0)

    def store(self, event_id: str, candidates: Sequence[Candidate]) -> bool:
        """End an event with memories made outside; False where it was over before, and nothing was stored."""
        waiting = self.pending_batch(event_id)
        return waiting is not None and self._store(event_id, waiting[0], candidates)

    def find(
        self,
        packet_id: str,
        batch: int,
        *,
        user_id: str,
        app_id: str,
        posted_at: float | None = None,  # noqa: ARG002  (the lookup is by key, however old)
    ) -> Found | None:
        """Look for a batch; what was stored is found at once."""
        with self._reader.transaction() as connection:
            event = events.find(connection, packet_id, batch, user_id=user_id, app_id=app_id)
        return Found(event.event_id, event.memories) if event else None

    def search(self, query: Query) -> Sequence[Memory]:
        """Find memories, best first. Raises Rejected on a wildcard id, an unknown scope or category."""
        with self._reader.transaction() as connection:
            return searching.search(connection, query, now=self._clock.wall())

    def delete(self, memory_id: str) -> bool:
        """Delete a memory for good: the same evidence does not bring it back."""
        with self._writer.transaction() as connection:
            return memories.delete(connection, memory_id, self._now())

    def ping(self) -> Account:
        """Read from the store."""
        with self._reader.transaction() as connection:
            connection.execute("SELECT count(*) FROM tombstones").fetchone()
        return Account()

    def drop_connections(self) -> None:
        """Nothing to drop: a file does not change its network."""

    def cancel(self) -> None:
        """End the calls now running (they raise Cancelled and have done nothing); later calls fail at once."""
        self._writer.cancel()
        self._reader.cancel()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
        self._reader.close()

    def _carry_out_pending(self) -> None:
        """Carry out what waits, the oldest first, so that of two statements the later overrules the earlier."""
        with self._reader.transaction() as connection:
            waiting = events.pending(connection, limit=EXTRACTED_PER_PAGE)
        end = self._clock.monotonic() + EXTRACTION_SECONDS
        for event_id in waiting:
            self._carry_out(event_id)
            if self._clock.monotonic() >= end:
                return

    def _carry_out(self, event_id: str) -> None:
        with self._reader.transaction() as connection:
            since = events.pending_since(connection, event_id)
        if since is None or self.is_left(event_id, from_rfc3339(since) or 0.0):
            return
        waiting = self.pending_batch(event_id)
        if waiting is not None:
            self._extract(event_id, waiting[0])

    def _extract(self, event_id: str, batch: Batch) -> None:
        try:
            candidates = memories_from(batch.messages, batch.metadata)
        except Exception as error:  # noqa: BLE001  (a fault of ours in one text must fail that batch, not the worker)
            self._finish(event_id, lambda _: 0, error=f"{type(error).__name__} while extracting")
            return
        self._store(event_id, batch, candidates)

    def _store(self, event_id: str, batch: Batch, candidates: Sequence[Candidate]) -> bool:
        return self._finish(
            event_id,
            lambda connection: extracting.store(connection, candidates, batch, now=self._now(), new_id=self._new_id),
        )

    def _finish(self, event_id: str, act: Callable[[sqlite3.Connection], int], *, error: str = "") -> bool:
        with self._writer.transaction() as connection:
            if events.pending_batch(connection, event_id) is None:
                return False  # another thread was first
            made = act(connection)
            state = ExtractionState.FAILED if error else ExtractionState.SUCCEEDED
            events.finish(connection, event_id, state, memories=made, error=error[:MAX_ERROR_CHARS], now=self._now())
            connection.execute(f"PRAGMA incremental_vacuum({FREED_PAGES})").fetchall()
        return True

    def _now(self) -> str:
        return rfc3339(self._clock.wall())
