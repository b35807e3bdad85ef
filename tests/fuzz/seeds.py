"""Inputs to begin with, from what the other tests hold: recorded payloads, handoffs of yesterday, sessions."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.fuzz.planted import MARK
from tests.memsyncd.hooks import payloads

TESTS = Path(__file__).parent.parent


def of_file(*parts: str) -> Sequence[bytes]:
    """Return the contents of the files below `tests` that a pattern names."""
    return [path.read_bytes() for path in sorted(TESTS.glob("/".join(parts)))]


def line(document: Any) -> bytes:
    """Return JSON on one line."""
    return json.dumps(document).encode()


def with_secret(document: Any) -> Any:
    """Return a JSON document with the mark of the secret behind each of its texts of several words."""
    if isinstance(document, str):
        return f"{document} {MARK.decode()} end" if " " in document else document
    if isinstance(document, dict):
        return {key: with_secret(value) for key, value in document.items()}
    return [with_secret(value) for value in document] if isinstance(document, list) else document


def handoffs() -> Iterator[bytes]:
    """Yield a handoff of each recorded payload, the event's own name or CONTRACT's as its action."""
    actions = ("session-start", "user-prompt", "post-tool", "post-tool-failure", "stop", "subagent-start",
               "subagent-stop", "flush", "unknown")  # fmt: skip
    for number, recorded in enumerate(payloads.recorded()):
        told = [name for name in actions if _is_like(recorded.event, name)] or ["unknown"]
        for action in told:
            yield line(
                {
                    "v": 1,
                    "id": f"{number:06}",
                    "harness": recorded.harness,
                    "action": action,
                    "captured_at": "2027-01-15T07:00:00.000Z",
                    "process": {"pid": 4711, "started": 12345, "namespace": "pid:[4026531836]"},
                    "cwd": "/home/dev/shop",
                    "hook_input": with_secret(recorded.hook_input) if number % 2 else recorded.hook_input,
                }
            )
    yield from of_file("fixtures", "yesterday", "pending", "*.json")
    yield line({"hook_input": {"session_id": "s"}, "reason": "idle", "wait_for_inflight": True, "delay_seconds": 300})
    yield line(
        {"action": "user-prompt", "harness": "codex", "hook_input": {}, "raw": f'{{"session_id": "s {MARK.decode()}'}
    )


def _is_like(event: str, action: str) -> bool:
    plain = event.lower().replace("_", "").replace("-", "")
    return any(word in plain for word in _LIKE[action])


_LIKE = {
    "session-start": ("sessionstart", "sessioncreated"),
    "user-prompt": ("prompt", "chatmessage", "beforeagent", "preinvocation"),
    "post-tool": ("posttool", "aftertool", "aftershell", "afterfile", "aftermcp", "toolexecuteafter"),
    "post-tool-failure": ("failure",),
    "stop": ("stop", "afteragent", "idle", "response", "postinvocation"),
    "subagent-start": ("subagentstart",),
    "subagent-stop": ("subagentstop",),
    "flush": ("sessionend", "compact"),
    "unknown": ("notification", "permission"),
}
