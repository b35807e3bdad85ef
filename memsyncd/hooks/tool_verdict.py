"""Whether a tool has failed, by what its response says (facts 9.7). Where nothing says, nobody knows."""

import re
from collections.abc import Mapping

from memsyncd.hooks.adapter import Tools

EXIT_CODE_KEYS = ("exit_code", "exitCode", "returncode", "returnCode", "return_code")
MAX_TOLD = 100
"""Characters at an output's end, or at its beginning, among which may be told what became of the tool."""


def has_failed(response: object, event: object, tools: Tools) -> bool | None:
    """Return whether a response to an `event` says that the tool failed: by exit code, then isError, then success, then
    by what its harness alone says. A boolean is no exit code.

    A shell's response of Claude Code has none of these, but tells whether it was `interrupted`; the event PostToolUse
    comes only after success (hooks-and-apis 1A), so one that was not has succeeded.
    """
    if not isinstance(response, Mapping):
        told = _told(response, tools) if isinstance(response, str) else None
        return False if told is None and tools.success_event and event == tools.success_event else told
    code = _exit_code(response, tools)
    if code is not None:
        return code != 0
    flags = [(key, True) for key in ("isError", "is_error")] + [("success", False)]
    for key, means_failure in flags:
        if isinstance(response.get(key), bool):
            return response[key] is means_failure
    return _by_harness(response, event, tools)


def _by_harness(response: Mapping[str, object], event: object, tools: Tools) -> bool | None:
    for verdict in map(response.get, tools.verdict_keys):
        if isinstance(verdict, str) and verdict in tools.verdicts:
            return tools.verdicts[verdict]
    if tools.has_error_key and response.get("error"):
        return True
    for text in map(response.get, tools.outputs):
        if isinstance(text, str) and (told := _told(text, tools)) is not None:
            return told
    return False if event == "PostToolUse" and response.get("interrupted") is False else None


def _told(text: str, tools: Tools) -> bool | None:
    ends = text[:MAX_TOLD], text[-MAX_TOLD:]
    return next((has for told, has in tools.verdicts_told.items() if any(re.search(told, end) for end in ends)), None)


def _exit_code(response: Mapping[str, object], tools: Tools) -> int | None:
    about = response.get("metadata")
    for told in (response, about if isinstance(about, Mapping) else {}):
        for key in EXIT_CODE_KEYS:
            code = told.get(key)
            if isinstance(code, int) and not isinstance(code, bool):
                return code
    for text in map(response.get, tools.outputs if tools.exit_told else ()):
        told_last = re.search(tools.exit_told, text[-MAX_TOLD:]) if isinstance(text, str) else None
        if told_last:
            return int(told_last[1])
    return None
