"""Fields of a transcript's line, each of which may be missing or of another type."""

from collections.abc import Mapping, Sequence
from typing import Any

from memsyncd.clock import from_rfc3339
from memsyncd.evidence.payloads import clean

MAX_ID = 200
_MILLISECONDS = 1e11
"""Numbers above are milliseconds: as seconds they would be beyond the year 5000."""

_LATEST = 1e14
"""Milliseconds of about the year 5100; a larger number is no time."""

_NOTHING: Mapping[str, Any] = {}


def text(value: object) -> str:
    """Return a text without half characters; of another type, an empty one."""
    return clean(value) if isinstance(value, str) else ""


def name(value: object) -> str:
    """Return an id: a text, or a whole number as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 1 << 63 else ""
    return text(value)[:MAX_ID]


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def objects(value: object) -> Sequence[Mapping[str, Any]]:
    """Return the objects in a list, or none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else ()


def words(content: object, kinds: frozenset[str] = frozenset({"text", ""}), *, joint: str = "\n") -> str:
    """Return a content's words: the text itself, or the texts of its parts of the `kinds` given."""
    if isinstance(content, list):
        parts = (text(part.get("text")) for part in objects(content) if text(part.get("type")) in kinds)
        return joint.join(part for part in parts if part.strip())
    return text(content)


def moment(value: object) -> float | None:
    """Return Unix seconds for ISO 8601 text, seconds or milliseconds; None for anything else."""
    if isinstance(value, str):
        return from_rfc3339(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LATEST:
        return None
    return value / 1000 if value > _MILLISECONDS else float(value)
