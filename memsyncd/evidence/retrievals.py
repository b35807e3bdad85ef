"""What a session was shown of its memories, and to whom: so that nothing is shown twice (facts 7.8, 7.10, 11.1)."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from memsyncd.evidence import operations, payloads
from memsyncd.evidence.moments import stored_moment
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.payloads import clean
from memsyncd.evidence.schema import FIRST_PROMPT_SEARCH, Shape

MAX_TEXT = 4_000
"""Characters kept of a memory that was shown (facts 7.10)."""

# the partial index is for the very words
_ANSWERED = f"""SELECT 1 FROM operations
    WHERE session_id = ? AND operation = '{FIRST_PROMPT_SEARCH}' AND success = 1 LIMIT 1"""  # noqa: S608  (a constant)


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory as it was shown: its id, its words, its place among those shown with it, and the platform's score."""

    memory_id: str
    text: str
    rank: int = 1
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is on record of a session. `is_answered`: a search for its first prompt has succeeded, whatever it found.
    `first_prompt` is the first thing a person said in it, None where nothing was recorded yet. `shown` is each memory
    once, in the order it was first shown."""

    is_answered: bool = False
    first_prompt: str | None = None
    shown: Sequence[Shown] = ()


def recalled(connection: sqlite3.Connection, shape: Shape, session_id: str) -> Recalled:
    """Read a session's record. Only for a file of ours, which has all the tables."""
    answered = connection.execute(_ANSWERED, (session_id,)).fetchone()
    rows = connection.execute(
        "SELECT memory_id, memory_text, rank, score FROM retrievals WHERE session_id = ? ORDER BY rowid", (session_id,)
    ).fetchall()
    shown: dict[str, Shown] = {}
    for memory_id, text, rank, score in rows:
        shown.setdefault(memory_id, Shown(memory_id, text, rank or 1, score))
    return Recalled(answered is not None, _first_prompt(connection, shape, session_id), tuple(shown.values()))


def record(
    connection: sqlite3.Connection, shape: Shape, operation: Operation, shown: Sequence[Shown], now: float
) -> None:
    """Add a search for a first prompt, and what was shown of it, to the session that `operation` names."""
    operations.record(connection, shape, operation, now)
    moment = stored_moment(now, numeric=shape.numeric_times)
    connection.executemany(
        """INSERT INTO retrievals(session_id, repo_id, memory_id, injected_at, rank, score, memory_text, context_chars)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                clean(operation.session_id),
                clean(operation.repo_id),
                clean(each.memory_id),
                moment,
                each.rank,
                each.score,
                clean(each.text)[:MAX_TEXT],
                len(each.text),
            )
            for each in shown
        ],
    )


def tell_subagent(
    connection: sqlite3.Connection, session: tuple[str, str], agent: tuple[str, str], *, characters: int, now: str
) -> bool:
    """Note that a subagent (its id and type) is given a context of so many `characters`; False where one of its
    `session` (its id and repository) was given one before."""
    told = connection.execute(
        "SELECT 1 FROM subagent_runs WHERE session_id = ? AND agent_id = ? AND context_chars > 0 LIMIT 1",
        (session[0], agent[0]),
    ).fetchone()
    if told is not None:
        return False
    connection.execute(
        """INSERT INTO subagent_runs(session_id, repo_id, agent_id, agent_type, started_at, context_chars)
        VALUES (?, ?, ?, ?, ?, ?)""",
        (*session, *agent, now, characters),
    )
    return True


def _first_prompt(connection: sqlite3.Connection, shape: Shape, session_id: str) -> str | None:
    """Return a person's first words; an event whose words were all the harness's is nobody's prompt."""
    rows = connection.execute(
        f"SELECT payload_json FROM events WHERE session_id = ? AND kind = 'user_prompt' ORDER BY {shape.order}",  # noqa: S608  (a name of this package)
        (session_id,),
    )
    for (text,) in rows:
        prompt = (payloads.decode(text) or {}).get("prompt")
        if isinstance(prompt, str) and prompt.strip():
            return prompt
    return None
