"""However an agent goes, its session is recorded and delivered the same: no hook tells of these ends."""

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing

import pytest

from memsyncd.hooks.command_line import command_line
from tests.end_to_end.conftest import Home

pytestmark = pytest.mark.usefixtures("uncounted")

AGENT = """
import fcntl, json, signal, subprocess, sys, termios, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore both
signal.signal(signal.SIGHUP, signal.SIG_DFL)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
session, project, wire, *lines = sys.argv[1:]
told = {"session_id": session, "cwd": project}
first, second = f"Remember: {session} is deployed from branch {session}-live.", "And what else?"
steps = [
    ({"prompt": first, "prompt_id": "1"}, [("1", first, "Noted.", True)]),
    ({} if wire else {"last_assistant_message": "Noted.", "prompt_id": "1"}, []),
    ({"prompt": second, "prompt_id": "2"}, [("2", second, "Half an answer", False)]),
]
for line, (more, said) in zip(lines, steps):
    subprocess.run(["/bin/sh", "-c", line], input=json.dumps({**told, **more}).encode(), stdout=subprocess.DEVNULL)
    for turn, prompt, answer, is_over in said if wire else ():
        event = {"turnId": turn, "step": 1}
        part = {"type": "text", "text": answer}
        records = [
            {"type": "turn.prompt", "input": [{"type": "text", "text": prompt}], "origin": {"kind": "user"}},
            {"type": "context.append_loop_event", "event": {**event, "type": "content.part", "part": part}},
            {"type": "context.append_loop_event", "event": {**event, "type": "step.end", "finishReason": "end_turn"}},
        ]
        with open(wire, "a") as file:
            for record in records[: 3 if is_over else 2]:
                file.write(json.dumps({**record, "time": time.time() * 1000}) + chr(10))
print("ready", flush=True)
while True:
    time.sleep(60)
"""
"""Asks, answers, is asked again, and works on that until it is stopped. With a file to write its session to, as Kimi
does, its hooks bring no answer, and it has said something of the second one."""


class Agent:
    """A process at a terminal of its own, as people run one."""

    def __init__(self, home: Home, session: str, harness: str) -> None:
        lines = [command_line(action, harness) for action in ("user-prompt", "stop", "user-prompt")]
        wire = home.root / ".kimi-code" / "sessions" / "shop_1" / session / "agents" / "main" / "wire.jsonl"
        wire.parent.mkdir(parents=True)
        self.terminal, inside = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AGENT, session, str(home.project), str(wire) if harness == "kimi" else "", *lines],
            env=home.environ,
            stdin=inside,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(inside)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def kill(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)

    def interrupt(self) -> None:
        """Type the interrupt character: the kernel sends the signal to all at the terminal."""
        os.write(self.terminal, b"\x03")

    def hang_up(self) -> None:
        """Close the terminal."""
        os.close(self.terminal)
        self.terminal = -1

    def end(self) -> None:
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        if self.terminal >= 0:
            os.close(self.terminal)


ENDS: dict[str, Callable[[Agent], None]] = {
    "interrupted": Agent.interrupt,
    "closed": Agent.hang_up,
    "terminated": lambda agent: agent.kill(signal.SIGTERM),
    "killed": lambda agent: agent.kill(signal.SIGKILL),
}


def sessions(home: Home, harness: str) -> dict[str, list[tuple[str, str]]]:
    """Return kind and words of each session's events, without its name."""
    with closing(sqlite3.connect(home.spool(harness) / "evidence.sqlite3")) as connection:
        rows = connection.execute("SELECT session_id, kind, payload_json FROM events ORDER BY id").fetchall()
    found: dict[str, list[tuple[str, str]]] = {}
    for session, kind, stored in rows:
        payload = json.loads(stored)
        words = payload.get("prompt", payload.get("text", ""))
        found.setdefault(session, []).append((kind, words.replace(session, "NAME")))
    return found


def delivered(home: Home, harness: str) -> set[str]:
    with closing(sqlite3.connect(home.spool(harness) / "evidence.sqlite3")) as connection:
        rows = connection.execute("SELECT session_id FROM flushes WHERE status = 'semantic-succeeded'").fetchall()
    return {row[0] for row in rows}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="an agent's end is seen in /proc")
@pytest.mark.parametrize("harness", ["claude-code", "kimi"])
def test_every_way_to_go_leaves_the_same_session(harness: str, home: Home) -> None:
    """An interrupt, a closed terminal, a polite and a hard kill: the daemon notices that the process is gone. What the
    session's file holds of an answer that was never finished is recorded as at an orderly end."""
    home.start()
    agents = {name: Agent(home, name, harness) for name in ENDS}
    for name, go in ENDS.items():
        go(agents[name])
    for agent in agents.values():
        agent.end()
    home.until(lambda: delivered(home, harness) == set(ENDS), "not every session was delivered")
    recorded = sessions(home, harness)
    assert set(recorded) == set(ENDS)
    told = [
        ("user_prompt", "Remember: NAME is deployed from branch NAME-live."),
        ("assistant_stop", "Noted."),
        ("user_prompt", "And what else?"),
        *([("assistant_stop", "Half an answer")] if harness == "kimi" else []),
    ]
    assert list(recorded.values()) == [told] * len(ENDS)
