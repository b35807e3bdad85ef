"""What the line a harness runs costs against a bare start of the same interpreter, in one run.

    python -m bench.hook [--python INTERPRETER]... [--console /path/to/memsyncd] [--runs N]

For each interpreter: the median wall time of `-I -S -c pass`, of the drop with a payload of 2 KB into a fresh
home, of the same through sh, bare and with what makes the installed line harmless, of a prompt's hook with no daemon
and with one that has something to recall, and of what else is asked for, the runs interleaved.
Exits 1 where the drop takes over 1.5 times the floor.
"""

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.daemon_at_work import DaemonAtWork
from memsyncd.hooks.command_line import GUARD

LIMIT = 1.5
"""Issue 2, item 2."""

DROP = Path(__file__).resolve().parent.parent / "memsyncd" / "hooks" / "drop.py"
STOP = {
    "session_id": "bench",
    "hook_event_name": "Stop",
    "cwd": "/",
    "last_assistant_message": "word " * 400,
}
FACT = "The staging database of the shop listens on port 6543."
PROMPT = "Which port does the staging database of the shop listen on? " + "word " * 390
QUIET_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Case:
    """What is run: the words behind the interpreter's, what comes on its input, where it drops, what it prints.

    With `shell`, sh runs them as one line, with that behind it.
    """

    words: list[str]
    payload: dict[str, Any]
    home: str
    prints: bool = False
    drops: bool = True
    shell: str | None = None

    def command(self, interpreter: str) -> list[str]:
        """Return the whole command; a word that is absolute is a program of its own."""
        words = self.words if os.path.isabs(self.words[0]) else [interpreter, *self.words]
        return words if self.shell is None else ["/bin/sh", "-c", shlex.join(words) + self.shell]


def wall_ms(command: list[str], case: Case, turn: int) -> float:
    """Run `command` with the payload on its standard input; return milliseconds from start to its end."""
    session = f"{case.payload.get('session_id')}-{turn}" if case.prints else case.payload.get("session_id")
    given = json.dumps({**case.payload, "session_id": session}).encode()
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**os.environ, "MEMSYNCD_HOME": case.home},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    printed, _ = process.communicate(given)
    took = (time.perf_counter() - started) * 1000
    if process.returncode or bool(printed) != case.prints:
        raise SystemExit(f"{command} exited {process.returncode} and printed {len(printed)} bytes")
    return took


def cases(console: str, home: str, daemon: DaemonAtWork) -> dict[str, Case]:
    """Return what is measured, by name; the first is the floor, the second what must keep to the limit."""
    drop = ["-I", "-S", str(DROP)]
    stop = [*drop, "stop", "--harness", "claude-code"]
    prompt = [*drop, "user-prompt", "--harness", "claude-code"]
    asked = {"session_id": "first", "cwd": str(daemon.project), "prompt": PROMPT}
    at_work = daemon.environ["MEMSYNCD_HOME"]
    found = {
        "floor: -I -S -c pass": Case(["-I", "-S", "-c", "pass"], STOP, home, drops=False),
        "drop": Case(stop, STOP, home),
        "sh: drop": Case(stop, STOP, home, shell=""),
        "sh: drop, as installed": Case(stop, STOP, home, shell=GUARD),
        "prompt, no daemon": Case(prompt, asked, home),
        "first prompt, recalled": Case(prompt, asked, at_work, prints=True, drops=False),
        "later prompt, daemon up": Case(prompt, {**asked, "session_id": "told"}, at_work, drops=False),
    }
    if console:
        found["console script"] = Case(
            [os.path.abspath(console), "hook", "stop", "--harness", "claude-code"], STOP, home
        )
    return found


def teach(daemon: DaemonAtWork, interpreter: str) -> None:
    """Let the daemon remember FACT, and tell it to the session `told`, so that it has nothing more to hear."""
    common = {"session_id": "earlier", "cwd": str(daemon.project)}
    steps: list[tuple[list[str], dict[str, Any]]] = [
        (["user-prompt"], {**common, "prompt": f"Remember: {FACT}"}),
        (["stop"], {**common, "last_assistant_message": f"Understood: {FACT}"}),
        (["flush", "--reason", "session-end"], common),
        (["user-prompt"], {**common, "session_id": "told", "prompt": PROMPT}),
    ]
    for words, given in steps:
        command = [interpreter, "-I", "-S", str(DROP), *words, "--harness", "claude-code"]
        subprocess.run(command, input=json.dumps(given).encode(), env=daemon.environ, check=True, capture_output=True)
        daemon.until_quiet(QUIET_SECONDS)


def measure(interpreter: str, console: str, runs: int) -> float:
    """Print one interpreter's medians; return the drop's ratio to the floor."""
    home = tempfile.mkdtemp(prefix="memsyncd-bench-")
    try:
        with DaemonAtWork() as daemon:
            teach(daemon, interpreter)
            measured = cases(console, home, daemon)
            times: dict[str, list[float]] = {name: [] for name in measured}
            for turn in range(runs + 2):
                for name, case in measured.items():
                    took = wall_ms(case.command(interpreter), case, turn)
                    if turn >= 2:  # the first ones warm the caches
                        times[name].append(took)
        written = sum(1 for _ in Path(home).rglob("*.json"))
        if written != (runs + 2) * sum(case.drops for case in measured.values()):
            raise SystemExit(f"{written} handoffs were written, not one a run")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    medians = {name: statistics.median(values) for name, values in times.items()}
    floor = next(iter(medians.values()))
    print(f"{interpreter} ({runs} runs each, interleaved)")
    for name, median in medians.items():
        print(f"  {name:24} {median:7.2f} ms   {median / floor:5.2f} x")
    return medians["drop"] / floor


def main() -> int:
    """Measure each interpreter asked for; 1 if one is over the limit."""
    parser = argparse.ArgumentParser(description="hook wall time against the interpreter's floor")
    parser.add_argument("--python", action="append", default=[], help="interpreter (default: this one)")
    parser.add_argument("--console", default="", help="also measure this memsyncd command")
    parser.add_argument("--runs", type=int, default=60)
    options = parser.parse_args()
    ratios = [measure(python, options.console, options.runs) for python in options.python or [sys.executable]]
    print(f"worst ratio {max(ratios):.2f}, limit {LIMIT}")
    return 1 if max(ratios) > LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())
