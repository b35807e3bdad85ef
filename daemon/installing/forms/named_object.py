"""Objects by name that hold lists of handlers for events; ours is the one named `memsyncd` (Antigravity). JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from daemon.installing.editing import json_edit
from daemon.installing.entry import ANY, Entry
from daemon.installing.errors import Unfit
from daemon.installing.harness import Harness

NAME = "memsyncd"


class NamedObject:
    """The form."""

    def entries(self, text: str, harness: Harness) -> tuple[Entry, ...]:  # noqa: ARG002  (Form's signature)
        """Return every entry of every object."""
        root = json_edit.read(text)
        objects = root.values() if isinstance(root, dict) else ()
        return tuple(entry for value in objects for entry in _entries(value))

    def install(self, text: str, wanted: Sequence[Entry], harness: Harness) -> str:  # noqa: ARG002  (Form's)
        """Return the text with our object as wanted, and no other that holds nothing but lines of ours."""
        root = json_edit.read(text)
        if text.strip() and not _is_strict(text):
            raise Unfit("a comment, or a comma behind the last item, makes its harness ignore all of it; take that out")
        if not isinstance(root, dict):
            raise Unfit("the document is no object, so nothing can be put into it")
        for name, value in root.items():
            if name != NAME and _is_ours(value):
                text = json_edit.remove(text, (name,))
        wants: dict[str, Any] = {"enabled": True} | {entry.event: [dict(entry.handler)] for entry in wanted}
        found = root.get(NAME)
        if found == wants:
            return text
        if found is not None and not _is_ours(found):
            raise Unfit(f"{NAME} holds what memsyncd did not write; rename it or take it out")
        return json_edit.put(text, (NAME,), wants)

    def uninstall(self, text: str, before: str | None, harness: Harness) -> str:  # noqa: ARG002  (Form's)
        """Return the text without objects of ours."""
        root = json_edit.read(text)
        for name, value in root.items() if isinstance(root, dict) else ():
            if _is_ours(value):
                text = json_edit.remove(text, (name,))
        return text


def _is_strict(text: str) -> bool:
    """Tell whether a text is JSON and nothing more: anything else is dropped whole (hooks-and-apis 1E)."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_ours(value: Any) -> bool:
    entries = list(_entries(value))
    return bool(entries) and all(entry.is_ours for entry in entries)


def _entries(value: Any) -> Iterator[Entry]:
    """Yield an object's entries: handlers in the list itself, or in groups behind a matcher."""
    for event, items in value.items() if isinstance(value, dict) else ():
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict):
                continue
            inner = item.get("hooks")
            if not isinstance(inner, list):
                yield Entry(event, item)
                continue
            narrowed = item.get("matcher") not in ANY
            yield from (Entry(event, handler, narrowed) for handler in inner if isinstance(handler, Mapping))
