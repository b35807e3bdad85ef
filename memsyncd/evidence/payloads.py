"""Payloads as JSON text, and the cleaning of half characters (never-again 113)."""

import json
from collections.abc import Mapping
from typing import Any


def clean(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD; else the same object."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def encode(payload: Mapping[str, Any]) -> str:
    """Return the payload's JSON text, fit for UTF-8."""
    return clean(json.dumps(payload, ensure_ascii=False, separators=(",", ":"), check_circular=False))


def decode(text: object) -> Mapping[str, Any] | None:
    """Return the object in stored JSON `text`, or None where it is none."""
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
