"""The rows of packets: reserving events for one, reading them, and how far each has come."""

# ruff: noqa: S608  (names of tables and columns come from `schema` alone; every value is bound)

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence

from memsyncd.evidence.event import Event, Packet, PacketStatus, Scope
from memsyncd.evidence.moments import moment_text, stored_moment
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.schema import OPEN_SQL, POSTS_SQL, UNCONFIRMED_SQL, Shape

PERIODIC = "periodic"

ERROR_CHARACTERS = 1000
"""Facts 2.34."""

PACKET_ROW = -1
"""The batch number under which `memsyncd_posts` keeps what belongs to the packet itself."""

_COLUMNS = (
    "packet_id",
    "repo_id",
    "app_id",
    "session_id",
    "reason",
    "event_start",
    "event_end",
    "status",
    "semantic_event_id",
    "error",
    "created_at",
    "updated_at",
)


def packet_id(repo_id: str, session_id: str, first_event: int, last_event: int) -> str:
    """Return the id that follows from the events (facts 2.5)."""
    name = "\0".join((repo_id, session_id, str(first_event), str(last_event)))
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def packet(connection: sqlite3.Connection, shape: Shape, wanted: str) -> Packet | None:
    """Return one packet."""
    found = _packets(connection, shape, "packet_id = ?", (wanted,))
    return found[0] if found else None


def open_packet(connection: sqlite3.Connection, shape: Shape, session_id: str, repo_id: str) -> Packet | None:
    """Return the session's oldest packet whose delivery is not over (facts 2.4, 2.8)."""
    found = _packets(connection, shape, f"session_id = ? AND repo_id = ? AND {OPEN_SQL}", (session_id, repo_id))
    return found[0] if found else None


def open_packets(connection: sqlite3.Connection, shape: Shape) -> Sequence[Packet]:
    """Return every packet whose delivery is not over, oldest first."""
    return _packets(connection, shape, OPEN_SQL, ())


def shared_packets(connection: sqlite3.Connection, shape: Shape, limit: int, after: int) -> Sequence[Packet]:
    """Return packets that a shared queue has taken and whose end is not known yet, oldest first, of those that begin
    after an event."""
    condition = f"{UNCONFIRMED_SQL} AND status = 'shared' AND event_start > ?"
    return _packets(connection, shape, condition, (after,), limit)


def given_up_packets(connection: sqlite3.Connection, shape: Shape, limit: int) -> Sequence[Packet]:
    """Return the newest packets that were given up, oldest of them first."""
    newest = "SELECT packet_id FROM flushes WHERE status = 'gave-up' ORDER BY event_start DESC LIMIT ?"
    return _packets(connection, shape, f"packet_id IN ({newest})", (limit,))


def packets_of(connection: sqlite3.Connection, shape: Shape, session_ids: Sequence[str]) -> Sequence[Packet]:
    """Return every packet of some sessions, oldest first."""
    return _packets(connection, shape, f"session_id IN ({', '.join('?' * len(session_ids))})", session_ids)


def promote(connection: sqlite3.Connection, shape: Shape, packet: Packet, reason: str, now: float) -> bool:
    """Give an open periodic packet the reason of a request that is none (facts 2.12); tell whether it did."""
    if packet.reason != PERIODIC or reason == PERIODIC:
        return False
    update(connection, shape, packet.packet_id, now, reason=reason)
    return True


def reserve(
    connection: sqlite3.Connection,
    shape: Shape,
    scope: Scope,
    first: Event,
    last: Event,
    *,
    reason: str,
    now: float,
) -> Packet:
    """Put the session's events in no packet from `first` to `last` into a new one, and nothing else (facts 2.7)."""
    session_id = first.session_id
    name = packet_id(scope.repo_id, session_id, first.id, last.id)
    moment = stored_moment(now, numeric=shape.numeric_times)
    row: Mapping[str, object] = {
        "packet_id": name,
        "repo_id": scope.repo_id,
        "app_id": first.app_id or scope.app_id,
        "session_id": session_id,
        "reason": reason,
        "event_start": first.id,
        "event_end": last.id,
        "status": PacketStatus.PREPARED.value,
        "episode_event_id": "",
        "semantic_event_id": "",
        "error": "",
        "attempts": 0,
        "created_at": moment,
        "updated_at": moment,
    }
    known = shape.known("flushes", row)
    # a row of this id can only be left where its events were set free by hand: they are to be sent again
    connection.execute("DELETE FROM flushes WHERE packet_id = ?", (name,))
    connection.execute(
        f"INSERT INTO flushes({', '.join(known)}) VALUES ({', '.join('?' * len(known))})", tuple(known.values())
    )
    place = f"(SELECT {shape.order} FROM events WHERE id = ?)"
    connection.execute(
        f"""UPDATE events SET flush_id = ? WHERE session_id = ? AND repo_id = ? AND flush_id IS NULL
        AND {shape.order} BETWEEN {place} AND {place}""",
        (name, session_id, scope.repo_id, first.id, last.id),
    )
    if not shape.has("memsyncd_posts"):
        connection.execute(POSTS_SQL)
    pin(connection, name, scope)
    return _packet((0, *(row.get(column, "") for column in _COLUMNS)))


def pin(connection: sqlite3.Connection, packet_id: str, scope: Scope) -> None:
    """Keep the branch and commit of a packet's request, so that it is the same after a restart; the first wins."""
    connection.execute(
        """INSERT INTO memsyncd_posts(packet_id, batch, branch, head_sha) VALUES (?, ?, ?, ?)
        ON CONFLICT DO NOTHING""",
        (packet_id, PACKET_ROW, scope.branch, scope.head_sha),
    )


def pinned(connection: sqlite3.Connection, shape: Shape, packet_id: str) -> tuple[str, str] | None:
    """Return the branch and commit kept by `pin`."""
    if not shape.has("memsyncd_posts"):
        return None
    row = connection.execute(
        "SELECT branch, head_sha FROM memsyncd_posts WHERE packet_id = ? AND batch = ?", (packet_id, PACKET_ROW)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def update(connection: sqlite3.Connection, shape: Shape, packet_id: str, now: float, **values: object) -> bool:
    """Change columns of a packet's row; tell whether there is one. An error text is cut and cleaned."""
    if isinstance(error := values.get("error"), str):
        values["error"] = clean(error)[:ERROR_CHARACTERS]
    values["updated_at"] = stored_moment(now, numeric=shape.numeric_times)
    known = shape.known("flushes", values)
    columns = ", ".join(f"{column} = ?" for column in known)
    done = connection.execute(f"UPDATE flushes SET {columns} WHERE packet_id = ?", (*known.values(), packet_id))
    return done.rowcount > 0


def count_attempt(connection: sqlite3.Connection, shape: Shape, packet: Packet) -> int:
    """Raise a packet's attempts by one and return them; kept in our own table where the file has no column for it."""
    attempts = packet.attempts + 1
    set_attempts(connection, shape, packet.packet_id, attempts)
    return attempts


def set_attempts(connection: sqlite3.Connection, shape: Shape, packet_id: str, attempts: int) -> None:
    """Set a packet's attempts, wherever this file keeps them."""
    if shape.has("flushes", "attempts"):
        connection.execute("UPDATE flushes SET attempts = ? WHERE packet_id = ?", (attempts, packet_id))
        return
    connection.execute(POSTS_SQL)
    connection.execute(
        """INSERT INTO memsyncd_posts(packet_id, batch, attempts) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET attempts = excluded.attempts""",
        (packet_id, PACKET_ROW, attempts),
    )


def slots(stored: object) -> tuple[tuple[str, ...], bool]:
    """Return the extraction event ids in a stored `semantic_event_id`, and whether it was a bare one (facts 2.24)."""
    if not isinstance(stored, str) or not stored.strip():
        return (), False
    try:
        value = json.loads(stored)
    except ValueError:
        value = None
    if not isinstance(value, list):
        return (stored,), True
    return tuple(item if isinstance(item, str) else "" for item in value), False


def _packets(
    connection: sqlite3.Connection, shape: Shape, condition: str, values: Sequence[object], limit: int = -1
) -> Sequence[Packet]:
    rows = connection.execute(
        f"""SELECT {_attempts(shape)}, {shape.select("flushes", _COLUMNS)} FROM flushes WHERE {condition}
        ORDER BY event_start LIMIT ?""",
        (*values, limit),
    ).fetchall()
    return [_packet(row) for row in rows]


def _attempts(shape: Shape) -> str:
    if shape.has("flushes", "attempts"):
        return "attempts"
    if not shape.has("memsyncd_posts"):
        return "0"
    return f"""(SELECT p.attempts FROM memsyncd_posts AS p
        WHERE p.packet_id = flushes.packet_id AND p.batch = {PACKET_ROW})"""


def _packet(row: Sequence[object]) -> Packet:
    attempts, name, repo_id, app_id, session_id, reason, start, end, status, stored, error, created, updated = row
    ids, bare = slots(stored)
    return Packet(
        packet_id=_text(name),
        repo_id=_text(repo_id),
        app_id=_text(app_id),
        session_id=_text(session_id),
        reason=_text(reason),
        event_start=_whole(start),
        event_end=_whole(end),
        status=_text(status),
        slots=ids,
        attempts=_whole(attempts),
        error=_text(error),
        created_at=moment_text(created),
        updated_at=moment_text(updated),
        bare_slot=bare,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
