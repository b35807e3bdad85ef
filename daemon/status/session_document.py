"""The sessions of every spool as `GET /sessions` tells them, live or from the files; never what was said in them."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from daemon.intake.spool import Spool
from daemon.status import snapshot
from memsyncd.evidence import schema, session_list
from memsyncd.evidence.session_list import Session

Read = Callable[[Path, int], Sequence[Session]]


def sessions_document(spools: Iterable[Spool], limit: int, read: Read = session_list.live) -> dict[str, Any]:
    """Return the sessions with the newest events, at most `limit`, newest first. `unreadable` names the spools whose
    evidence could not be read at this moment; one without evidence has no sessions."""
    sessions: list[dict[str, Any]] = []
    unreadable: list[str] = []
    for spool in spools:
        try:
            found = read(spool.evidence, limit) if spool.evidence.exists() else ()
        except (OSError, sqlite3.Error, snapshot.NotADatabaseError):
            unreadable.append(spool.name)
        else:
            sessions += [_document(spool, session) for session in found]
    sessions.sort(key=lambda session: str(session["last_at"]), reverse=True)
    return {"sessions": sessions[:limit], "unreadable": unreadable}


def from_file(path: Path, limit: int) -> Sequence[Session]:
    """Read a file that nobody serves, changing nothing. Raises NotADatabaseError and OSError."""
    if snapshot.user_version(path) > schema.VERSION:
        raise snapshot.NotADatabaseError("it is from a newer version")
    with snapshot.connected(path) as connection, contextlib.suppress(UnicodeError):
        return session_list.read(connection, limit)
    return ()


def _document(spool: Spool, session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "spool": spool.name,
        "harness": session.harness or spool.harness,
        "project": session.project,
        "directory": session.directory,
        "branch": session.branch,
        "events": session.events,
        "unsent": session.unsent,
        "first_at": session.first_at or None,
        "last_at": session.last_at or None,
        "packets_in_all": session.packets_in_all,
        "packets": [
            {
                "id": shown.packet.packet_id,
                "reason": shown.packet.reason,
                "status": shown.packet.status,
                "is_open": shown.packet.is_open,
                "events": shown.events,
                "attempts": shown.packet.attempts,
                "error": shown.packet.error,
                "created_at": shown.packet.created_at or None,
                "updated_at": shown.packet.updated_at or None,
            }
            for shown in session.packets
        ],
    }
