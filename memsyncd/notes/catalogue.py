"""The seven tools as a client sees them: names, arguments, defaults and hints (hooks-and-apis.md section 6).

Nothing here leaves the machine, so no tool is open to the world; recalling and searching write nothing (defect 10).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memsyncd.notes import limits

FORMATS = ("markdown", "json")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool; `schema` is its JSON schema but for the description."""

    name: str
    description: str
    schema: Mapping[str, Any]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may count on. `destructive` and `idempotent` say something only where it is not `read_only`."""

    read_only: bool
    destructive: bool
    idempotent: bool = True
    open_world: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: everything its listing needs."""

    name: str
    title: str
    description: str
    hints: Hints
    arguments: Sequence[Argument] = field(default=())

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {each.name: {**each.schema, "description": each.description} for each in self.arguments},
            "required": [each.name for each in self.arguments if each.required],
            "additionalProperties": False,
        }


def _name_schema(most: int, **more: Any) -> Mapping[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, **more}


_KEY = Argument("key", "The note's name.", _name_schema(limits.MAX_KEY_CHARS), required=True)
_NAMESPACE = Argument(
    "namespace",
    "The group of notes it is in.",
    _name_schema(limits.MAX_NAMESPACE_CHARS, default=limits.DEFAULT_NAMESPACE),
)
_FORMAT = Argument("format", "Of the answer.", {"type": "string", "enum": list(FORMATS), "default": "markdown"})
_READS = Hints(read_only=True, destructive=False)
_DELETES = Hints(read_only=False, destructive=True)

TOOLS = (
    Tool(
        "memory_remember",
        "Remember a note",
        "Keep a text under a key, or give the note of that key another text and another time to live. What looks like a"
        " secret is replaced and what stands in <private> tags left out; the answer says so.",
        Hints(read_only=False, destructive=False),
        (
            _KEY,
            Argument("value", "The text to keep.", _name_schema(limits.MAX_VALUE_CHARS), required=True),
            _NAMESPACE,
            Argument(
                "ttl_seconds",
                "Seconds after which the note is forgotten; without it never.",
                {"type": "integer", "minimum": limits.MIN_TTL_SECONDS, "maximum": limits.MAX_TTL_SECONDS},
            ),
            _FORMAT,
        ),
    ),
    Tool(
        "memory_recall",
        "Recall a note",
        f"Return the note of a key: all of its value, or what fits into {limits.MAX_ANSWER_CHARS:,} characters.",
        _READS,
        (_KEY, _NAMESPACE, _FORMAT),
    ),
    Tool(
        "memory_forget",
        "Forget a note",
        "Delete the note of a key for good.",
        _DELETES,
        (_KEY, _NAMESPACE, _FORMAT),
    ),
    Tool(
        "memory_search",
        "Search notes",
        "Find notes by words of their keys and values, the best first; values are cut to"
        f" {limits.MAX_SEARCH_VALUE_CHARS} characters, memory_recall returns more of them.",
        _READS,
        (
            Argument("query", "Words to look for.", _name_schema(limits.MAX_QUERY_CHARS), required=True),
            Argument(
                "namespace",
                "Look in this group only; without it in all.",
                _name_schema(limits.MAX_NAMESPACE_CHARS),
            ),
            Argument(
                "limit",
                f"Most results; brought into 1 to {limits.MAX_RESULTS}.",
                {"type": "integer", "default": limits.DEFAULT_RESULTS},
            ),
            _FORMAT,
        ),
    ),
    Tool("memory_list_namespaces", "List namespaces", "List the groups of notes and their sizes.", _READS, (_FORMAT,)),
    Tool(
        "memory_clear_namespace",
        "Clear a namespace",
        "Delete all notes of a group for good.",
        _DELETES,
        (
            Argument("namespace", "The group to delete.", _name_schema(limits.MAX_NAMESPACE_CHARS), required=True),
            _FORMAT,
        ),
    ),
    Tool("memory_stats", "Notes in figures", "Count the notes and tell where they are stored.", _READS, (_FORMAT,)),
)
"""In the order in which they are listed."""

BY_NAME = {tool.name: tool for tool in TOOLS}
