"""Memories as hosts' own clients give them, read leniently into ours. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memsyncd.platforms.platform import Memory

Item = Memory | Mapping[str, Any]
"""A memory: ours, or an object as the platforms' clients return it."""

Answer = Sequence[Item] | Mapping[str, Any] | None
"""What a search may return: a list of memories, or an object with such a list as `results`; None is an empty one."""


_LARGEST = 1e300  # leaves out NaN, infinity and whole numbers that no float holds


def memories_of(answer: object) -> list[Memory]:
    """Return the memories in a list or an object with `results` (facts 7.17); items that are no objects are left out.

    None is an empty answer. Raises ValueError for anything else, which is no answer to a search.
    """
    if isinstance(answer, Mapping):
        answer = answer.get("results")
        if answer is None:
            raise ValueError("the answer has no results")
    if answer is None:
        return []
    if isinstance(answer, str | bytes) or not isinstance(answer, Sequence):
        kind = type(answer).__name__
        raise ValueError(f"the answer is no list of memories but {kind}")  # noqa: TRY004  (a value that came in, no fault of the caller)
    return [memory_of(item) for item in answer if isinstance(item, Memory | Mapping)]


def memory_of(item: Item) -> Memory:
    """Return `item` as a memory; what is missing or of another type is empty."""
    if isinstance(item, Memory):
        return item
    data, metadata = item.get("data"), item.get("metadata")
    inner = data if isinstance(data, Mapping) else {}
    return Memory(
        id=_text(item.get("id"), item.get("memory_id")),
        memory=_text(item.get("memory"), item.get("text"), inner.get("memory")),
        category=_category(item.get("categories"), item.get("category")),
        score=_number(item.get("score")),
        created_at=_text(item.get("created_at"), item.get("createdAt")),
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )


def _category(categories: object, category: object) -> str:
    names = categories if isinstance(categories, list | tuple) else ()
    return next((name.strip() for name in (*names, category) if isinstance(name, str) and name.strip()), "")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST else None


def _text(*values: object) -> str:
    for value in values:
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""
