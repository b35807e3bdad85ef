"""A service that is to be installed, in a home of the test's own, and a manager's commands that are only recorded."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from daemon.service.commands import Answer
from daemon.service.installation import Account, Installation, of_user
from memsyncd.version import __version__

INTERPRETER = "/opt/memsyncd/venv/bin/python"


def planned(home: Path, platform: str = "linux", **environ: str) -> Installation:
    return of_user(Account("ada", os.getuid(), home), INTERPRETER, environ, platform)


class Commands:
    """Answers as `answers` says by the words' beginning (the longest counts), else with 0; keeps what it was asked."""

    def __init__(self, **answers: Answer | Callable[[], Answer]) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, Answer | Callable[[], Answer]] = dict(answers)
        self.pid = 42
        self.version = __version__

    def __call__(self, words: Sequence[str]) -> Answer:
        if words[0] in ("env", "runuser"):
            if not self.pid:
                return Answer(3, json.dumps({"state": "down"}))
            return Answer(0, json.dumps({"pid": self.pid, "version": self.version, "summary": "Nothing waits."}))
        line = " ".join(words)
        self.asked.append(line)
        known = max((each for each in self.answers if line.startswith(each)), key=len, default="")
        answer = self.answers.get(known, Answer(0))
        return answer if isinstance(answer, Answer) else answer()
