"""Objects by name that hold lists of handlers for events; ours is the one named `memsyncd` (Antigravity). JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from daemon.installing.editing import json_edit
from daemon.installing.entry import ANY, Entry
from daemon.installing.errors import Unfit
from daemon.installing.harness import Harness

NAME = "memsyncd"
ENABLED = "enabled"

MAX_LIMIT = 1 << 31


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
        if not isinstance(root, dict):
            raise Unfit("the document is no object, so nothing can be put into it")
        if text.strip() and (told := fault(text)):
            raise Unfit(f"{told} makes its harness ignore all of it; put that right first")
        for name, value in root.items():
            if name != NAME and _is_ours(value):
                text = json_edit.remove(text, (name,))
        wants: dict[str, Any] = {ENABLED: True} | {entry.event: [dict(entry.handler)] for entry in wanted}
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


def fault(text: str) -> str:
    """Return what in a text makes Antigravity drop all of it, ours included, with no word but in a log (hooks-and-apis
    1E); "" for nothing."""
    try:
        root = json.loads(text)
    except ValueError:
        return "a comment, a comma behind the last item, a byte-order mark or another thing that plain JSON has not"
    objects = root.items() if isinstance(root, dict) else [("the document", root)]
    return next((told for name, value in objects if (told := _fault_of_object(name, value))), "")


def _fault_of_object(name: str, value: Any) -> str:
    if not isinstance(value, dict):
        return f"{name}, which is no object,"
    for event, items in value.items():
        if event == ENABLED:
            if not isinstance(items, bool):
                return f"{name}.{ENABLED}, which is neither true nor false,"
        elif not _is_list_of_objects(items):
            return f"{name}.{event}, which is no list of objects,"
        elif any("hooks" in item and not _is_list_of_objects(item["hooks"]) for item in items):
            return f"{name}.{event}, in which hooks is no list of objects,"
    wrong = next((entry for entry in _entries(value) if not _is_handler(entry.handler)), None)
    return "" if wrong is None else f"{name}.{wrong.event}, which has a handler of another form,"


def _is_handler(handler: Mapping[str, Any]) -> bool:
    limit = handler.get("timeout", 0)
    texts = (handler.get(key, "") for key in ("type", "command", "prompt", "model"))
    is_command = handler.get("type", "command") == "command"
    return (
        all(isinstance(text, str) for text in texts)
        and not (is_command and ("prompt" in handler or "model" in handler))
        and isinstance(limit, int)
        and not isinstance(limit, bool)
        and abs(limit) < MAX_LIMIT
    )


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


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
