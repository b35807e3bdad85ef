"""What the line a harness runs costs against a bare start of the same interpreter, in one run.

    python bench/hook.py [--python INTERPRETER]... [--console /path/to/memsyncd] [--runs N]

For each interpreter: the median wall time of `-I -S -c pass`, of the drop with a payload of 2 KB into a fresh
home, and of what else is asked for, the runs interleaved. Exits 1 where the drop takes over 1.5 times the floor.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 1.5
"""Issue 2, item 2."""

DROP = Path(__file__).resolve().parent.parent / "memsyncd" / "hooks" / "drop.py"
PAYLOAD = json.dumps(
    {
        "session_id": "bench",
        "hook_event_name": "Stop",
        "cwd": "/",
        "last_assistant_message": "word " * 400,
    }
).encode()


def wall_ms(command: list[str], environment: dict[str, str]) -> float:
    """Run `command` with the payload on its standard input; return milliseconds from start to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.communicate(PAYLOAD)
    except BrokenPipeError:
        process.wait()
    if process.returncode:
        raise SystemExit(f"{command} exited {process.returncode}")
    return (time.perf_counter() - started) * 1000


def measure(interpreter: str, console: str, runs: int) -> float:
    """Print one interpreter's medians; return the drop's ratio to the floor."""
    arguments = ["stop", "--harness", "claude-code"]
    commands = {
        "floor: -I -S -c pass": [interpreter, "-I", "-S", "-c", "pass"],
        "drop": [interpreter, "-I", "-S", str(DROP), *arguments],
    }
    if console:
        commands["console script"] = [console, "hook", *arguments]
    times: dict[str, list[float]] = {name: [] for name in commands}
    home = tempfile.mkdtemp(prefix="memsyncd-bench-")
    try:
        environment = {**os.environ, "MEMSYNCD_HOME": home}
        for turn in range(runs + 2):
            for name, command in commands.items():
                took = wall_ms(command, environment)
                if turn >= 2:  # the first ones warm the caches
                    times[name].append(took)
        written = sum(1 for _ in Path(home).rglob("*.json"))
        if written != (runs + 2) * (len(commands) - 1):
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
