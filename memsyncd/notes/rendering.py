"""From a document to the text a tool answers: JSON or markdown, always whole, never above MAX_ANSWER_CHARS. Pure.

What is cut is a value or the number of results, before the text is made; the text itself is never cut (defect 9).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memsyncd.notes.answers import Document, found, listed, recalled
from memsyncd.notes.limits import MAX_ANSWER_CHARS, MAX_SEARCH_VALUE_CHARS
from memsyncd.notes.note import Found, NamespaceCount, Note

SHORTEST_VALUE = 40
"""Characters of a value that a search result keeps; where that is too much, results are left out."""


def rendered(document: Document, answer_format: str) -> str:
    """Return the text of a document."""
    return as_json(document) if answer_format == "json" else as_markdown(document)


def as_json(document: Document) -> str:
    """Return JSON with letters of all scripts as they are."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def as_markdown(document: Document) -> str:
    """Return a heading and a line for each entry, lists as sections, a note's value last and as it is."""
    lines = ["## Error" if document.get("status") == "error" else "## Success", ""]
    body = [name for name in document if name not in ("status", "isError", "value")]
    for name in body:
        entry = document[name]
        if isinstance(entry, Sequence) and not isinstance(entry, str):
            lines += _section(name, entry)
        else:
            lines.append(f"**{name}:** {_plain(name, entry)}")
    if "value" in document:
        lines += ["**value:**", "", str(document["value"])]
    return "\n".join(lines)


def fitting_note(note: Note, answer_format: str) -> tuple[Document, str]:
    """Return a recalled note with as much of its value as fits, and the text."""
    return _fitting(lambda chars: recalled(note, chars), len(note.value), answer_format)


def fitting_search(query: str, outcome: Found, answer_format: str) -> tuple[Document, str]:
    """Return a search's results: first their values are cut, alike, then the last ones left out."""
    hits = outcome.hits
    document, text = _fitting(
        lambda more: found(query, outcome, hits, SHORTEST_VALUE + more),
        MAX_SEARCH_VALUE_CHARS - SHORTEST_VALUE,
        answer_format,
    )
    if len(text) <= MAX_ANSWER_CHARS:
        return document, text
    return _fitting(lambda count: found(query, outcome, hits[:count], SHORTEST_VALUE), len(hits), answer_format)


def fitting_list(counts: Sequence[NamespaceCount], answer_format: str) -> tuple[Document, str]:
    """Return as many namespaces as fit."""
    return _fitting(lambda shown_count: listed(counts, shown_count), len(counts), answer_format)


def _fitting(make: Callable[[int], Document], most: int, answer_format: str) -> tuple[Document, str]:
    """Return the document, and its text, of the highest amount up to `most` whose text fits; that of 0 where none."""
    document = make(most)
    text = rendered(document, answer_format)
    if len(text) <= MAX_ANSWER_CHARS:
        return document, text
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if len(rendered(make(middle), answer_format)) <= MAX_ANSWER_CHARS:
            low = middle
        else:
            high = middle
    document = make(low)
    return document, rendered(document, answer_format)


def _section(name: str, entries: Sequence[Any]) -> Sequence[str]:
    lines = ["", f"### {name}", ""]
    if not entries:
        return [*lines, "none"]
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, Mapping):
            lines.append(f"{number}. " + _entry(entry))
        else:
            lines.append(f"- {entry}")
    return lines


def _entry(entry: Document) -> str:
    return "\n   ".join(f"**{name}:** {_plain(name, each)}" for name, each in entry.items())


def _plain(name: str, entry: Any) -> str:
    """Return an entry on one line: a text that holds line ends or other signs of control as JSON writes it."""
    if entry is None:
        return "never" if name == "expires_at" else "none"
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if name == "expires_at":
        return datetime.fromtimestamp(entry, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    text = str(entry)
    return text if text.isprintable() and text == text.strip() else json.dumps(text, ensure_ascii=False)
