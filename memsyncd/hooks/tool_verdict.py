"""Whether a tool has failed, by what its response says (facts 9.7). Where nothing says, nobody knows."""

import re
from collections.abc import Mapping

from memsyncd.hooks.adapter import Tools

EXIT_CODE_KEYS = ("exit_code", "exitCode", "returncode", "returnCode", "return_code")
MAX_TOLD = 100
"""Characters at an output's end, or beginning, among which its exit code, or failure, may be told."""


def has_failed(response: object, event: object, tools: Tools) -> bool | None:
    """Return whether a response to an `event` says that the tool failed: by exit code, then isError, then success, then
    by what its harness alone says. A boolean is no exit code.

    A shell's response of Claude Code has none of these, but tells whether it was `interrupted`; the event PostToolUse
    comes only after success (hooks-and-apis 1A), so one that was not has succeeded.
    """
    if isinstance(response, str) and tools.failure_told:
        told_first = re.match(tools.failure_told, response[:MAX_TOLD])
        return bool(told_first[1]) if told_first else None
    if not isinstance(response, Mapping):
        return None
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
    return False if event == "PostToolUse" and response.get("interrupted") is False else None


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
