"""The evidence store of a spool: what happened, which of it is in a packet, and how far each packet has come.

Every method is one short transaction and is safe from any thread. All raise EvidenceError, and those that write raise
ReadOnlyStore where `read_only` is set. Packet state is written in the form existing plugins use, so one of theirs and
we may serve the same file at the same time. Times given are Unix seconds.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from memsyncd.clock import Clock, rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence import (
    deleting,
    errors,
    opening,
    operations,
    packet_rows,
    posts,
    reading,
    recording,
    retiring,
    retrievals,
    transcript_offsets,
)
from memsyncd.evidence.database import Database
from memsyncd.evidence.deleting import Belongings, Whose
from memsyncd.evidence.event import (
    Appended,
    Event,
    NewEvent,
    Packet,
    PacketStatus,
    Post,
    Scope,
    SessionActivity,
)
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.retrievals import Recalled, Shown
from memsyncd.evidence.schema import POSTS_SQL, Shape
from memsyncd.evidence.transcript_offsets import LastPrompt, TranscriptOffset
from memsyncd.hooks.record import UNKNOWN_SESSION

Choose = Callable[[Iterable[Event]], Sequence[Event]]
"""Picks the events of the next packet from a session's unflushed ones, read lazily; none for no packet."""

STATUS_BUSY_MS = 200
"""How long a status waits for a lock: it rather goes without a number than late."""

_Answer = TypeVar("_Answer")


def _app_only(app_id: str, repo_id: str) -> str:  # noqa: ARG001  (the signature is that of a ProjectOf)
    return app_id


class EvidenceStore:
    """One spool's evidence. Use `open`."""

    def __init__(self, database: Database, *, project_id_of: reading.ProjectOf) -> None:
        self._database = database
        self._project_of = project_id_of
        self._known: dict[str, tuple[tuple[int, int, int], Any]] = {}

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        own: bool,
        clock: Clock,
        project_id_of: reading.ProjectOf = _app_only,
        counters: Counters | None = None,
    ) -> EvidenceStore:
        """Open the store at `path`: ours (`own`) is created where there is none, a plugin's never is.

        `project_id_of` gives the project id of an app id and a repository id, where the file does not hold it.
        Raises NewerSchema for a file from a newer version, FileNotFoundError for a plugin's that is not there, and
        the other EvidenceErrors. One of ours that is damaged is set aside and a new one begun; `problem` tells.
        """
        database = Database(path, own=own, clock=clock, counters=counters or Counters())
        return cls(database, project_id_of=project_id_of)

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    @property
    def own(self) -> bool:
        """Whether it is ours, not a plugin's."""
        return self._database.own

    @property
    def read_only(self) -> bool:
        """Whether it is read and not written to."""
        return self._database.read_only

    @property
    def problem(self) -> str:
        """What is wrong with the file, for people; empty if nothing is."""
        return self._database.problem

    # Events

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
        after = -1
        scope = self.scope(session_id)
        while scope is not None:
            with self._database.reading() as connection:
                session = (session_id, scope.repo_id)
                page = reading.unflushed(connection, self._database.shape, session, self._unreadable, after)
            if not page:
                return
            yield from (event for _, event in page)
            after = page[-1][0]

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

    # Packets

    def prepare(self, session_id: str, reason: str, choose: Choose) -> Packet | None:
        """Reserve the session's next packet, or return the one that is open, with its reason promoted.

        `choose` runs inside the write lock: it must be quick and touch nothing. None if it chooses nothing, and
        always for the placeholder session (facts 2.5 to 2.8, 2.12, 2.14). One that a power cut takes back is reserved
        again with the same id: nothing was sent yet, for `begin_post` waits for the disk.
        """
        session_id = clean(session_id)
        if session_id in ("", UNKNOWN_SESSION):
            return None
        with self._database.writing(durable=False) as connection:
            shape, now = self._database.shape, self._database.clock.wall()
            scope = self._scope(connection, session_id)
            if scope is None:
                return None
            packet = packet_rows.open_packet(connection, shape, session_id, scope.repo_id)
            if packet is not None:
                promoted = packet_rows.promote(connection, shape, packet, reason, now)
                return replace(packet, reason=reason) if promoted else packet
            waiting = reading.every_unflushed(connection, shape, (session_id, scope.repo_id), self._unreadable)
            chosen = choose(waiting)
            if not chosen:
                return None
            return packet_rows.reserve(connection, shape, scope, chosen, reason=reason, now=now)

    def open_packet(self, session_id: str) -> Packet | None:
        """Return the session's oldest packet whose delivery is not over."""
        session = self.session(session_id)
        return None if session is None else session[1]

    def session(self, session_id: str) -> tuple[Scope, Packet | None] | None:
        """Return where the session belongs and its oldest packet whose delivery is not over; None without evidence."""
        session_id = clean(session_id)
        with self._database.reading() as connection:
            scope = self._scope(connection, session_id)
            if scope is None:
                return None
            return scope, packet_rows.open_packet(connection, self._database.shape, session_id, scope.repo_id)

    def is_all_sent(self, packet: Packet) -> bool:
        """Tell whether nothing of the packet's session waits: no event in no packet, no packet that is open."""
        with self._database.reading() as connection:
            return reading.is_all_sent(connection, packet.session_id)

    def packet(self, packet_id: str) -> Packet | None:
        """Return one packet."""
        with self._database.reading() as connection:
            return packet_rows.packet(connection, self._database.shape, packet_id)

    def open_packets(self) -> Sequence[Packet]:
        """Return every packet whose delivery is not over."""
        with self._database.reading() as connection:
            return packet_rows.open_packets(connection, self._database.shape)

    def packet_to_send(self, packet_id: str) -> tuple[Packet, Scope] | None:
        """Return a packet and the scope its request is made from: the session's, with branch and commit as they were
        when the packet was reserved, so that the request is the same after a restart (DESIGN, promise 3)."""
        with self._database.reading() as connection:
            packet = packet_rows.packet(connection, self._database.shape, packet_id)
            return None if packet is None else (packet, self._packet_scope(connection, packet))

    def packet_events(self, packet_id: str) -> Sequence[Event]:
        """Return a packet's events in the order of recording."""
        with self._database.reading() as connection:
            return reading.packet_events(connection, self._database.shape, packet_id, self._unreadable)

    def close_packet(self, packet_id: str, status: str, *, error: str = "") -> None:
        """Set a packet's last status. Its posts are forgotten once it was delivered; a packet given up keeps them.

        A delivery that a power cut takes back is confirmed again by asking.
        """

        def act(connection: sqlite3.Connection, shape: Shape, packet: Packet) -> None:
            self._update(connection, shape, packet, status=str(status), error=error)
            if status in (PacketStatus.SUCCEEDED, PacketStatus.EXPLICITLY_STORED):
                posts.drop(connection, packet_id)

        self._change(packet_id, act, durable=status != PacketStatus.SUCCEEDED)

    def fail_packet(self, packet_id: str, status: str, error: str) -> int:
        """Count a failed attempt and keep why; return the attempts so far (facts 2.9), 0 for an unknown packet."""

        def act(connection: sqlite3.Connection, shape: Shape, packet: Packet) -> int:
            self._update(connection, shape, packet, status=str(status), error=error)
            return packet_rows.count_attempt(connection, shape, packet)

        return self._change(packet_id, act) or 0

    def reopen_packet(self, packet_id: str) -> None:
        """Make a packet open again with all its attempts, on a person's word. Slots and posts stay."""

        def act(connection: sqlite3.Connection, shape: Shape, packet: Packet) -> None:
            self._update(connection, shape, packet, status=PacketStatus.ERROR.value)
            packet_rows.set_attempts(connection, shape, packet_id, 0)

        self._change(packet_id, act)

    # Posts

    def posts(self, packet_id: str) -> Sequence[Post]:
        """Return what was sent of a packet. Slots a plugin filled have no post before `restart_wait`."""
        with self._database.reading() as connection:
            return posts.posts(connection, self._database.shape, packet_id)

    def begin_post(self, packet_id: str, batch: int, at: float) -> None:
        """Write down that a batch's request is about to leave. `batch` counts from 0."""

        def act(connection: sqlite3.Connection, shape: Shape, packet: Packet) -> None:
            if packet_rows.pinned(connection, shape, packet_id) is None:  # reserved by a plugin
                packet_rows.pin(connection, packet_id, self._packet_scope(connection, packet))
            posts.begin(connection, packet_id, batch, at)

        self._change(packet_id, act)

    def accept_post(self, packet_id: str, batch: int, event_id: str, batches: int, at: float) -> None:
        """Fill the batch's slot among `batches`, set the packet `semantic-queued` and begin the wait, all in one.

        What a power cut takes back of it is looked for on the platform, as an answer that never came.
        """
        post = Post(packet_id, batch, at, event_id, waiting_since=at)
        self._change(
            packet_id, lambda c, shape, packet: posts.accept(c, shape, packet, post, batches=batches), durable=False
        )

    def refuse_post(self, packet_id: str, batch: int) -> None:
        """Forget that a batch's request left: it was certainly not taken."""
        self._change(packet_id, lambda connection, _, __: posts.refuse(connection, packet_id, batch))

    def forget_slot(self, packet_id: str, batch: int, *, may_have_arrived: bool = False) -> None:
        """Empty a batch's slot, so that it alone is posted again (facts 2.21); a bare slot means all are (2.24).

        With `may_have_arrived` its post stays as one that was never answered, to be looked for first.
        """
        now = self._database.clock.wall()
        self._change(
            packet_id,
            lambda c, shape, packet: posts.forget_slot(c, shape, packet, batch, now, may_have_arrived=may_have_arrived),
        )

    def restart_wait(self, packet_id: str, at: float) -> None:
        """Begin the wait for the extraction of every filled slot anew."""
        self._change(packet_id, lambda connection, _, packet: posts.restart_wait(connection, packet, at))

    # Recall

    def recalled(self, session_id: str) -> Recalled:
        """Return what the session was shown, and whether its first prompt was searched for. Of a store of ours."""
        with self._database.reading() as connection:
            return retrievals.recalled(connection, self._database.shape, clean(session_id))

    def record_recall(self, operation: Operation, shown: Sequence[Shown] = ()) -> None:
        """Keep that a first prompt was searched for, and what its session is about to be shown, in one transaction."""
        with self._database.writing(durable=False) as connection:
            retrievals.record(connection, self._database.shape, operation, shown, self._database.clock.wall())

    def tell_subagent(self, session: tuple[str, str], agent: tuple[str, str], *, characters: int) -> bool:
        """Note that a subagent (id, type) of a session (id, repository) is given a context; False where it had one."""
        names = (clean(session[0]), clean(session[1])), (clean(agent[0]), clean(agent[1]))
        with self._database.writing(durable=False) as connection:
            now = rfc3339(self._database.clock.wall())
            return retrievals.tell_subagent(connection, *names, characters=characters, now=now)

    # Forgetting

    def belongings(self, whose: Whose) -> Belongings:
        """Return what the file holds of a session or a repository."""
        with self._database.reading() as connection:
            return deleting.belongings(connection, self._database.shape, whose)

    def forget(self, whose: Whose) -> dict[str, int]:
        """Delete what the file holds of it; return how many rows of each table went. The bytes go from the pages, and
        with `give_back_space` the pages from the file."""
        with self._database.reading() as connection:
            connection.execute("PRAGMA secure_delete = ON").fetchone()
        with self._database.writing() as connection:
            return deleting.delete(connection, self._database.shape, whose, own=self.own)

    def count_shown(self, memory_ids: Sequence[str], but: Whose) -> int:
        """Return how often these memories were shown to other sessions than `but`'s."""
        with self._database.reading() as connection:
            return deleting.count_shown(connection, self._database.shape, memory_ids, but)

    def forget_shown(self, memory_ids: Sequence[str]) -> int:
        """Delete the words these memories were shown in, whatever session it was; return how many went."""
        with self._database.reading() as connection:
            connection.execute("PRAGMA secure_delete = ON").fetchone()
        with self._database.writing() as connection:
            return deleting.delete_shown(connection, self._database.shape, memory_ids)

    def give_back_space(self) -> None:
        """Write the file anew without what was deleted: some seconds for a large one. Raises EvidenceError where
        another program is at it."""
        with self._database.reading() as connection:
            if not self.read_only:
                deleting.give_back_space(connection)

    # Growing old

    def delivered(self, before: str, limit: int) -> Sequence[str]:
        """Return the ids of up to `limit` packets confirmed before that time (RFC 3339). Of a store of ours."""
        with self._database.reading() as connection:
            return retiring.due(connection, before, limit)

    def retire(self, packet_id: str, before: str) -> int:
        """Delete such a packet and its events, for good and all at once; return how many events went."""
        with self._database.writing(durable=False) as connection:
            return retiring.retire(connection, packet_id, before)

    def retire_logs(self, before: str) -> int:
        """Delete some hundred lines of recalls and operations from before that time; return how many went."""
        with self._database.writing(durable=False) as connection:
            return retiring.retire_logs(connection, before)

    def shrink(self, pages: int) -> bool:
        """Give up to `pages` free pages back to the file system; True while there are more."""
        with self._database.reading() as connection:
            return not self.read_only and retiring.shrink(connection, pages)

    # The store itself

    def record_operation(self, operation: Operation) -> bool:
        """Add a line to the operation log; False where the file has none."""
        with self._database.writing() as connection:
            return operations.record(connection, self._database.shape, operation, self._database.clock.wall())

    def counts(self) -> dict[str, int]:
        """Return the rows by name: `events`, `unflushed`, `packets`, `packets_open`, `packets_gave_up`."""
        return dict(self._remembered("counts", reading.counts))

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it back; waits for nobody."""
        self._database.checkpoint()

    def integrity(self) -> str | None:
        """Return what is wrong with the file's structure, or None. Reads all of it: seconds for a large one."""
        return self._database.integrity()

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _change(
        self, packet_id: str, act: Callable[[sqlite3.Connection, Shape, Packet], _Answer], *, durable: bool = True
    ) -> _Answer | None:
        with self._database.writing(durable=durable) as connection:
            if not self._database.shape.has("memsyncd_posts"):
                connection.execute(POSTS_SQL)  # added to a plugin's file with the first write
            packet = packet_rows.packet(connection, self._database.shape, packet_id)
            return None if packet is None else act(connection, self._database.shape, packet)

    def _update(self, connection: sqlite3.Connection, shape: Shape, packet: Packet, **values: object) -> None:
        packet_rows.update(connection, shape, packet.packet_id, self._database.clock.wall(), **values)

    def _scope(self, connection: sqlite3.Connection, session_id: str) -> Scope | None:
        return reading.scope(connection, self._database.shape, session_id, self._project_of)

    def _packet_scope(self, connection: sqlite3.Connection, packet: Packet) -> Scope:
        scope = self._scope(connection, packet.session_id)
        if scope is None:
            scope = Scope(packet.repo_id, packet.app_id, self._project_of(packet.app_id, packet.repo_id))
        pinned = packet_rows.pinned(connection, self._database.shape, packet.packet_id)
        return scope if pinned is None else replace(scope, branch=pinned[0], head_sha=pinned[1])

    def _remembered(self, name: str, read: Callable[[sqlite3.Connection, Shape], _Answer]) -> _Answer:
        """Read anew only if the file has changed: these reads walk whole tables in a plugin's file."""
        with self._database.reading() as connection:
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            state = (id(connection), version, connection.total_changes)
            known = self._known.get(name)
            if known is None or known[0] != state:
                known = self._known[name] = (state, read(connection, self._database.shape))
            answer: _Answer = known[1]
            return answer

    def _unreadable(self) -> None:
        self._database.counters.add("evidence_payloads_unreadable")
