"""`hooks` with a list for each event: of handlers (Cursor, Copilot, Windsurf), or of groups that hold handlers behind a
matcher (Claude Code, Codex, Gemini CLI). JSON.

An entry of an older version is replaced where it stands, and a new one comes last: Codex knows an approved hook by its
place in the list, and everybody else's keep theirs (hooks-and-apis 1B).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from daemon.installing.editing import json_edit
from daemon.installing.entry import ANY, Entry
from daemon.installing.harness import Harness
from daemon.installing.own_lines import own_handler

HOOKS = "hooks"
VERSION = "version"


@dataclass(frozen=True, slots=True)
class EventLists:
    """The form; `is_grouped` where handlers stand in groups."""

    is_grouped: bool

    def entries(self, text: str, harness: Harness) -> tuple[Entry, ...]:  # noqa: ARG002  (Form's signature)
        """Return every entry; what is no entry as the harness reads them is passed over."""
        return tuple(
            Entry(event, handler, narrowed)
            for event, items in _events(json_edit.read(text)).items()
            for item in items
            for handler, narrowed in self._handlers(item)
        )

    def install(self, text: str, wanted: Sequence[Entry], harness: Harness) -> str:
        """Return the text with exactly `wanted` as ours."""
        if harness.version is not None and VERSION not in _root(text):
            text = json_edit.put(text, (VERSION,), harness.version)
        wants = {entry.event: entry.handler for entry in wanted}
        for event in self._own_events(text):
            if event not in wants:
                text = self._drop_if_bare(self._cleared(text, event), (HOOKS, event), {})
        for event, handler in wants.items():
            text = self._set(text, event, handler)
        return text

    def uninstall(self, text: str, before: str | None, harness: Harness) -> str:
        """Return the text without ours, and without the lists that were made for them."""
        known = _root(before) if before is not None else {}
        for event in self._own_events(text):
            text = self._drop_if_bare(self._cleared(text, event), (HOOKS, event), known)
        text = self._drop_if_bare(text, (HOOKS,), known)
        root = _root(text)
        if before is not None and harness.version is not None and HOOKS not in root and VERSION not in known:
            text = json_edit.remove(text, (VERSION,)) if root.get(VERSION) == harness.version else text
        return text

    def _set(self, text: str, event: str, handler: Mapping[str, Any]) -> str:
        items = _events(_root(text)).get(event, [])
        own = [(index, found) for index, item in enumerate(items) for found in self._handlers(item) if _is_own(found)]
        if [found for _, found in own] == [(handler, False)]:
            return text
        entry: dict[str, Any] = {"hooks": [handler]} if self.is_grouped else dict(handler)
        slot = next((index for index, _ in own if self._is_all_ours(items[index])), None)
        text = self._cleared(text, event, keep=slot)
        if slot is not None:
            return json_edit.put(text, (HOOKS, event, slot), entry)
        return json_edit.append(text, (HOOKS, event), entry)

    def _cleared(self, text: str, event: str, *, keep: int | None = None) -> str:
        """Return the text without our handlers for an event, nor groups that held nothing else; not the item `keep`."""
        items = _events(_root(text)).get(event, [])
        for index in reversed(range(len(items))):
            if index == keep:
                continue
            if self._is_all_ours(items[index]):
                text = json_edit.remove(text, (HOOKS, event, index))
            elif self.is_grouped:
                for place in reversed(_own_places(items[index])):
                    text = json_edit.remove(text, (HOOKS, event, index, HOOKS, place))
        return text

    def _own_events(self, text: str) -> list[str]:
        events = _events(_root(text))
        return [event for event, items in events.items() if any(map(_is_own, self._all(items)))]

    def _all(self, items: Sequence[Any]) -> list[tuple[Mapping[str, Any], bool]]:
        return [found for item in items for found in self._handlers(item)]

    def _handlers(self, item: Any) -> list[tuple[Mapping[str, Any], bool]]:
        """Return the handlers in one item of a list, each with whether it is narrowed by a matcher."""
        if not isinstance(item, dict):
            return []
        narrowed = item.get("matcher") not in ANY
        if not self.is_grouped:
            return [(item, narrowed)]
        handlers = item.get(HOOKS)
        return [(handler, narrowed) for handler in handlers if isinstance(handler, dict)] if _is_list(handlers) else []

    def _is_all_ours(self, item: Any) -> bool:
        found = self._handlers(item)
        count = len(item[HOOKS]) if found and self.is_grouped else len(found)
        return bool(found) and len(found) == count and all(map(_is_own, found))

    @staticmethod
    def _drop_if_bare(text: str, path: tuple[str, ...], known: Mapping[str, Any]) -> str:
        """Return the text without an empty list or object, unless it was there before us."""
        for step in path:
            if not isinstance(known, Mapping) or step not in known:
                break
            known = known[step]
        else:
            return text
        return json_edit.remove(text, path) if json_edit.is_bare(text, path) else text


def _root(text: str) -> Mapping[str, Any]:
    root = json_edit.read(text)
    return root if isinstance(root, dict) else {}


def _events(root: Any) -> Mapping[str, list[Any]]:
    hooks = root.get(HOOKS) if isinstance(root, dict) else None
    return {event: items for event, items in hooks.items() if _is_list(items)} if isinstance(hooks, dict) else {}


def _is_own(found: tuple[Mapping[str, Any], bool]) -> bool:
    return own_handler(found[0]) is not None


def _own_places(group: Any) -> list[int]:
    handlers = group.get(HOOKS) if isinstance(group, dict) else None
    if not _is_list(handlers):
        return []
    return [place for place, item in enumerate(handlers) if isinstance(item, dict) and own_handler(item) is not None]


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
