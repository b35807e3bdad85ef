"""The part of an evidence store that holds packets, and what was sent of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from memsyncd.evidence import packet_rows, posts, reading
from memsyncd.evidence.event import Event, Packet, PacketStatus, Post, Scope
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.schema import POSTS_SQL, Shape
from memsyncd.evidence.stored import Answer, Stored
from memsyncd.hooks.record import UNKNOWN_SESSION

Choose = Callable[[Iterable[Event]], Sequence[Event]]
"""Picks the next packet from a session's unflushed events, read lazily: from the first to the last that it returns,
whether or not it names those between. None for no packet."""


class StoredPackets(Stored):
    """Packets and their posts, in the form existing plugins use."""

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
            return packet_rows.reserve(connection, shape, scope, chosen[0], chosen[-1], reason=reason, now=now)

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

    def shared_packets(self, limit: int, *, after: int = 0) -> Sequence[Packet]:
        """Return up to `limit` packets that a shared queue has taken and whose end is not known yet, oldest first, of
        those that begin after the event `after`."""
        with self._database.reading() as connection:
            return packet_rows.shared_packets(connection, self._database.shape, limit, after)

    def given_up_packets(self, limit: int) -> Sequence[Packet]:
        """Return the newest packets that were given up, `limit` at most, oldest of them first."""
        with self._database.reading() as connection:
            return packet_rows.given_up_packets(connection, self._database.shape, limit)

    def packet_to_send(self, packet_id: str) -> tuple[Packet, Scope] | None:
        """Return a packet and the scope its request is made from: the session's, with branch and commit as they were
        when the packet was reserved, so that the request is the same after a restart (DESIGN, promise 3)."""
        with self._database.reading() as connection:
            packet = packet_rows.packet(connection, self._database.shape, packet_id)
            return None if packet is None else (packet, self._packet_scope(connection, packet))

    def packet_events(self, packet_id: str) -> Sequence[Event]:
        """Return a packet's events in the order of recording."""
        return tuple(self.iterate_packet_events(packet_id))

    def iterate_packet_events(self, packet_id: str) -> Iterator[Event]:
        """Yield the same a page at a time, without holding the store in between."""

        def page_after(place: int) -> reading.Page:
            with self._database.reading() as connection:
                return reading.packet_events(connection, self._database.shape, packet_id, self._unreadable, place)

        return reading.every(page_after)

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

    def _change(
        self, packet_id: str, act: Callable[[sqlite3.Connection, Shape, Packet], Answer], *, durable: bool = True
    ) -> Answer | None:
        with self._database.writing(durable=durable) as connection:
            if not self._database.shape.has("memsyncd_posts"):
                connection.execute(POSTS_SQL)  # added to a plugin's file with the first write
            packet = packet_rows.packet(connection, self._database.shape, packet_id)
            return None if packet is None else act(connection, self._database.shape, packet)

    def _update(self, connection: sqlite3.Connection, shape: Shape, packet: Packet, **values: object) -> None:
        packet_rows.update(connection, shape, packet.packet_id, self._database.clock.wall(), **values)
