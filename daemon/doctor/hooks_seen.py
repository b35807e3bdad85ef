"""Which of a harness's events should come, and which have: told by the evidence.

A hook that is registered and never run by its harness is seen by what does arrive (never-again 88): a harness whose
prompts come and whose answers never do has lost its stop. What happens in some sessions only (a subagent, a tool that
failed) is named where it never came, and is no fault.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from daemon.cli.wording import span
from daemon.installing.harness import Event
from memsyncd.clock import from_rfc3339

KINDS: Mapping[str, str] = {
    "session-start": "session_start",
    "user-prompt": "user_prompt",
    "post-tool": "tool_result",
    "post-tool-failure": "tool_failure",
    "stop": "assistant_stop",
    "subagent-start": "subagent_start",
    "subagent-stop": "subagent_stop",
}
"""What an action leaves in the evidence. A flush leaves nothing there."""

LOST_SECONDS = 7 * 86_400.0
"""A prompt or an answer that last came so long before the newest event comes no more."""

TWICE = 2

NEWEST = 50_000
"""Events looked at: what should come in every session is among them, and a large file is looked at in time."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One kind of event: how often, in how many sessions, and when last (Unix seconds, 0 where nobody can tell)."""

    events: int
    sessions: int
    last: float


@dataclass(frozen=True, slots=True)
class Compared:
    """`lost` are events of the harness that must have happened and did not arrive, `gone` those that arrive no more;
    `rare` never came, which may be as it should. `newest` is when anything last came, 0 for never."""

    seen: Sequence[str] = ()
    lost: Sequence[str] = ()
    gone: Sequence[str] = ()
    rare: Sequence[str] = ()
    newest: float = 0.0


def compare(events: Iterable[Event], registered: Sequence[str], seen: Mapping[str, Seen]) -> Compared:
    """Compare the registered events (by the harness's names) with the kinds seen of it."""
    expected = [event for event in events if event.name in registered and event.action in KINDS]
    newest = max((each.last for each in seen.values()), default=0.0)
    came: list[str] = []
    lost: list[str] = []
    gone: list[str] = []
    rare: list[str] = []
    for kind in dict.fromkeys(KINDS[event.action] for event in expected):
        names = [event.name for event in expected if KINDS[event.action] == kind]
        if kind in seen:
            came += names
            is_gone = kind in ("user_prompt", "assistant_stop") and newest - seen[kind].last > LOST_SECONDS
            gone += names if is_gone else []
        else:
            (lost if _must_have_come(kind, seen) else rare).extend(names)
    return Compared(came, lost, gone, rare, newest)


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


def read(connection: sqlite3.Connection) -> Mapping[str, Seen]:
    """Return the kinds among the newest events of an evidence file, whose harness is the spool's."""
    rows = connection.execute(
        "SELECT kind, count(*), count(DISTINCT session_id), max(created_at) FROM"
        " (SELECT kind, session_id, created_at FROM events ORDER BY id DESC LIMIT ?) GROUP BY kind",
        (NEWEST,),
    ).fetchall()
    return {str(kind): Seen(events, sessions, from_rfc3339(str(last)) or 0.0) for kind, events, sessions, last in rows}
