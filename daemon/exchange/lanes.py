"""The projects that sessions of this machine wrote into, or were told of: what an export of a platform elsewhere lists
beside a person's own memories. Read as it lies, with and without a daemon: from the evidence of every spool, and from
what is mirrored of the platform."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from daemon.places import Places
from daemon.settings import Settings
from daemon.status.offline import spools_to_serve
from memsyncd.evidence import schema
from memsyncd.platforms.local.schema import NewerSchema, known_version, look_only
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
    """The lanes, each once; the sessions; and the files that could not be read."""

    lanes: Sequence[Lane] = ()
    sessions: Sequence[str] = ()
    unread: Sequence[str] = ()

    @property
    def projects(self) -> int:
        """How many projects the lanes are of: one may have a second lane, under its bare name."""
        named = {lane.agent_id for lane in self.lanes if lane.agent_id != lane.app_id}
        others = {lane.app_id for lane in self.lanes} - {lane.app_id for lane in self.lanes if lane.agent_id in named}
        return len(named) + len(others)


def known_lanes(places: Places, settings: Settings, destination: str) -> Known:
    """Return what is known here; `destination` is the platform's. Raises nothing: what cannot be read is named."""
    lanes: dict[Lane, None] = {}
    sessions: dict[str, None] = {}
    unread: list[str] = []
    for spool in spools_to_serve(places, settings):
        try:
            for session, shared in _scopes(spool.evidence):
                sessions[session] = None
                lanes |= dict.fromkeys(shared)
        except (OSError, sqlite3.Error):
            unread.append(str(spool.evidence))
    try:
        lanes |= dict.fromkeys(_mirrored(places.memory_file, destination))
    except (OSError, sqlite3.Error, NewerSchema):
        unread.append(str(places.memory_file))
    usable = [lane for lane in lanes if lane.app_id and not is_wildcard(lane.app_id) and not is_wildcard(lane.agent_id)]
    return Known(usable, list(sessions), unread)


def _mirrored(memory_file: Path, destination: str) -> Iterator[Lane]:
    if not memory_file.exists():
        return
    with closing(look_only(memory_file, timeout=WAIT_SECONDS)) as connection:
        if known_version(connection, memory_file) > 1:
            rows = connection.execute(
                "SELECT DISTINCT agent_id, app_id FROM memories WHERE platform = ? AND platform <> 'local'"
                " AND agent_id <> ''",
                (destination,),
            )
            yield from (Lane(*row) for row in rows)


def _scopes(evidence: Path) -> Iterator[tuple[str, Sequence[Lane]]]:
    """Yield each session with the lanes of the project it was in. A plugin's file may not tell the project id, which
    follows from the others."""
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
                shared = shared_ids(app_id, project or project_id(app_id, repo_id), repo_id)
                yield str(session), [Lane(agent_id, app_id) for agent_id in shared]
