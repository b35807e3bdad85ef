"""Recording events: one transaction for a batch, each event once, the session's scope pinned by its first."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memsyncd.evidence import deleting, payloads
from memsyncd.evidence.event import Appended, NewEvent
from memsyncd.evidence.payloads import clean
from memsyncd.hooks.record import UNKNOWN_SESSION

ANSWER = "assistant_stop"

_PIN = """INSERT INTO session_scopes(session_id, repo_id, app_id, root, branch, head_sha, created_at, directory,
    project_id, harness) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""

_INSERT = """INSERT INTO events(repo_id, app_id, session_id, created_at, kind, payload_json, harness, handoff_id,
    duplicate_key, answer_digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""

_REPEATED = """SELECT 1 FROM events WHERE session_id = ? AND answer_digest = ? AND id > COALESCE(
    (SELECT MAX(id) FROM events WHERE session_id = ? AND kind = 'user_prompt'), 0) LIMIT 1"""


def append(connection: sqlite3.Connection, events: Sequence[NewEvent]) -> Appended:
    """Store what is new of `events`, in their order. All events of one handoff must come in one call, in the same
    order each time, for their place among them is part of what makes them known again."""
    repositories = _pin(connection, events)
    places: Counter[str] = Counter()
    sessions: set[str] = set()
    answered: set[str] = set()
    inserted = 0
    has_forgotten = deleting.has_forgotten(connection)
    for event in events:
        handoff_id = clean(event.handoff_id)
        place = places[handoff_id]
        places[handoff_id] += 1
        session_id = clean(event.session_id)
        handoff_id = f"{handoff_id}#{place}" if place else handoff_id
        if has_forgotten and deleting.is_forgotten(connection, event, handoff_id):
            continue
        if _insert(connection, event, session_id, repositories, handoff_id):
            inserted += 1
            sessions.add(session_id)
            if event.kind == ANSWER:
                answered.add(session_id)
    return Appended(inserted, len(events) - inserted, frozenset(sessions), frozenset(answered))


def _insert(
    connection: sqlite3.Connection,
    event: NewEvent,
    session_id: str,
    repositories: Mapping[str, tuple[str, str]],
    handoff_id: str,
) -> bool:
    digest = None
    if event.kind == ANSWER:
        digest = _digest(event.payload)
        if connection.execute(_REPEATED, (session_id, digest, session_id)).fetchone() is not None:
            return False  # facts 3.9: the same answer counts once until a new prompt, whatever came in between
    repo_id, app_id = repositories.get(session_id) or (clean(event.scope.repo_id), clean(event.scope.app_id))
    row = (
        repo_id,
        app_id,
        session_id,
        clean(event.created_at),
        clean(event.kind),
        payloads.encode(event.payload),
        clean(event.harness),
        handoff_id or None,
        clean(event.duplicate_key) or None,
        digest,
    )
    return connection.execute(_INSERT, row).rowcount > 0


def _pin(connection: sqlite3.Connection, events: Sequence[NewEvent]) -> Mapping[str, tuple[str, str]]:
    """Pin the sessions that are new; return every session's repository and app (facts 5.30, 5.32)."""
    ends: dict[str, tuple[NewEvent, NewEvent]] = {}
    for event in events:
        if event.session_id not in ("", UNKNOWN_SESSION):
            first, _ = ends.get(event.session_id, (event, event))
            ends[event.session_id] = (first, event)
    repositories: dict[str, tuple[str, str]] = {}
    for raw_id, (first, last) in ends.items():
        session_id = clean(raw_id)
        repositories[session_id] = _pin_session(connection, session_id, first, last)
    return repositories


def _pin_session(connection: sqlite3.Connection, session_id: str, first: NewEvent, last: NewEvent) -> tuple[str, str]:
    scope = first.scope
    texts = (scope.repo_id, scope.app_id, scope.root, scope.branch, scope.head_sha, first.created_at)
    more = (scope.directory, scope.project_id, first.harness)
    connection.execute(_PIN, tuple(clean(text) for text in (session_id, *texts, *more)))
    repo_id, app_id, branch, head_sha = connection.execute(
        "SELECT repo_id, app_id, branch, head_sha FROM session_scopes WHERE session_id = ?", (session_id,)
    ).fetchone()
    now = last.scope
    # branch and commit follow the work only within the repository the session is pinned to (facts 5.31)
    if clean(now.repo_id) == repo_id and (now.branch, now.head_sha) != (branch, head_sha):
        connection.execute(
            "UPDATE session_scopes SET branch = ?, head_sha = ? WHERE session_id = ?",
            (clean(now.branch), clean(now.head_sha), session_id),
        )
    return repo_id, app_id


def _digest(payload: Mapping[str, Any]) -> str:
    """Name an answer's text; one without text is told by its transcript, so that two of those stay two."""
    text = payload.get("text")
    if not isinstance(text, str) or not text:
        text = json.dumps(payload.get("transcript_messages"))
    return hashlib.sha256(clean(text).encode()).hexdigest()[:32]
