"""Children that start together: processes that race for one file."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]

WAIT = """
import sys
print("ready", flush=True)
sys.stdin.readline()
"""

RECORDER = """
import os, sys, uuid
from pathlib import Path
from memsyncd.clock import Clock
from memsyncd.redaction import redact
from memsyncd.telemetry import recorder as recording
from memsyncd.telemetry.recorder import Recorder
from memsyncd.telemetry.salt import Salt

recording._ATTEMPTS = 100_000  # whoever holds the file may be without a processor for longer than is waited for it

def recorder(spool):
    salt = Salt(spool / "telemetry-salt")
    return Recorder(spool, harness="codex", source="CODEX_PLUGIN", salt=salt, redact=redact, clock=Clock(),
                    new_uuid=lambda: str(uuid.uuid4()))
"""


def start(stack: ExitStack, setting: str, body: str, *words: object) -> subprocess.Popen[str]:
    """Start a child that runs `setting`, says so, waits for a line and runs `body`; `words` are its arguments."""
    child = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", setting + WAIT + body, *map(str, words)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    )
    stack.callback(child.kill)
    return child


def release(children: Sequence[subprocess.Popen[str]]) -> None:
    """Wait until each is ready, then let all go."""
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()


def printed(children: Sequence[subprocess.Popen[str]]) -> list[list[str]]:
    """Wait for the end of all and return the lines of each."""
    return [child.communicate(timeout=60)[0].splitlines() for child in children]


def race(setting: str, body: str, words: Sequence[Sequence[object]]) -> list[list[str]]:
    """Run one child for each list of arguments, all at once, and return the lines of each."""
    with ExitStack() as stack:
        children = [start(stack, setting, body, *each) for each in words]
        release(children)
        return printed(children)
