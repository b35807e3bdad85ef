"""What a tool was called with, checked: each message says what would be accepted. Pure."""

import difflib
import json
from collections.abc import Mapping
from typing import Any

from memsyncd.notes.catalogue import FORMATS, Tool
from memsyncd.notes.cleaning import checked_key, checked_namespace
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.limits import MAX_QUERY_CHARS, MAX_TTL_SECONDS, MIN_TTL_SECONDS
from memsyncd.recall.cutting import repaired

SHOWN_CHARS = 80
"""Of something wrong that a message repeats."""

_KINDS = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}


def shown(name: object) -> str:
    """Return something given in quotation marks, cut, fit for a message whatever is in it; what is no text as in JSON,
    in which it was given."""
    text = repaired(name if isinstance(name, str) else json.dumps(name, ensure_ascii=False, default=str))
    return json.dumps(text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…", ensure_ascii=False)


def known(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments given, without those left open by null. Raises NoteRefused where one is not the tool's, or
    one that it needs is missing."""
    names = [argument.name for argument in tool.arguments]
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(str(name)[:SHOWN_CHARS], names, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            takes = ", ".join(names) or "none"
            raise NoteRefused(f"{tool.name} has no argument {shown(name)}{meant}. It takes {takes}")
    missing = [argument.name for argument in tool.arguments if argument.required and argument.name not in given]
    if missing:
        raise NoteRefused(f"{tool.name} needs {' and '.join(missing)}")
    optional = {argument.name for argument in tool.arguments if not argument.required}
    return {name: value for name, value in given.items() if value is not None or name not in optional}


def key(given: object) -> str:
    """Return a key as it is."""
    return checked_key(_text("key", given))


def namespace(given: object) -> str:
    """Return a namespace as it is."""
    return checked_namespace(_text("namespace", given))


def value(given: object) -> str:
    """Return a value as it is; the store cleans it."""
    return _text("value", given)


def query(given: object) -> str:
    """Return what to look for."""
    text = repaired(_text("query", given))
    if not text.strip():
        raise NoteRefused("query must not be blank: give some words to look for")
    if len(text) > MAX_QUERY_CHARS:
        raise NoteRefused(
            f"query has {len(text):,} characters, more than {MAX_QUERY_CHARS:,}: give the words that matter"
        )
    return text


def ttl_seconds(given: object) -> int | None:
    """Return a time to live: whole seconds, at least one (defect 8), or None for never."""
    if given is None:
        return None
    seconds = _whole("ttl_seconds", given)
    if not MIN_TTL_SECONDS <= seconds <= MAX_TTL_SECONDS:
        raise NoteRefused(
            f"ttl_seconds must be from {MIN_TTL_SECONDS} to {MAX_TTL_SECONDS}; leave it out for a note that never"
            " expires"
        )
    return seconds


def limit(given: object) -> int:
    """Return how many results are wanted; the store brings it into its bounds (defect 13)."""
    return _whole("limit", given)


def answer_format(given: object) -> str:
    """Return the answer's format."""
    if given not in FORMATS:
        raise NoteRefused(f"format must be {' or '.join(FORMATS)}, not {shown(given)}")
    return str(given)


def _text(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise NoteRefused(f"{name} must be text, not {_KINDS.get(type(given), 'something else')}")
    return given


def _whole(name: str, given: object) -> int:
    """Return a whole number; 60.0 is one, as JSON schema has it."""
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, bool) or not isinstance(given, int):
        what = "a fraction" if isinstance(given, float) else _KINDS.get(type(given), "text")
        raise NoteRefused(f"{name} must be a whole number, not {what}")
    return given
