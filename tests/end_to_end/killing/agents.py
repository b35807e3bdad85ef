"""Agents at work: each drops one handoff after the other by the real hook lines, and remembers which were accepted."""

import json
import subprocess
import threading
from collections.abc import Mapping
from random import Random
from typing import Any

from memsyncd.hooks.command_line import command_line
from tests.end_to_end.conftest import Home

HARNESSES = ("claude-code", "codex", "gemini-cli")

TURN_KEYS = {"claude-code": "prompt_id", "codex": "turn_id"}
ANSWER_KEYS = {"gemini-cli": "prompt_response"}


class Agent(threading.Thread):
    """One agent, of a harness, with one session after the other until it is told to stop.

    `accepted` has for each session the tokens of its handoffs in order: a token is in the handoff's text, and no other
    handoff's. `kinds` tells which of them are said (and so are on the platform word by word).
    """

    def __init__(self, home: Home, number: int, random: Random, pause: tuple[float, float]) -> None:
        super().__init__(name=f"agent-{number}")
        self.accepted: dict[str, list[str]] = {}
        self.said: dict[str, list[str]] = {}
        self.flushes = 0
        self.failure = ""
        self._home = home
        self._number = number
        self._harness = HARNESSES[number % len(HARNESSES)]
        self._random = random
        self._pause = pause
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Have it end its session and itself."""
        self._stopping.set()

    def run(self) -> None:
        """Work."""
        session = 0
        try:
            while not self._stopping.is_set():
                self._session(f"agent{self._number}-session{session}")
                session += 1
        except AssertionError as error:
            self.failure = str(error)

    def _session(self, session: str) -> None:
        self.accepted[session], self.said[session] = [], []
        for turn in range(self._random.randint(1, 8)):
            ids = {TURN_KEYS[self._harness]: f"{session}-{turn}"} if self._harness in TURN_KEYS else {}
            token = f"{session}-turn{turn}"
            self._tell(session, "user-prompt", f"{token}-ask", {**ids, "prompt": f"What is {token}-ask about?"})
            for call in range(self._random.randint(0, 2)):
                edit = {"file_path": f"{self._home.project}/{token}-call{call}.py", "content": "pass"}
                tool = {"tool_name": "write_file" if self._harness == "gemini-cli" else "Write", "tool_input": edit}
                self._tell(
                    session, "post-tool", f"{token}-call{call}", {**ids, **tool, "tool_response": {}}, said=False
                )
            answer = {ANSWER_KEYS.get(self._harness, "last_assistant_message"): f"It is about {token}-say."}
            self._tell(session, "stop", f"{token}-say", {**ids, **answer})
            if self._random.random() < 0.2:
                self._flush(session, "pre-compact")
            if self._stopping.is_set():
                break
        self._flush(session, "session-end")

    def _tell(self, session: str, action: str, token: str, told: Mapping[str, Any], *, said: bool = True) -> None:
        self._hook(session, action, told)
        self.accepted[session].append(token)
        if said:
            self.said[session].append(token)

    def _flush(self, session: str, reason: str) -> None:
        self._hook(session, "flush", {"reason": "other"}, reason)
        self.flushes += 1

    def _hook(self, session: str, action: str, told: Mapping[str, Any], reason: str = "") -> None:
        """Run one hook. It exits with 0 whatever happens: that none failed is told by the log of hooks' errors."""
        done = subprocess.run(
            ["/bin/sh", "-c", command_line(action, self._harness, reason=reason)],
            input=json.dumps({"session_id": session, "cwd": str(self._home.project), **told}).encode(),
            env=self._home.environ,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), done
        self._stopping.wait(self._random.uniform(*self._pause))
