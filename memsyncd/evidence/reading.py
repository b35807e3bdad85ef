"""Reading events and scopes. Every function takes a connection inside a transaction or a read, and the file's shape."""

# ruff: noqa: S608  (names of tables and columns come from `schema` alone; every value is bound)

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from memsyncd.evidence import payloads
from memsyncd.evidence.event import IN_FLIGHT, NO_BRANCH, Event, Scope, SessionActivity
from memsyncd.evidence.moments import moment_text
from memsyncd.evidence.schema import OPEN_SQL, UNCONFIRMED_SQL, Shape
from memsyncd.hooks.record import UNKNOWN_SESSION

PAGE = 64
"""Events read at a time, so that a long session is never whole in memory; a usual packet is one page."""

Page = Sequence[tuple[int, Event]]
"""Up to PAGE events, each with its place in the order of recording."""

ProjectOf = Callable[[str, str], str]
"""Gives the project id of an app id and a repository id."""

Unreadable = Callable[[], None]
"""Called for each event whose payload is no JSON object; such an event is given out with an empty one."""

_COLUMNS = ("id", "session_id", "kind", "payload_json", "created_at", "repo_id", "app_id", "flush_id")
_SCOPE_COLUMNS = ("repo_id", "app_id", "project_id", "root", "branch", "head_sha", "directory")
_IN_FLIGHT = ", ".join(f"'{status.value}'" for status in sorted(IN_FLIGHT))


def scope(connection: sqlite3.Connection, shape: Shape, session_id: str, project_of: ProjectOf) -> Scope | None:
    """Return the session's pinned scope; for a session without one, that of its first event."""
    row = None
    if shape.has("session_scopes", "session_id"):
        columns = shape.select("session_scopes", _SCOPE_COLUMNS)
        row = connection.execute(f"SELECT {columns} FROM session_scopes WHERE session_id = ?", (session_id,)).fetchone()
    if row is None or not row[0]:
        columns = shape.select("events", ("repo_id", "app_id"))
        first = connection.execute(
            f"SELECT {columns} FROM events WHERE session_id = ? ORDER BY {shape.order} LIMIT 1", (session_id,)
        ).fetchone()
        if first is None:
            return None
        row = (*first, *(row or (None,) * len(_SCOPE_COLUMNS))[2:])
    repo_id, app_id, project_id, root, branch, head_sha, directory = map(_text, row)
    project_id = project_id or project_of(app_id, repo_id)
    return Scope(repo_id, app_id, project_id, root, branch or NO_BRANCH, head_sha, directory)


def unflushed(
    connection: sqlite3.Connection, shape: Shape, session: tuple[str, str], unreadable: Unreadable, after: int
) -> Page:
    """Return the page behind the place `after` of the events in no packet of a `session`: its id and its pinned
    repository (facts 2.7)."""
    where = ("session_id = ? AND repo_id = ? AND flush_id IS NULL", *session)
    return _page(connection, shape, where, unreadable, after)


def every_unflushed(
    connection: sqlite3.Connection, shape: Shape, session: tuple[str, str], unreadable: Unreadable
) -> Iterator[Event]:
    """Read all pages of `unflushed` lazily; only inside one transaction."""
    return every(partial(unflushed, connection, shape, session, unreadable))


def is_all_sent(connection: sqlite3.Connection, session_id: str) -> bool:
    """Tell whether the session has no event in no packet, of whatever repository, and no packet that is open."""
    row = connection.execute(
        f"""SELECT EXISTS (SELECT 1 FROM events WHERE session_id = :session AND flush_id IS NULL)
            OR EXISTS (SELECT 1 FROM flushes WHERE session_id = :session AND {OPEN_SQL})""",
        {"session": session_id},
    ).fetchone()
    return not row[0]


def packet_events(
    connection: sqlite3.Connection, shape: Shape, packet_id: str, unreadable: Unreadable, after: int
) -> Page:
    """Return the page behind the place `after` of a packet's events."""
    return _page(connection, shape, ("flush_id = ?", packet_id), unreadable, after)


def every(page_after: Callable[[int], Page]) -> Iterator[Event]:
    """Yield the events of all pages, in the order of recording; `page_after` reads the page behind a place."""
    after = -1
    while True:
        page = page_after(after)
        yield from (event for _, event in page)
        if len(page) < PAGE:
            return
        after = page[-1][0]


def last_event(connection: sqlite3.Connection, shape: Shape, session_id: str, unreadable: Unreadable) -> Event | None:
    """Return the session's newest event."""
    row = connection.execute(
        f"""SELECT {shape.select("events", _COLUMNS)} FROM events WHERE session_id = ?
        ORDER BY {shape.order} DESC LIMIT 1""",
        (session_id,),
    ).fetchone()
    return None if row is None else _event(row, unreadable)


def sessions_with_unflushed(connection: sqlite3.Connection, shape: Shape) -> Sequence[SessionActivity]:
    """Return every session that has events of its pinned repository in no packet; never the placeholder session."""
    scoped = shape.has("session_scopes", "repo_id") and shape.has("session_scopes", "session_id")
    pinned = "LEFT JOIN session_scopes AS s ON s.session_id = u.session_id" if scoped else ""
    harness = "s.harness" if scoped and shape.has("session_scopes", "harness") else "NULL"
    repo_id = "COALESCE(NULLIF(s.repo_id, ''), u.repo_id)" if scoped else "u.repo_id"
    created_at = "e.created_at" if shape.has("events", "created_at") else "NULL"
    rows = connection.execute(
        f"""SELECT u.session_id, f.id, e.id, {created_at}, u.events, {harness},
            EXISTS (SELECT 1 FROM flushes WHERE session_id = u.session_id AND status IN ({_IN_FLIGHT}))
        FROM (SELECT session_id, repo_id, MIN({shape.order}) AS first, MAX({shape.order}) AS last, COUNT(*) AS events
              FROM events WHERE flush_id IS NULL GROUP BY session_id, repo_id) AS u
        {pinned}
        JOIN events AS f ON f.{shape.order} = u.first
        JOIN events AS e ON e.{shape.order} = u.last
        WHERE u.repo_id = {repo_id} AND u.session_id NOT IN (?, '')
        ORDER BY u.first""",
        (UNKNOWN_SESSION,),
    ).fetchall()
    return [
        SessionActivity(
            session_id=_text(row[0]),
            first_event_id=row[1],
            last_event_id=row[2],
            last_event_at=moment_text(row[3]),
            events=row[4],
            in_flight=bool(row[6]),
            harness=_text(row[5]),
        )
        for row in rows
    ]


def counts(connection: sqlite3.Connection, shape: Shape) -> Mapping[str, int]:  # noqa: ARG001  (every file has these)
    """Return how many events there are, events in no packet, packets, packets open and packets given up."""
    statements = {
        "events": "SELECT COUNT(*) FROM events",
        "unflushed": "SELECT COUNT(*) FROM events WHERE flush_id IS NULL",
        "packets": "SELECT COUNT(*) FROM flushes",
        "packets_open": f"SELECT COUNT(*) FROM flushes WHERE {OPEN_SQL}",
        "packets_shared": f"SELECT COUNT(*) FROM flushes WHERE {UNCONFIRMED_SQL} AND status = 'shared'",
        "packets_gave_up": "SELECT COUNT(*) FROM flushes WHERE status = 'gave-up'",
    }
    return {name: connection.execute(statement).fetchone()[0] for name, statement in statements.items()}


def _page(
    connection: sqlite3.Connection, shape: Shape, where: Sequence[str], unreadable: Unreadable, after: int
) -> Page:
    """Read a page; `where` is a condition and what is bound to it."""
    condition, *values = where
    rows = connection.execute(
        f"""SELECT {shape.order}, {shape.select("events", _COLUMNS)} FROM events
        WHERE {condition} AND {shape.order} > ? ORDER BY {shape.order} LIMIT {PAGE}""",
        (*values, after),
    ).fetchall()
    return [(row[0], _event(row[1:], unreadable)) for row in rows]


def _event(row: Sequence[object], unreadable: Unreadable) -> Event:
    payload = payloads.decode(row[3])
    if payload is None:
        unreadable()
    return Event(
        id=int(str(row[0])),
        session_id=_text(row[1]),
        kind=_text(row[2]),
        payload=payload or {},
        created_at=moment_text(row[4]),
        repo_id=_text(row[5]),
        app_id=_text(row[6]),
        flush_id=_text(row[7]) or None,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
