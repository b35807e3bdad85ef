"""Looking for a value in a hook's JSON, any part of which may be missing or of another type. Nothing here raises."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from memsyncd.hooks.adapter import Path, Paths


def value(document: Mapping[str, Any], paths: Paths) -> Any:
    """Return the first value that is there and not null; None where there is none."""
    for path in paths:
        found = _at(document, path)
        if found is not None:
            return found
    return None


def text(document: Mapping[str, Any], paths: Paths) -> str:
    """Return the first text that is not empty; an empty one where there is none."""
    for path in paths:
        found = _at(document, path)
        if found and isinstance(found, str):
            return found
    return ""


def words(document: Mapping[str, Any], paths: Paths) -> str:
    """Return the first text that has words, or that of the text parts of a list of them, as some send a prompt."""
    for path in paths:
        found = as_words(_at(document, path))
        if found.strip():
            return found
    return ""


def as_words(found: object) -> str:
    """Return a text, a part's text, or those of a list of texts and parts; of anything else, an empty text."""
    if isinstance(found, str):
        return found
    parts = found if isinstance(found, list) else (found,)
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def unread(document: Mapping[str, Any], keys: AbstractSet[str], paths: Paths) -> dict[str, Any]:
    """Return what lies where a text is looked for, at `keys` or `paths`, and is none: nobody reads it there."""
    found = {key: document[key] for key in keys & document.keys() if is_unread(document[key])}
    for path in paths:
        inner = _at(document, path)
        if is_unread(inner):
            found[".".join(map(str, path))] = inner
    return found


def is_unread(found: object) -> bool:
    """Whether something is there and is no text, nor has one in it."""
    return bool(found) and not isinstance(found, str) and not as_words(found).strip()


def has(document: Mapping[str, Any], paths: Paths) -> bool:
    """Whether one of the places is there, be it empty."""
    return value(document, paths) is not None


def _at(document: Any, path: Path) -> Any:
    if len(path) == 1:  # nearly all are: a backlog's ingest feels the difference
        return document.get(path[0])
    for step in path:
        if isinstance(step, int):
            is_there = isinstance(document, list) and -len(document) <= step < len(document)
        else:
            is_there = isinstance(document, Mapping) and step in document
        if not is_there:
            return None
        document = document[step]
    return document
