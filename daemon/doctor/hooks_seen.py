"""Which of a harness's events should come, and which have: told by the evidence.

A hook that is registered and never run by its harness is seen by what does arrive (never-again 88): a harness whose
prompts come and whose answers never do has lost its stop. What happens in some sessions only (a subagent, a tool that
failed, a compaction) is named where it never came, and is no fault. A session's end leaves no event; when its hook last
came is kept beside them, and it is missed where several sessions are long silent and not one end was told.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from daemon.cli.wording import span
from daemon.installing.harness import Event
from daemon.intake.flush_sightings import NOTED_SECONDS
from memsyncd.clock import from_rfc3339
from memsyncd.evidence import flush_sightings

KINDS: Mapping[str, str] = {
    "session-start": "session_start",
    "user-prompt": "user_prompt",
    "post-tool": "tool_result",
    "post-tool-failure": "tool_failure",
    "stop": "assistant_stop",
    "subagent-start": "subagent_start",
    "subagent-stop": "subagent_stop",
}
"""What an action leaves in the evidence. A flush leaves nothing there but when its hook last came."""

_OF_EVERY_TURN = frozenset({"user_prompt", "assistant_stop"})

END = "session-end"

SILENT_SECONDS = 86_400.0
"""A session that has been silent for so long, while others went on, was most likely ended."""

UNENDED = 5
"""So many such sessions in a row without an end told: one or two were killed, or are open in some terminal."""

LOST_SECONDS = 7 * 86_400.0
"""A prompt or an answer that last came so long before the newest event comes no more."""

TWICE = 2

NEWEST = 50_000
"""Events looked at: what should come in every session is among them, and a large file is looked at in time."""

_NEWEST = "(SELECT kind, session_id, created_at FROM events ORDER BY id DESC LIMIT ?)"


@dataclass(frozen=True, slots=True)
class Seen:
    """One kind of event: how often, in how many sessions, and when last (Unix seconds, 0 where nobody can tell)."""

    events: int
    sessions: int
    last: float


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a harness: events by their kind, flushes by their reason. `unended` sessions began since an end was
    last told, or since that is watched, and have long been silent."""

    kinds: Mapping[str, Seen] = field(default_factory=dict)
    unended: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """`lost` are events of the harness that must have happened and did not arrive, `gone` those that arrive no more;
    `rare` never came, which may be as it should. `newest` is when anything last came, 0 for never."""

    seen: Sequence[str] = ()
    lost: Sequence[str] = ()
    gone: Sequence[str] = ()
    rare: Sequence[str] = ()
    newest: float = 0.0


def compare(events: Iterable[Event], registered: Sequence[str], came: Came) -> Compared:
    """Compare the registered events (by the harness's names) with what was seen of it."""
    expected = [event for event in events if event.name in registered]
    newest = max((each.last for each in came.kinds.values()), default=0.0)
    seen: list[str] = []
    lost: list[str] = []
    gone: list[str] = []
    rare: list[str] = []
    for kind in dict.fromkeys(_kind(event) for event in expected):
        of_kind = [event for event in expected if _kind(event) == kind]
        names = [event.name for event in of_kind]
        if kind == END:
            is_missed = came.unended >= UNENDED and any(event.is_always_told for event in of_kind)
        else:
            is_missed = kind in _OF_EVERY_TURN if kind in came.kinds else _must_have_come(kind, came.kinds)
        if kind not in came.kinds:
            (lost if is_missed else rare).extend(names)
            continue
        seen += names
        if is_missed and newest - came.kinds[kind].last > LOST_SECONDS:
            gone += names
    return Compared(seen, lost, gone, rare, newest)


def _kind(event: Event) -> str:
    return KINDS.get(event.action, event.reason)


def _must_have_come(kind: str, seen: Mapping[str, Seen]) -> bool:
    """Tell whether what did come shows that events of this kind happened. A first session that is under way, or was
    when the hooks were put in, shows nothing yet."""
    sessions = max((each.sessions for each in seen.values()), default=0)
    if kind == "assistant_stop":
        return "user_prompt" in seen and seen["user_prompt"].events >= TWICE
    if kind == "user_prompt":
        return "assistant_stop" in seen
    return kind == "session_start" and sessions >= TWICE


def last_seen(compared: Compared, now: float) -> str:
    """Say when anything last came."""
    return f"last {span(now - compared.newest)} ago" if compared.newest else "none so far"


def read(connection: sqlite3.Connection) -> Came:
    """Return what is among the newest events of an evidence file, whose harness is the spool's, and when its flushes
    were last asked for."""
    kinds = connection.execute(
        f"SELECT kind, count(*), count(DISTINCT session_id), max(created_at) FROM {_NEWEST} GROUP BY kind",  # noqa: S608
        (NEWEST,),
    ).fetchall()
    seen = {str(kind): Seen(events, sessions, _moment(last)) for kind, events, sessions, last in kinds}
    flushes = {reason: _moment(at) for reason, at in flush_sightings.read(connection).items()}
    since = flushes.get(END, flushes.get(flush_sightings.BEGUN))
    seen |= {reason: Seen(1, 0, at) for reason, at in flushes.items() if reason != flush_sightings.BEGUN}
    return Came(seen, 0 if since is None else _unended(connection, since))


def _unended(connection: sqlite3.Connection, since: float) -> int:
    """Count the sessions that began after `since`, and after all whose ends were not kept so soon after that one's,
    and were silent long before the newest event."""
    rows = connection.execute(
        f"SELECT min(created_at), max(created_at) FROM {_NEWEST} GROUP BY session_id",  # noqa: S608
        (NEWEST,),
    ).fetchall()
    spans = [(_moment(begun), _moment(last)) for begun, last in rows]
    newest = max((last for _, last in spans), default=0.0)
    return sum(begun > since + NOTED_SECONDS and newest - last > SILENT_SECONDS for begun, last in spans)


def _moment(at: object) -> float:
    return from_rfc3339(str(at)) or 0.0
