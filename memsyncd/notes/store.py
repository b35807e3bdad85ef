"""The notes in `memory.sqlite3`: remembered, recalled, forgotten, found and counted.

Several processes use one file at once, the daemon and each agent's MCP server: whatever reads and then writes does both
in one transaction that holds the lock from its start (hooks-and-apis.md section 6, defects 1 and 2).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.notes import arriving, cleaning, counting, erasing, exchange, rows, searching, words
from memsyncd.notes.database import Reader, Writer
from memsyncd.notes.errors import NoteError, NoteMissing, NoteRefused
from memsyncd.notes.limits import (
    DEFAULT_RESULTS,
    MAX_RESULTS,
    MAX_TOMBSTONES,
    MAX_TTL_SECONDS,
    MIN_TTL_SECONDS,
    ROWS_AT_ONCE,
    SWEPT_PER_WRITE,
)
from memsyncd.notes.note import Arrival, Found, IncomingNote, NamespaceCount, Note, Remembered, Stats, Swept


class NoteStore:
    """The notes of one file, made by the first that is remembered. Methods are safe from any thread and raise only
    NoteError.

    What reads changes nothing and makes nothing, and does not wait for a write. What was acknowledged is on the disk.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self._writer = Writer(path)
        self._reader = Reader(path)

    def remember(self, namespace: str, key: str, value: str, ttl_seconds: int | None = None) -> Remembered:
        """Store a note, or give the one of that name another value and another time: None is never.

        Secrets and private spans of the value do not get in; `changes` of the answer says so. Raises NoteRefused for
        names, values and times that are not acceptable.
        """
        cleaning.checked_namespace(namespace)
        cleaning.checked_key(key)
        if ttl_seconds is not None and not MIN_TTL_SECONDS <= ttl_seconds <= MAX_TTL_SECONDS:
            raise NoteRefused(f"ttl_seconds must be from {MIN_TTL_SECONDS} to {MAX_TTL_SECONDS}, or left out for never")
        clean = cleaning.clean_value(key, value)
        indexed = words.words_of(key, clean.text)
        with self._writer.transaction() as connection:
            now = self._now()
            rows.sweep(connection, now, SWEPT_PER_WRITE)
            existing = rows.get(connection, namespace, key)
            there = _unless_expired(existing, now)
            expires = None if ttl_seconds is None else now + 1000 * ttl_seconds
            note = (
                _renewed(there.note, clean.text, now, expires)
                if there
                else Note(namespace, key, clean.text, now, now, now, expires)
            )
            rows.put(connection, note, indexed, existing=existing)
        return Remembered(note, created=there is None, changes=clean.changes)

    def recall(self, namespace: str, key: str) -> Note:
        """Return a note. Writes nothing. Raises NoteMissing."""
        with self._reader.transaction() as connection:
            row = _unless_expired(rows.get(connection, namespace, key), self._now())
        if row is None:
            raise NoteMissing("there is no such note")
        return row.note

    def namespaces_with(self, key: str, *, limit: int) -> Sequence[str]:
        """Return the namespaces in which a note of this key stands, in order of their names."""
        with self._reader.transaction() as connection:
            return counting.namespaces_with(connection, key, now=self._now(), limit=limit)

    def forget(self, namespace: str, key: str) -> None:
        """Delete a note for good: an import of an older one does not bring it back. Raises NoteMissing; where there is
        none nothing is written."""
        with self._reader.transaction() as connection:
            if rows.get(connection, namespace, key) is None:
                raise NoteMissing("there is no such note")
        with self._writer.transaction() as connection:
            now = self._now()
            rows.sweep(connection, now, SWEPT_PER_WRITE)
            row = rows.get(connection, namespace, key)
            if row is not None:
                rows.bury(connection, namespace, key, now)
                rows.delete(connection, [row.number])
        if row is not None:
            self._erase(erasing.FORGETTING_SECONDS)
        if _unless_expired(row, now) is None:
            raise NoteMissing("there is no such note")

    def search(self, query: str, namespace: str | None = None, limit: int = DEFAULT_RESULTS) -> Found:
        """Find notes, of one namespace or of all, the best first; `limit` is brought into 1 … MAX_RESULTS."""
        within = max(1, min(limit, MAX_RESULTS))
        with self._reader.transaction() as connection:
            return searching.search(connection, query, namespace, limit=within, now=self._now())

    def namespaces(self) -> Sequence[NamespaceCount]:
        """Return every namespace that has notes, in order of their names."""
        with self._reader.transaction() as connection:
            return counting.namespaces(connection, now=self._now())

    def clear(self, namespace: str) -> int:
        """Delete all notes of a namespace for good, as `forget` does; return how many could be recalled before.

        A part at a time, so that nobody waits long. What others write meanwhile stays. Interrupted, it has deleted
        some; repeated, it deletes the rest.
        """
        with self._reader.transaction() as connection:
            if rows.namespace_number(connection, namespace) is None:
                return 0
        with self._writer.transaction() as connection:
            now = self._now()
            number = rows.namespace_number(connection, namespace)
            if number is None:
                return 0
            rows.bury(connection, namespace, None, now)
            last = counting.last_note(connection)
        deleted = 0
        while True:
            with self._writer.transaction() as connection:
                part = counting.notes_of(connection, number, upto=last, written_by=now, limit=ROWS_AT_ONCE)
                rows.delete(connection, [each for each, _ in part])
            deleted += sum(expires is None or expires > now for _, expires in part)
            if len(part) < ROWS_AT_ONCE:
                self._erase(erasing.FORGETTING_SECONDS)
                return deleted

    def stats(self) -> Stats:
        """Return the store's figures."""
        with self._reader.transaction() as connection:
            return counting.stats(connection, now=self._now())

    def sweep(self, now: float, limit: int) -> Swept:
        """Delete at most `limit` notes that have expired at Unix second `now`, the longest expired first, the
        words that only replaced values said, and the oldest tombstones above MAX_TOMBSTONES. Called by the daemon, and
        again at once while there are `more`."""
        moment = round(now * 1000)
        swept = 0
        while swept < limit:
            part = min(ROWS_AT_ONCE, limit - swept)
            with self._writer.transaction() as connection:
                gone = rows.sweep(connection, moment, part)
            swept += gone
            if gone < part:
                break
        unsaid = 0
        while True:
            with self._writer.transaction() as connection:
                looked_at = words.forget_unsaid(connection, ROWS_AT_ONCE)
            unsaid += looked_at
            if looked_at < ROWS_AT_ONCE:
                break
        if swept or unsaid:
            self._erase(erasing.SWEEPING_SECONDS)
        with self._writer.transaction() as connection:
            tombstones = rows.drop_tombstones(connection, keep=MAX_TOMBSTONES)
            more = bool(rows.expired(connection, moment, 1))
        return Swept(swept, tombstones, more)

    def take_in(self, incoming: Sequence[IncomingNote]) -> Sequence[Arrival]:
        """Take in notes from elsewhere, at most ROWS_AT_ONCE, already cleaned; tell what became of each, in order.

        All in one transaction. None replaces a note that is as new or newer, none comes back that was forgotten since.
        """
        assert len(incoming) <= ROWS_AT_ONCE
        indexed = [words.words_of(note.key, note.value) for note in incoming]
        with self._writer.transaction() as connection:
            now = self._now()
            pairs = zip(incoming, indexed, strict=True)
            return [arriving.take_in(connection, note, words_, now=now) for note, words_ in pairs]

    def export_rows(self) -> Iterator[dict[str, object]]:
        """Yield every note that has not expired as one JSON object, in the order they were first stored. Several
        transactions, each short: what others write meanwhile may be among them or not."""
        after = 0
        while True:
            with self._reader.transaction() as connection:
                page = counting.page(connection, after=after, now=self._now(), limit=ROWS_AT_ONCE)
            yield from (exchange.to_row(note) for _, note in page)
            if len(page) < ROWS_AT_ONCE:
                return
            after = page[-1][0]

    def import_rows(self, given: Iterable[Mapping[str, object]]) -> exchange.ImportedRows:
        """Take in what export_rows gave, from this store or another; a second time brings nothing. Rows that are no
        notes are named and left out, the others come in all the same."""
        return exchange.import_rows(given, self.take_in)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
        self._reader.close()

    def _erase(self, seconds: float) -> None:
        """Have nothing left of what was deleted. What is not done within `seconds` is done by later writes."""
        end = self._clock.monotonic() + seconds
        with suppress(NoteError):  # it is deleted, whatever comes of this
            more = True
            while more and self._clock.monotonic() < end:
                with self._writer.transaction() as connection:
                    more = erasing.merge(connection)
            self._writer.outside(erasing.fold_log)

    def _now(self) -> int:
        return round(self._clock.wall() * 1000)


def _unless_expired(row: rows.Row | None, now: int) -> rows.Row | None:
    return None if row is None or (row.note.expires_at is not None and row.note.expires_at <= now) else row


def _renewed(note: Note, value: str, now: int, expires_at: int | None) -> Note:
    """Return `note` with another value. It keeps its age, and a clock that was set back does not make it older."""
    return Note(
        note.namespace,
        note.key,
        value,
        note.created_at,
        max(now, note.updated_at),
        note.accessed_at,
        expires_at,
        note.access_count,
    )
