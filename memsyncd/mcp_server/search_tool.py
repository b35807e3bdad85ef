"""`search_memories`: a question to the memory platform about the project worked in (facts 13.1 to 13.9, 13.12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memsyncd.mcp_server.tool import Answer, Call, ServedTool, ToolFailed
from memsyncd.notes.arguments import known, shown
from memsyncd.notes.catalogue import Argument, Hints, Tool
from memsyncd.platforms.instructions import CATEGORIES
from memsyncd.platforms.platform import Memory
from memsyncd.platforms.wildcards import holds_asterisk
from memsyncd.recall.context import NOTHING_FOUND, SEARCH_FAILED, branch_label, context, words
from memsyncd.recall.cutting import cut, repaired
from memsyncd.redaction import redact

SCOPES = ("repo", "dir", "mine")
"""Facts 5.24."""

MAX_QUERY_CHARS, MAX_RUN_ID_CHARS, MAX_TOP_K = 2_000, 200, 20
"""Facts 13.5."""


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question. What is None was not asked for: the user's settings decide."""

    query: str
    project: str
    top_k: int | None = None
    category: str | None = None
    scope: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Memories, the best first, and who told them. `why` is empty where the platform itself answered, else it says who
    did in its place and why."""

    memories: Sequence[Memory]
    source: str
    why: str = ""


class Search(Protocol):
    """Asks the platform. Blocks; safe from any thread."""

    def __call__(self, question: Question, /) -> Found:
        """Search. Raises ToolFailed with what is wrong and what to do."""


TOOL = Tool(
    "search_memories",
    "Search memories",
    "Search what was learnt in earlier coding sessions on this project: how it is built, decisions and their reasons,"
    " workflows, problems with their fixes, results. Ask before finding out again what may be known already.",
    Hints(read_only=True, destructive=False, open_world=True),  # facts 13.4: a hosted platform is asked
    (
        Argument(
            "query",
            "What to look for, in plain words.",
            {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARS},
            required=True,
        ),
        Argument(
            "top_k",
            "Most memories wanted; without it the user's setting.",
            {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K},
        ),
        Argument("category", "Memories of this category only.", {"type": "string", "enum": list(CATEGORIES)}),
        Argument(
            "scope",
            "repo: the whole project; dir: the directory worked in; mine: only this user's own memories.",
            {"type": "string", "enum": list(SCOPES)},
        ),
        Argument(
            "run_id",
            "Memories of this session only.",
            {"type": "string", "minLength": 1, "maxLength": MAX_RUN_ID_CHARS},
        ),
    ),
)

_MEMORY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "memory": {"type": "string"},
        "category": {"type": "string"},
        "score": {"type": ["number", "null"]},
        "created_at": {"type": "string"},
        "branch": {"type": "string"},
    },
    "required": ["id", "memory", "category", "score", "created_at", "branch"],
}

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "succeeded": {"type": "boolean"},
        "source": {"type": "string"},
        "why": {"type": "string"},
        "left_out": {"type": "integer"},
        "memories": {"type": "array", "items": _MEMORY_SCHEMA},
    },
    "required": ["succeeded", "source", "why", "left_out", "memories"],
}


def search_tool(search: Search, *, budget: int) -> ServedTool:
    """Return the tool. An answer's text has at most `budget` characters of memories; `structured` holds the same."""

    def answer(call: Call) -> Answer:
        question = _question(call)
        try:
            found = search(question)
        except ToolFailed as error:
            raise ToolFailed(f"{SEARCH_FAILED} {error}") from error
        return _answer(found, budget)

    return ServedTool(TOOL, answer, output_schema=OUTPUT_SCHEMA)


def _answer(found: Found, budget: int) -> Answer:
    told = context(found.memories, budget=budget)
    left_out = len(found.memories) - len(told.included)
    lines = [told.text or NOTHING_FOUND]
    if told.text and left_out:
        lines.append(f"({left_out} more did not fit: ask more narrowly for those.)")
    if found.why:
        lines.append(f"({words(found.why)})")
    document = {
        "succeeded": True,
        "source": found.source,
        "why": words(found.why),
        "left_out": left_out,
        "memories": [_document(memory, budget) for memory in told.included],
    }
    return Answer("\n".join(lines), structured=document)


def _document(memory: Memory, budget: int) -> dict[str, Any]:
    branch = memory.metadata.get("branch")
    return {
        "id": repaired(memory.id),
        "memory": cut(words(memory.memory), budget),
        "category": words(memory.category),
        "score": memory.score,
        "created_at": repaired(memory.created_at),
        "branch": words(branch) if isinstance(branch, str) and branch_label(branch) else "",
    }


def _question(call: Call) -> Question:
    given = known(TOOL, call.arguments)
    query = repaired(_text("query", given["query"]))
    if not query.strip():
        raise ToolFailed("query must not be blank: say in plain words what to look for.")
    if len(query) > MAX_QUERY_CHARS:
        raise ToolFailed(
            f"query has {len(query):,} characters, more than {MAX_QUERY_CHARS:,}: give the words that matter."
        )
    return Question(
        redact(query),
        call.project,
        _top_k(given.get("top_k")),
        _one_of("category", given.get("category"), tuple(CATEGORIES)),
        _one_of("scope", given.get("scope"), SCOPES),
        _run_id(given.get("run_id")),
    )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ToolFailed(f"{name} must be text, not {shown(value)}.")
    return value


def _top_k(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 5.0 is a whole number in JSON schema
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_TOP_K:
        raise ToolFailed(f"top_k must be a whole number from 1 to {MAX_TOP_K}, not {shown(value)}.")
    return value


def _one_of(name: str, value: object, allowed: Sequence[str]) -> str | None:
    if value is not None and value not in allowed:
        raise ToolFailed(f"{name} must be one of {', '.join(allowed)}, or be left out; it was {shown(value)}.")
    return None if value is None else str(value)


def _run_id(value: object) -> str | None:
    if value is None:
        return None
    text = _text("run_id", value)
    if not text.strip() or len(text) > MAX_RUN_ID_CHARS:
        raise ToolFailed(f"run_id must be a session's id of 1 to {MAX_RUN_ID_CHARS} characters, or be left out.")
    if holds_asterisk(text):
        raise ToolFailed("run_id must be one session's id and no wildcard: leave it out for all sessions.")
    return text
