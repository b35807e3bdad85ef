"""The hosted API's filter grammar (hooks-and-apis 3A): whether a stored memory matches."""

from collections.abc import Mapping
from typing import Any

ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
_TIMES = ("created_at", "updated_at", "timestamp", "expiration_date")
_KEYS = frozenset(
    {
        "AND",
        "OR",
        "NOT",
        *ENTITIES,
        *_TIMES,
        "text",
        "categories",
        "metadata",
        "keywords_search",
        "memory_ids",
        "keywords",
    }
)
_OPERATORS = frozenset({"eq", "ne", "in", "gt", "gte", "lt", "lte", "contains", "icontains"})


class BadFilterError(ValueError):
    """The API answers 400 to it."""


def check(filters: Any) -> Mapping[str, Any]:
    """Return `filters`; raise BadFilterError for those that the API refuses."""
    if not isinstance(filters, Mapping) or not filters:
        raise BadFilterError("filters are required")
    if not _check(filters):
        raise BadFilterError("filters must hold at least one entity id")
    return filters


def matches(filters: Mapping[str, Any], memory: Mapping[str, Any]) -> bool:
    """Whether `memory` passes: sibling keys mean AND."""
    return all(_matches(key, wanted, memory) for key, wanted in filters.items())


def _check(filters: Mapping[str, Any]) -> bool:
    """Check the grammar; return whether an entity id occurs."""
    has_entity = False
    for key, wanted in filters.items():
        if key not in _KEYS:
            raise BadFilterError(f"Invalid filter key: {key}")
        if key in ("AND", "OR", "NOT"):
            if not isinstance(wanted, list) or not all(isinstance(part, Mapping) for part in wanted):
                raise BadFilterError(f"{key} takes a list of conditions")
            checked = [_check(part) for part in wanted]  # every part, whatever the first says
            has_entity = has_entity or any(checked)
            continue
        has_entity = has_entity or key in ENTITIES
        if key == "metadata" and (not isinstance(wanted, Mapping) or len(wanted) != 1):
            raise BadFilterError("metadata takes one key for each condition")
        conditions = wanted.values() if key == "metadata" else [wanted]
        for each in conditions:
            if isinstance(each, Mapping) and (set(each) - _OPERATORS):
                raise BadFilterError(f"Invalid operator for {key}")
        if key in (*_TIMES, "categories") and not isinstance(wanted, Mapping):
            raise BadFilterError(f"{key} takes an operator")
    return has_entity


def _matches(key: str, wanted: Any, memory: Mapping[str, Any]) -> bool:  # noqa: PLR0911  (a table)
    match key:
        case "AND":
            return all(matches(part, memory) for part in wanted)
        case "OR":
            return any(matches(part, memory) for part in wanted)
        case "NOT":
            return not any(matches(part, memory) for part in wanted)
        case "metadata":
            return all(condition(each, memory["metadata"].get(name)) for name, each in wanted.items())
        case "memory_ids":
            return memory["id"] in wanted
        case "text":
            return condition(wanted, memory["memory"])
        case _:
            return condition(wanted, memory.get(key))


def condition(wanted: Any, has: Any) -> bool:
    """Whether a value passes: a mapping of operators, `*` for any value, or the value itself."""
    if isinstance(wanted, Mapping):
        return all(_operator(operator, operand, has) for operator, operand in wanted.items())
    return has is not None if wanted == "*" else has == wanted


def _operator(operator: str, operand: Any, has: Any) -> bool:  # noqa: PLR0911  (a table)
    match operator:
        case "eq":
            return bool(has == operand)
        case "ne":
            return bool(has != operand)
        case "in":
            return any(value in operand for value in has) if isinstance(has, list) else has in operand
        case "contains":
            return has is not None and operand in has
        case "icontains":
            return has is not None and str(operand).lower() in str(has).lower()
    if has is None:
        return False
    return bool({"gt": has > operand, "gte": has >= operand, "lt": has < operand, "lte": has <= operand}[operator])
