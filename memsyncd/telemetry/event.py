"""One telemetry event and its line in the spool (facts 12.3, 12.4). Pure."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SPOOL_NAME = "telemetry.jsonl"
"""The live spool's file below a spool's directory (facts 12.3)."""

PREFIX = "code."

MAX_DEPTH = 100
"""A line with more objects and lists within each other is no event: far beyond any, far below Python's own limit."""

_FIELDS = ("event", "uuid", "timestamp")


@dataclass(frozen=True, slots=True)
class TelemetryEvent:
    """What is sent. `event` is `code.<name>`, `timestamp` RFC 3339; each of the three is empty where a line had none.

    `extra` holds a line's other keys, such as the `distinct_id` an existing plugin's recorder wrote.
    """

    event: str
    uuid: str
    timestamp: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_line(self) -> bytes:
        """Return one line of ASCII JSON with its newline, without nulls (facts 12.4).

        Raises ValueError or TypeError for values that are not JSON (`cleaning.clean` leaves none).
        """
        document = {
            **self.extra,
            "event": self.event,
            "uuid": self.uuid,
            "timestamp": self.timestamp,
            "properties": self.properties,
        }
        return _TO_JSON.encode(_without_nulls(document)).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "TelemetryEvent | None":
        """Return the event in a line, or None for what is none: no JSON object, or a field of another type.

        What JSON does not know (NaN, Infinity, a number beyond any float) reads as null and is left out; a surrogate
        without its other half, which strict readers refuse, as U+FFFD.
        """
        try:
            return cls._from_document(_without_nulls(_FROM_JSON.decode(line.decode("utf-8-sig"))))
        except (ValueError, RecursionError):  # JSONDecodeError and UnicodeDecodeError are ValueErrors
            return None

    @classmethod
    def _from_document(cls, document: Any) -> "TelemetryEvent | None":
        if not isinstance(document, dict):
            return None
        texts = [document.pop(name, "") for name in _FIELDS]
        properties = document.pop("properties", {})
        if not all(isinstance(text, str) for text in texts) or not isinstance(properties, dict):
            return None
        event, uuid, timestamp = texts
        return cls(event, uuid, timestamp, properties, extra=document)


def full_name(name: str) -> str:
    """Return `name` as events carry it: `code.<name>` (facts 12.4)."""
    return name if name.startswith(PREFIX) else PREFIX + name


def whole(text: str) -> str:
    """Return `text` as UTF-8 can carry it: each lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without_nulls(value: Any, depth: int = 0) -> Any:
    """Copy a JSON value without the nulls in its objects; in a list a null keeps its neighbours' places."""
    if isinstance(value, str):
        return whole(value)
    if depth > MAX_DEPTH:
        raise ValueError("too many objects and lists within each other")
    if isinstance(value, Mapping):
        return {whole(key): _without_nulls(item, depth + 1) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(item, depth + 1) for item in value]
    return value


def _no_number(_constant: str) -> None:
    return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_TO_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_FROM_JSON = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
"""Made once: `json.dumps` and `json.loads` would make one for each line."""
