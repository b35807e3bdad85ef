"""What is kept of a tool's use: which tool, on what, whether it failed, and a glance at the result (facts 9.1 to 9.9).

Never the text of an edit, never a picture, never a whole output.
"""

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.hooks import bounding, patch, tool_verdict
from memsyncd.hooks.adapter import Tools
from memsyncd.hooks.bounding import Redact

MAX_NAME = 200
MAX_PATH = 1000
MAX_COMMAND = 2000
MAX_PREVIEW = 2500
MAX_KEYS = 20
MAX_KEY = 100
MAX_HASH = 16
"""Characters (facts 9.1 to 9.7); of keys, how many and how long."""

MAX_DURATION_MS = 1e12

CLAUDE_CODE = Tools()

TEXT_KEYS = ("stdout", "stderr", "output", "content", "error")
PREVIEW_KEYS = (*TEXT_KEYS, "filePath", "success", "interrupted")

# A program stands where a command begins: at the start, behind ; & | or (, behind VARIABLE=value, in a shell's -c,
# and behind the programs that run another one.
_BEGINNING = (
    r"(?:^|[;&|(\n`][^\S\n]*|(?<!\S)[A-Za-z_]\w*=\S*\s+|\s-c\s+[\"']?"
    r"|(?:^|[\s/])(?:run|exec|-m|npx|bunx|time|env|sudo|timeout\s+\S+)\s+)(?:[^\s;&|(`]*/)?"
)
_GAP = r"(?:[^\S\n]|\\\n)+"
_WORDS = rf"(?:{_GAP}[^\s;&|]+)*?{_GAP}"
_TEST = re.compile(
    _BEGINNING + r"(?:(?:pytest|py\.test|jest|vitest)\b(?![\w.-])"
    rf"|(?:go|cargo|mvnw?|gradlew?|make){_WORDS}test\b|(?:npm|pnpm|yarn)\s+(?:run\s+)?test\b)"
)
_BUILD = re.compile(
    _BEGINNING + r"(?:(?:npm|pnpm|yarn)\s+(?:run\s+)?build\b"
    rf"|(?:cargo|go|mvnw?|gradlew?|make){_WORDS}build\b)"
)


def capture(
    hook_input: Mapping[str, Any],
    *,
    failed: bool | None,
    directory: str,
    redact: Redact,
    tools: Tools = CLAUDE_CODE,
) -> tuple[str, dict[str, Any]]:
    """Return the kind of event, `tool_failure` or `tool_result`, and its payload, of a call as `tool_call` gives it.

    `failed` is what the event itself says, None where it leaves that to the tool's response; unknown stays None.
    `directory` is where the agent stands: a relative path is made absolute by it, so that a later move changes
    nothing (facts 9.9).
    """
    tool = _name(hook_input.get("tool_name")) or "unknown"
    given = hook_input.get("tool_input")
    tool_input: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    response = hook_input.get("tool_response", hook_input.get("tool_output"))
    if failed is None:
        failed = tool_verdict.has_failed(response, hook_input.get("hook_event_name"), tools)
    agent_id = _name(hook_input.get("agent_id"))
    payload: dict[str, Any] = {"tool": tool, "failed": failed, "agent_role": "subagent" if agent_id else "main"}
    duration = hook_input.get("duration_ms")
    if isinstance(duration, int | float) and not isinstance(duration, bool) and 0 <= duration <= MAX_DURATION_MS:
        payload["duration_ms"] = duration
    if agent_id:
        payload |= {"agent_id": agent_id, "agent_type": _name(hook_input.get("agent_type"))}
    payload |= _what(tool, tool_input, response, _Seen(tools, directory, redact))
    if failed:
        payload["error"] = _error(hook_input.get("error"), response, redact)
    return ("tool_failure" if failed else "tool_result"), payload


@dataclass(frozen=True, slots=True)
class _Seen:
    """With whose tools, from where, and with what taken out a call is looked at."""

    tools: Tools
    directory: str
    redact: Redact


def _what(tool: str, tool_input: Mapping[str, Any], response: object, seen: _Seen) -> dict[str, Any]:
    tools = seen.tools
    if changed := patch.changed(tool_input):
        return _patched(changed, seen)
    command = next((line for key in tools.commands if (line := _command(tool_input.get(key)))), "")
    if tool in tools.files:
        what: dict[str, Any] = {"path": _path(_first(tool_input, tools.paths), seen)}
        return what | ({"mutation_chars": _mutation(tool_input, tools.texts)} if tool in tools.edits else {})
    if command or tool in tools.shells:
        shown = bounding.head(command, MAX_COMMAND, seen.redact)
        return {"command": shown, "kind": kind(command[:MAX_COMMAND]), "preview": preview(response, seen.redact)}
    if tool in tools.searches:
        return {
            key: bounding.head(value, MAX_PATH, seen.redact)
            for key in tools.sought
            if isinstance(value := tool_input.get(key), str) and value
        }
    return {"input_keys": [key[:MAX_KEY] for key in sorted(map(str, tool_input))[:MAX_KEYS]]}


def _patched(changed: patch.Changed, seen: _Seen) -> dict[str, Any]:
    paths = [_path(path, seen) for path in changed.paths[:MAX_KEYS]]
    what: dict[str, Any] = {"path": paths[0] if paths else "", "mutation_chars": changed.new_chars}
    return what | ({"paths": paths} if len(paths) > 1 else {})


def kind(command: str) -> str:
    """Tell what a command line is for: `test`, `build` or `shell` (facts 9.4)."""
    if _TEST.search(command):
        return "test"
    return "build" if _BUILD.search(command) else "shell"


def preview(response: object, redact: Redact) -> dict[str, Any]:
    """Return a glance at a response: its telling fields, cut; if it has none, the names of what it has (facts 9.5).

    Of a text that was cut and of a picture, `left_out` keeps length and hash.
    """
    if isinstance(response, str):
        response = {"output": response}
    elif isinstance(response, list):
        response = {"content": response}
    if not isinstance(response, Mapping):
        return {}
    shown: dict[str, Any] = {key: response[key] for key in PREVIEW_KEYS if isinstance(response.get(key), bool)}
    left_out: dict[str, Any] = {}
    room = MAX_PREVIEW
    for key in TEXT_KEYS:
        text = "" if key in shown else _text(response.get(key))
        is_picture = response.get("isImage") is True or text.startswith("data:image/")
        if text and (is_picture or len(text) > room):
            left_out[key] = bounding.digest(text)
        if text and not is_picture:
            shown[key] = bounding.ends(text, room, redact) if room else ""
            room -= min(room, len(shown[key]))
    if path := _text(response.get("filePath")):
        shown["filePath"] = bounding.head(path, MAX_PATH, redact)
    if not shown and not left_out:
        return {"keys": [key[:MAX_KEY] for key in sorted(map(str, response))[:MAX_KEYS]]}
    return shown | ({"left_out": left_out} if left_out else {})


def _error(error: object, response: object, redact: Redact) -> str:
    told = error.get("message") if isinstance(error, Mapping) else None
    text = _text(told) or _text(error)
    if not text and isinstance(response, Mapping):
        keys = ("error", "stderr", "output", "content", "stdout")
        text = next((found for key in keys if (found := _text(response.get(key)))), "")
    elif not text:
        text = _text(response)
    return bounding.ends(text, MAX_PREVIEW, redact)


def _text(value: object) -> str:
    """Return a value's words: a text, the text blocks of a list, or the JSON of anything else that is not empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        blocks = [block for block in value if isinstance(block, Mapping)]
        if blocks and len(blocks) == len(value):
            return "\n".join(_block(block) for block in blocks)
    if isinstance(value, list | Mapping) and value:
        try:
            return json.dumps(value, ensure_ascii=False)
        except (ValueError, RecursionError):
            return ""
    return ""


def _block(block: Mapping[str, Any]) -> str:
    """Return a block's text; of a picture or another block, its size and what tells it again."""
    text = block.get("text")
    if isinstance(text, str):
        return text
    data = block.get("data") or block.get("source") or block.get("inlineData") or ""
    words = data if isinstance(data, str) else _text(data)
    known = bounding.digest(words)["sha256"][:MAX_HASH]
    return f"[{_name(block.get('type')) or 'block'} of {len(words)} characters, sha256 {known}]"


def _command(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and value and all(isinstance(word, str) for word in value):
        return " ".join(value)
    return ""


def _first(tool_input: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := tool_input.get(key), str) and value), "")


def _path(path: str, seen: _Seen) -> str:
    is_relative = path and not path.startswith(("/", "~", "\\")) and path[1:2] != ":"
    if is_relative and seen.directory.startswith("/"):
        path = posixpath.normpath(posixpath.join(seen.directory, path))
    return bounding.head(path, MAX_PATH, seen.redact)


def _mutation(tool_input: Mapping[str, Any], keys: Sequence[str]) -> int:
    edits = tool_input.get("edits")
    sources: list[object] = [tool_input, *(edits if isinstance(edits, list) else ())]
    return sum(
        len(text)
        for source in sources
        if isinstance(source, Mapping)
        for key in keys
        if isinstance(text := source.get(key), str)
    )


def _name(value: object) -> str:
    return value[:MAX_NAME] if isinstance(value, str) else ""
