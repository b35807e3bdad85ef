"""The part of an evidence store that holds what happened."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from memsyncd.evidence import errors, opening, reading, recording, transcript_offsets
from memsyncd.evidence.event import Appended, Event, NewEvent, Scope, SessionActivity
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.stored import Stored
from memsyncd.evidence.transcript_offsets import LastPrompt, TranscriptOffset

STATUS_BUSY_MS = 200
"""How long a status waits for a lock: it rather goes without a number than late."""


class StoredEvents(Stored):
    """Events, in the order of recording, and how far each session's transcript was read."""

    def append(self, events: Sequence[NewEvent], transcripts: Sequence[TranscriptOffset] = ()) -> Appended:
        """Store a batch in one transaction; what is known already is left out and counted (facts 3.9, 3.10, 5.30).

        `transcripts` tells how far those were read that some of the events come from.
        All events of one handoff must come in one call. A store of a plugin takes no events: ReadOnlyStore.
        """
        if not self.own:
            raise errors.ReadOnlyStore("events of a plugin's spool are written by the plugin alone")
        try:
            return self._append(events, transcripts)
        except errors.CorruptStore:
            return self._append(events, transcripts)  # a new file was begun: capture goes on (facts 16.5)

    def _append(self, events: Sequence[NewEvent], transcripts: Sequence[TranscriptOffset]) -> Appended:
        with self._database.writing() as connection:
            transcript_offsets.write(connection, transcripts, self._database.clock.wall())
            return recording.append(connection, events)

    def scope(self, session_id: str) -> Scope | None:
        """Return where the session belongs, or None for a session without evidence."""
        with self._database.reading() as connection:
            return self._scope(connection, clean(session_id))

    def unflushed(self, session_id: str) -> Sequence[Event]:
        """Return the session's events of its pinned repository that are in no packet, in the order of recording."""
        return tuple(self.iterate_unflushed(session_id))

    def iterate_unflushed(self, session_id: str) -> Iterator[Event]:
        """Yield the same a page at a time, without holding the store in between."""
        session_id = clean(session_id)
        scope = self.scope(session_id)
        if scope is None:
            return
        session = (session_id, scope.repo_id)

        def page_after(place: int) -> reading.Page:
            with self._database.reading() as connection:
                return reading.unflushed(connection, self._database.shape, session, self._unreadable, place)

        yield from reading.every(page_after)

    def sessions_with_unflushed(self) -> Sequence[SessionActivity]:
        """Return the sessions that have evidence in no packet, the longest waiting first; not the placeholder's."""
        return self._remembered("sessions", reading.sessions_with_unflushed)

    def unsent(self) -> tuple[int, int]:
        """Return how many events are in no packet, and of how many sessions, for status.

        Asks beside the store's own connection, so that one that waits for another program's lock holds nobody up.
        Raises sqlite3.Error.
        """
        with contextlib.closing(opening.connect(self.path, own=False)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {STATUS_BUSY_MS}")
            events, sessions = connection.execute(
                "SELECT count(*), count(DISTINCT session_id) FROM events WHERE flush_id IS NULL"
            ).fetchone()
        return int(events), int(sessions)

    def last_event(self, session_id: str) -> Event | None:
        """Return the session's newest event."""
        with self._database.reading() as connection:
            return reading.last_event(connection, self._database.shape, clean(session_id), self._unreadable)

    def transcript(self, session_id: str) -> TranscriptOffset | None:
        """Return how far a session's transcript was read; None where it was not."""
        with self._database.reading() as connection:
            return transcript_offsets.read(connection, session_id)

    def last_prompt(self, session_id: str) -> LastPrompt:
        """Return when a session's last prompt was captured, and whether it has its answer."""
        with self._database.reading() as connection:
            return transcript_offsets.last_prompt(connection, session_id)

    def pass_over_transcripts(self, before: float) -> None:
        """Take nothing from any session's transcript that was said `before`, as while capture was paused."""
        with self._database.writing(durable=False) as connection:
            transcript_offsets.pass_over(connection, before)
