"""The sessions of an evidence file as people look at them: how much was recorded, what is unsent, and each packet.

Nothing of what was said is read. Works on a file of ours or a plugin's, over a connection of its own.
"""

# ruff: noqa: S608  (names of tables and columns come from `schema` alone; every value is bound)

import contextlib
import os
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsyncd.evidence import opening, packet_rows, schema
from memsyncd.evidence.event import NO_BRANCH, Packet
from memsyncd.evidence.moments import moment_text
from memsyncd.evidence.schema import Shape
from memsyncd.hooks.record import UNKNOWN_SESSION

BUSY_MS = 200
"""How long a look waits for a lock: it rather goes without than late."""

SHOWN_PACKETS = 20
"""The newest of a session; `packets_in_all` tells how many there are."""

_SCOPE_COLUMNS = ("session_id", "app_id", "directory", "root", "branch", "head_sha", "harness")


@dataclass(frozen=True, slots=True)
class ShownPacket:
    """A packet and how many events it has."""

    packet: Packet
    events: int


@dataclass(frozen=True, slots=True)
class Session:
    """`branch` is empty outside a repository, `unsent` events are in no packet yet, `packets` are the newest, newest
    first. Times are RFC 3339, or empty."""

    id: str
    project: str
    directory: str
    branch: str
    harness: str
    events: int
    unsent: int
    first_at: str
    last_at: str
    packets: Sequence[ShownPacket]
    packets_in_all: int


def live(path: Path, limit: int) -> Sequence[Session]:
    """Return the sessions of a file that is served. Raises sqlite3.Error, also where it is locked for long."""
    with contextlib.closing(opening.connect(path, own=False)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("BEGIN")
        return read(connection, limit)


def read(connection: sqlite3.Connection, limit: int) -> Sequence[Session]:
    """Return the `limit` sessions with the newest events, newest first; none of a file of an unknown form."""
    shape = schema.inspect(connection)
    if shape.problem:
        return ()
    rows = connection.execute(
        f"""SELECT session_id, COUNT(*), MIN({shape.order}), MAX({shape.order}) FROM events
        WHERE session_id NOT IN (?, '') GROUP BY session_id ORDER BY 4 DESC LIMIT ?""",
        (UNKNOWN_SESSION, limit),
    ).fetchall()
    names = [str(row[0]) for row in rows]
    marks = ", ".join("?" * len(names))
    unsent = dict(
        connection.execute(
            f"""SELECT session_id, COUNT(*) FROM events WHERE flush_id IS NULL AND session_id IN ({marks})
            GROUP BY session_id""",
            names,
        ).fetchall()
    )
    scopes = _scopes(connection, shape, names)
    packets = _packets(connection, shape, names)
    return [
        _session(
            connection,
            shape,
            name,
            bounds=(row[2], row[3]),
            counts=(int(row[1]), int(unsent.get(name, 0))),
            scope=scopes.get(name, {}),
            packets=packets.get(name, ()),
        )
        for name, row in zip(names, rows, strict=True)
    ]


def _session(
    connection: sqlite3.Connection,
    shape: Shape,
    name: str,
    *,
    bounds: tuple[int, int],
    counts: tuple[int, int],
    scope: Mapping[str, str],
    packets: Sequence[Packet],
) -> Session:
    first, last = (_event(connection, shape, place) for place in bounds)
    shown = list(reversed(packets[-SHOWN_PACKETS:]))
    sizes = _sizes(connection, shown)
    return Session(
        id=name,
        project=scope.get("app_id") or last[1],
        directory=os.path.join(scope.get("root", ""), scope.get("directory", "")).rstrip("/"),
        branch=_branch(scope),
        harness=scope.get("harness", ""),
        events=counts[0],
        unsent=counts[1],
        first_at=first[0],
        last_at=last[0],
        packets=[ShownPacket(each, sizes.get(each.packet_id, 0)) for each in shown],
        packets_in_all=len(packets),
    )


def _branch(scope: Mapping[str, str]) -> str:
    """Return the branch; "" where nothing is checked out, as outside a repository, for which `detached` is kept."""
    branch = scope.get("branch", "")
    return "" if branch == NO_BRANCH and not scope.get("head_sha") else branch


def _event(connection: sqlite3.Connection, shape: Shape, place: int) -> tuple[str, str]:
    columns = shape.select("events", ("created_at", "app_id"))
    row = connection.execute(f"SELECT {columns} FROM events WHERE {shape.order} = ?", (place,)).fetchone()
    return (moment_text(row[0]), str(row[1] or "")) if row else ("", "")


def _scopes(connection: sqlite3.Connection, shape: Shape, names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
    if not shape.has("session_scopes", "session_id"):
        return {}
    columns = shape.select("session_scopes", _SCOPE_COLUMNS)
    marks = ", ".join("?" * len(names))
    rows = connection.execute(f"SELECT {columns} FROM session_scopes WHERE session_id IN ({marks})", names)
    return {str(row[0]): dict(zip(_SCOPE_COLUMNS, (str(each or "") for each in row), strict=True)) for row in rows}


def _packets(connection: sqlite3.Connection, shape: Shape, names: Sequence[str]) -> Mapping[str, list[Packet]]:
    found: dict[str, list[Packet]] = defaultdict(list)
    for packet in packet_rows.packets_of(connection, shape, names):
        found[packet.session_id].append(packet)
    return found


def _sizes(connection: sqlite3.Connection, packets: Sequence[Packet]) -> Mapping[str, int]:
    marks = ", ".join("?" * len(packets))
    rows = connection.execute(
        f"SELECT flush_id, COUNT(*) FROM events WHERE flush_id IN ({marks}) GROUP BY flush_id",
        [packet.packet_id for packet in packets],
    )
    return {str(name): int(number) for name, number in rows}
