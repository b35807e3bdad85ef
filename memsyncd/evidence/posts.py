"""Posts: each request written down before it leaves, and its slot in the packet filled when it was answered."""

import json
import sqlite3
from collections.abc import Sequence

from memsyncd.evidence import packet_rows
from memsyncd.evidence.event import Packet, PacketStatus, Post
from memsyncd.evidence.schema import Shape


def posts(connection: sqlite3.Connection, shape: Shape, packet_id: str) -> Sequence[Post]:
    """Return a packet's posts in the order of its batches."""
    if not shape.has("memsyncd_posts"):
        return ()
    rows = connection.execute(
        """SELECT packet_id, batch, started_at, event_id, waiting_since FROM memsyncd_posts
        WHERE packet_id = ? AND batch >= 0 ORDER BY batch""",
        (packet_id,),
    ).fetchall()
    return [Post(*row) for row in rows]


def begin(connection: sqlite3.Connection, packet_id: str, batch: int, at: float) -> None:
    """Write down that the batch's request is about to leave."""
    connection.execute(
        """INSERT INTO memsyncd_posts(packet_id, batch, started_at, event_id, waiting_since) VALUES (?, ?, ?, '', 0)
        ON CONFLICT DO UPDATE SET started_at = excluded.started_at, event_id = excluded.event_id,
            waiting_since = excluded.waiting_since""",
        (packet_id, batch, at),
    )


def accept(connection: sqlite3.Connection, shape: Shape, packet: Packet, post: Post, *, batches: int) -> None:
    """Fill the slot of the batch that `post` tells of (facts 2.19) and begin its wait."""
    slots = [*packet.slots, *[""] * (batches - len(packet.slots))]
    slots[post.batch] = post.event_id
    packet_rows.update(
        connection,
        shape,
        packet.packet_id,
        post.waiting_since,
        semantic_event_id=json.dumps(slots),
        status=PacketStatus.QUEUED.value,
    )
    _wait(connection, post)


def refuse(connection: sqlite3.Connection, packet_id: str, batch: int) -> None:
    """Forget that the batch's request left: it was certainly not taken."""
    connection.execute("DELETE FROM memsyncd_posts WHERE packet_id = ? AND batch = ?", (packet_id, batch))


def forget_slot(
    connection: sqlite3.Connection,
    shape: Shape,
    packet: Packet,
    batch: int,
    now: float,
    *,
    may_have_arrived: bool = False,
) -> None:
    """Empty the batch's slot, so that it alone is posted again (facts 2.21); a bare slot was the whole packet's.

    With `may_have_arrived` the post stays, without its event: it is looked for before it is sent again.
    """
    if packet.bare_slot:
        packet_rows.update(connection, shape, packet.packet_id, now, semantic_event_id="")
    elif batch < len(packet.slots) and packet.slots[batch]:
        left = [slot if number != batch else "" for number, slot in enumerate(packet.slots)]
        packet_rows.update(connection, shape, packet.packet_id, now, semantic_event_id=json.dumps(left))
    if may_have_arrived and not packet.bare_slot:
        connection.execute(
            "UPDATE memsyncd_posts SET event_id = '', waiting_since = 0 WHERE packet_id = ? AND batch = ?",
            (packet.packet_id, batch),
        )
    else:
        refuse(connection, packet.packet_id, batch)


def restart_wait(connection: sqlite3.Connection, packet: Packet, at: float) -> None:
    """Begin the wait of every filled slot anew, also of those a plugin filled, which had no post until now."""
    for batch, slot in enumerate(packet.slots):
        if slot:
            _wait(connection, Post(packet.packet_id, batch, at, slot, waiting_since=at))


def drop(connection: sqlite3.Connection, packet_id: str) -> None:
    """Forget all posts of a packet that was delivered."""
    connection.execute("DELETE FROM memsyncd_posts WHERE packet_id = ?", (packet_id,))


def _wait(connection: sqlite3.Connection, post: Post) -> None:
    """Keep a post's event and the begin of its wait; when it was sent stays as it was written down before."""
    connection.execute(
        """INSERT INTO memsyncd_posts(packet_id, batch, started_at, event_id, waiting_since) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET event_id = excluded.event_id, waiting_since = excluded.waiting_since""",
        (post.packet_id, post.batch, post.started_at, post.event_id, post.waiting_since),
    )
