"""Looking for a value in a hook's JSON, any part of which may be missing or of another type. Nothing here raises."""

from collections.abc import Mapping
from typing import Any

from memsyncd.hooks.adapter import Path, Paths


def value(document: Mapping[str, Any], paths: Paths) -> Any:
    """Return the first value that is there and not null; None where there is none."""
    return next((found for path in paths if (found := _at(document, path)) is not None), None)


def text(document: Mapping[str, Any], paths: Paths) -> str:
    """Return the first text that is not empty; an empty one where there is none."""
    return next((found for path in paths if isinstance(found := _at(document, path), str) and found), "")


def words(document: Mapping[str, Any], paths: Paths) -> str:
    """Return the first text that has words, or that of the text parts of a list of them, as some send a prompt."""
    return next((found for path in paths if (found := as_words(_at(document, path))).strip()), "")


def as_words(found: object) -> str:
    """Return a text, or the text parts of a list of them; of anything else, an empty text."""
    if isinstance(found, list):
        parts = (part.get("text") for part in found if isinstance(part, Mapping))
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    return found if isinstance(found, str) else ""


def has(document: Mapping[str, Any], paths: Paths) -> bool:
    """Whether one of the places is there, be it empty."""
    return any(_at(document, path) is not None for path in paths)


def _at(document: Any, path: Path) -> Any:
    for step in path:
        if isinstance(step, int):
            is_there = isinstance(document, list) and -len(document) <= step < len(document)
        else:
            is_there = isinstance(document, Mapping) and step in document
        if not is_there:
            return None
        document = document[step]
    return document
