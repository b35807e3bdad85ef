"""What a tool event says, whichever program recorded it (facts 9.1 to 9.9)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from memsyncd.evidence.event import Event

KINDS = frozenset({"tool_result", "tool_failure"})

_CHANGING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
_PLAIN_PATH = re.compile(r"(?:/(?!~|\.{1,2}(?:/|\Z))[^/\\:]+)+")
"""What is the same however it is read: parts of a name each, none of which moves up, and no sign of another system."""

_PATH_KEYS = ("relative_path", "path", "file_path", "notebook_path")
_RESULT_KEYS = ("result", "result_preview", "preview", "output")
_PREVIEW_KEYS = ("stdout", "stderr", "output", "content", "error")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was run. `status` is `failed`, `succeeded`, or `unknown` where nothing says (facts 4.17);
    `kind` is `test`, `build` or `shell`."""

    status: str
    kind: str
    command: str
    result: str


def is_by_main_agent(event: Event) -> bool:
    """Tell whether a tool event is the main agent's own (facts 4.14; `sidekick` is the older name)."""
    role = _text(event.payload, ("agent_role", "role"))
    return role not in ("subagent", "sidekick") and not _text(event.payload, ("agent_id",))


def changed_path(event: Event, root: str) -> str:
    """Return the file an event changed, relative to `root`; empty if none was, or one outside it (facts 4.15)."""
    changes = _text(event.payload, ("tool", "tool_name")) in _CHANGING or "mutation_chars" in event.payload
    if not changes or _status(event) == "failed":
        return ""
    return relative(_text(event.payload, _PATH_KEYS), root)


def command(event: Event) -> Command | None:
    """Return the command an event ran, if it is such an event."""
    line = _text(event.payload, ("command",))
    if not line:
        return None
    kind = _text(event.payload, ("kind", "command_kind")) or "shell"
    return Command(_status(event), kind, line, _result(event))


def relative(path: str, root: str) -> str:
    """Return `path` relative to `root` with forward slashes; empty where it lies outside."""
    if root[:1] == "/" != root[1:2] and path.startswith(f"{root}/") and _PLAIN_PATH.fullmatch(path, len(root)):
        return path[len(root) + 1 :]
    if PureWindowsPath(path).drive or PureWindowsPath(root).drive:
        place: PurePosixPath | PureWindowsPath = PureWindowsPath(path)
        base: PurePosixPath | PureWindowsPath = PureWindowsPath(root)
    else:
        place, base = PurePosixPath(path), PurePosixPath(root)
    if place.is_absolute():
        if not root or not place.is_relative_to(base):
            return ""
        place = place.relative_to(base)
    text = place.as_posix()
    return "" if text == "." or text.startswith("~") or ".." in place.parts else text


def _status(event: Event) -> str:
    failed = event.payload.get("failed")
    if event.kind == "tool_failure" or failed is True:
        return "failed"
    return "succeeded" if failed is False else "unknown"


def _result(event: Event) -> str:
    for key in ("error", *_RESULT_KEYS) if _status(event) == "failed" else _RESULT_KEYS:
        value = event.payload.get(key)
        if isinstance(value, dict):
            value = "\n".join(text for name in _PREVIEW_KEYS if (text := _text(value, (name,))))
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _text(payload: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
