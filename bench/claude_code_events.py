"""Handoffs of a Claude Code user as our hook leaves them, made here without the cost of starting a hook."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memsyncd.hooks import envelope, spool

HARNESS = "claude-code"

_OUTPUT = "\n".join(f"tests/test_basket_{n}.py::test_total_{n} PASSED  [{n}%]" for n in range(10, 34))
_SOURCE = "\n".join(
    f"def total_{n}(basket, rate):\n    return sum(i.price for i in basket) * (1 + rate)" for n in range(12)
)
_ANSWER = (
    "The basket's total was rounded once for each line and once more at the end, which is where the missing cent went. "
    "I moved the rounding into one place and left the lines in full precision. "
)


class Dropper:
    """Writes handoffs below the data directory `data` as a hook does: whole, synced, renamed, then nudged."""

    def __init__(self, data: Path, project: Path) -> None:
        self._data = os.fsencode(data)
        self._project = str(project)
        self._numbers = 0
        self._around = envelope.surroundings(HARNESS)
        self._pending = -1

    def drop(self, action: str, hook_input: Mapping[str, Any], *, reason: str = "", nudge: bool = True) -> str:
        """Leave one handoff; return its stem. Without `nudge` only a watcher tells of it, as with a plugin's."""
        self._numbers += 1
        now = time.time_ns()
        name = f"{now:016x}-{self._numbers:x}-{os.urandom(4).hex()}"
        head = envelope.head(envelope.Event(now, action, HARNESS, reason), name, self._around)
        umask = os.umask(0o077)
        try:
            if self._pending < 0:  # a hook opens it each time and leaves the closing to its end
                self._pending = spool.open_pending(self._data, HARNESS)
            spool.write(self._pending, name, (head.encode(), json.dumps(hook_input).encode(), b"}\n"), [])
        finally:
            os.umask(umask)
        if nudge:
            spool.nudge(self._data)
        return name

    def prompt(self, session: str, turn: int, *, nudge: bool = True) -> str:
        """Leave a prompt."""
        return self.drop("user-prompt", self.prompt_input(session, turn), nudge=nudge)

    def answer(self, session: str, turn: int, *, nudge: bool = True) -> str:
        """Leave an answer."""
        return self.drop("stop", self.answer_input(session, turn), nudge=nudge)

    def end(self, session: str, *, nudge: bool = True) -> str:
        """Leave a session's end."""
        given = {**self._common(session, 0, "SessionEnd"), "reason": "other"}
        return self.drop("flush", given, reason="session-end", nudge=nudge)

    def prompt_input(self, session: str, turn: int) -> dict[str, Any]:
        """Return what the harness tells of a prompt."""
        words = f"Question {turn}: the total of basket {session} is a cent too low, find out why and mend it. " * 6
        return {**self._common(session, turn, "UserPromptSubmit"), "prompt": words}

    def answer_input(self, session: str, turn: int) -> dict[str, Any]:
        """Return what the harness tells at the end of a turn."""
        return {
            **self._common(session, turn, "Stop"),
            "last_assistant_message": f"Turn {turn} of {session}. " + _ANSWER * 5,
        }

    def day(self, handoffs: int, sessions: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield `handoffs` records (action, hook input) of 1 to 2 KB, of `sessions` sessions that take turns.

        A turn is a prompt, a file read, a command that fails, one that works, an edit, and an answer.
        """
        for number in range(handoffs):
            turn, step = divmod(number // sessions, 6)
            yield self._step(f"s{number % sessions}", turn, step)

    def _step(self, session: str, turn: int, step: int) -> tuple[str, dict[str, Any]]:
        if step == 0:
            return "user-prompt", self.prompt_input(session, turn)
        if step == 5:
            return "stop", self.answer_input(session, turn)
        path = f"{self._project}/shop/basket_{turn}.py"
        name, given, told = (
            ("Read", {"file_path": path}, {"type": "text", "file": {"filePath": path, "content": _SOURCE}}),
            ("Bash", {"command": f"pytest tests/test_basket_{turn}.py -q", "description": "Run the tests"}, None),
            (
                "Bash",
                {"command": f"make check TESTS=tests/test_basket_{turn}.py", "description": "Run the tests"},
                {"stdout": _OUTPUT, "stderr": "", "interrupted": False, "isImage": False},
            ),
            (
                "Edit",
                {"file_path": path, "old_string": _SOURCE[:400], "new_string": _SOURCE[400:900]},
                {
                    "filePath": path,
                    "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": _SOURCE[:300].split("\n")}],
                },
            ),
        )[step - 1]
        tool = {
            "tool_name": name,
            "tool_input": given,
            "tool_use_id": f"toolu_{session}_{turn}_{step}",
            "duration_ms": 40,
        }
        if told is None:
            failure = {
                "error": "Exit code 4\nModuleNotFoundError: No module named 'shop'\n" + _OUTPUT,
                "is_interrupt": False,
            }
            return "post-tool-failure", {**self._common(session, turn, "PostToolUseFailure"), **tool, **failure}
        return "post-tool", {**self._common(session, turn, "PostToolUse"), **tool, "tool_response": told}

    def _common(self, session: str, turn: int, event: str) -> dict[str, Any]:
        return {
            "session_id": session,
            "prompt_id": f"{session}-{turn}",
            "transcript_path": f"{self._project}/.claude/{session}.jsonl",
            "cwd": self._project,
            "permission_mode": "default",
            "hook_event_name": event,
        }
