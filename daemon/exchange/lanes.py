"""The projects that sessions of this machine wrote into: what an export of a platform elsewhere lists beside a person's
own memories. Read from the evidence of every spool as it is, with and without a daemon."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from daemon.places import Places
from daemon.settings import Settings
from daemon.status.offline import spools_to_serve
from memsyncd.evidence import schema
from memsyncd.platforms.local.schema import look_only
from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.scope.remote import project_id, shared_ids

WAIT_SECONDS = 2.0
"""For another program that holds a whole file."""

_COLUMNS = ("app_id", "repo_id", "project_id")


@dataclass(frozen=True, slots=True)
class Lane:
    """What the people of a project share: memories of `agent_id` in the app."""

    agent_id: str
    app_id: str


@dataclass(frozen=True, slots=True)
class Known:
    """The lanes, each once; how many projects they are of; the sessions; and the spools that could not be read."""

    lanes: Sequence[Lane] = ()
    projects: int = 0
    sessions: Sequence[str] = ()
    unread: Sequence[str] = ()


def known_lanes(places: Places, settings: Settings) -> Known:
    """Return what the evidence of this machine's spools tells. Raises nothing: what cannot be read is named."""
    projects: dict[tuple[str, str, str], None] = {}
    sessions: dict[str, None] = {}
    unread: list[str] = []
    for spool in spools_to_serve(places, settings):
        try:
            for session, project in _scopes(spool.evidence):
                projects[project] = sessions[session] = None
        except (OSError, sqlite3.Error):
            unread.append(str(spool.path))
    lanes = dict.fromkeys(
        Lane(agent_id, app_id)
        for app_id, project, repo_id in projects
        for agent_id in shared_ids(app_id, project, repo_id)
        if app_id and not is_wildcard(app_id) and not is_wildcard(agent_id)
    )
    return Known(list(lanes), len(projects), list(sessions), unread)


def _scopes(evidence: Path) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield each session, and app id, project id and repository of where it was. A plugin's file may not tell the
    project id, which follows from the others."""
    if not evidence.exists():
        return
    with closing(look_only(evidence, timeout=WAIT_SECONDS)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        shape = schema.inspect(connection)
        if not shape.has("session_scopes", "session_id"):
            return
        columns = shape.select("session_scopes", _COLUMNS)
        rows = connection.execute(f"SELECT session_id, {columns} FROM session_scopes")  # noqa: S608  (schema's names)
        for session, *told in rows:
            app_id, repo_id, project = (value if isinstance(value, str) else "" for value in told)
            if app_id and repo_id:
                yield str(session), (app_id, project or project_id(app_id, repo_id), repo_id)
