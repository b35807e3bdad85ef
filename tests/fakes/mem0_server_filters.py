"""The self-hosted server's filter grammar (hooks-and-apis 3B): flat keys, each an id or a key of the metadata."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.mem0_filters import BadFilterError, condition

IDS = ("user_id", "agent_id", "run_id")
_REJECTED = ("timestamp", "reference_date")


def check(filters: Any) -> Mapping[str, Any]:
    """Return `filters`, their ids trimmed; raise BadFilterError for those that the server refuses."""
    if not isinstance(filters, Mapping) or not any(key in filters for key in IDS):
        raise BadFilterError("filters must contain at least one of: user_id, agent_id, run_id")
    if refused := [key for key in _REJECTED if key in filters]:
        raise BadFilterError(f"{refused[0]} is not supported")
    return {key: checked_id(key, wanted) if key in IDS else wanted for key, wanted in filters.items()}


def checked_id(key: str, given: Any) -> Any:
    """Return an id, trimmed; raise BadFilterError for one with a blank inside."""
    if isinstance(given, str) and len(given.split()) > 1:
        raise BadFilterError(f"{key} must not contain whitespace")
    return given.strip() if isinstance(given, str) else given


def matches(filters: Mapping[str, Any], memory: Mapping[str, Any]) -> bool:
    """Whether `memory` passes: sibling keys mean AND; what is no id is looked up in the metadata."""
    return all(_matches(key, wanted, memory) for key, wanted in filters.items())


def _matches(key: str, wanted: Any, memory: Mapping[str, Any]) -> bool:
    match key:
        case "AND":
            return all(matches(part, memory) for part in wanted)
        case "OR":
            return any(matches(part, memory) for part in wanted)
        case "NOT":
            return not any(matches(part, memory) for part in wanted)
    has = memory.get(key) if key in IDS else memory["metadata"].get(key)
    if isinstance(wanted, Mapping) and "nin" in wanted:
        return has not in wanted["nin"]
    return condition(wanted, has)
