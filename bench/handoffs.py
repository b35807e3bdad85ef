"""What a delivered handoff costs: the daemon beside one detached worker process per handoff, as plugins do today.

    python -m bench.handoffs [--quick]

Both deliver sessions of one prompt and one answer to the same fake platform in a process of its own: one POST, and
the confirmation asked for. Of the daemon two figures are told: of the flush handoff alone, which is what a worker is
started for (a plugin's hooks record the evidence by themselves), and of the whole session, its two records included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import process_figures, table
from bench.claude_code_events import Dropper
from bench.daemon_at_work import DaemonAtWork
from bench.hosted_platform import HostedPlatform, hosted_platform
from tests.fakes.mem0_api import KEY

AT_ONCE = 100
TARGET_RATIO = 15.0
WORKER = Path(__file__).with_name("plugin_worker.py")
SAMPLE_SECONDS = 0.02
PAUSE_SECONDS = 0.1
"""Between two handoffs, and between two workers: a processor that rests between has cold caches and a low clock, for
both alike."""


@dataclass(frozen=True)
class Cost:
    """Of so many handoffs: processor seconds of each, wall seconds of all, memory of all processes together."""

    cpu_each: float
    wall: float
    memory_mb: float


def by_daemon(platform: HostedPlatform, sessions: int, *, pause: float, recorded: bool) -> Cost:
    """Deliver by a daemon that runs already; with a `pause` after each session, or all at once.

    With `recorded` the sessions' evidence is in before the measuring begins.
    """
    with DaemonAtWork(url=platform.url, key=KEY) as daemon:
        dropper = Dropper(daemon.places.data, daemon.project)
        _records(dropper, "warm")
        dropper.end("warm")
        process_figures.until(lambda: _delivered(daemon) >= 1, 60.0, "the first session was not delivered")
        if recorded:
            for number in range(sessions):
                _records(dropper, f"s{number}")
            process_figures.until(lambda: _recorded(daemon) >= 2 * sessions, 60.0, "the evidence was not recorded")
        cpu, begin = daemon.cpu_seconds(), time.monotonic()
        for number in range(sessions):
            if not recorded:
                _records(dropper, f"s{number}")
            dropper.end(f"s{number}")
            time.sleep(pause)
        process_figures.until(lambda: _delivered(daemon) > sessions, 120.0, "not all was delivered", pause=0.5)
        wall = time.monotonic() - begin
        return Cost((daemon.cpu_seconds() - cpu) / sessions, wall, daemon.figures().peak_mb)


def by_workers(platform: HostedPlatform, sessions: int, *, at_once: int, pause: float) -> Cost:
    """Deliver by a process for each handoff, `at_once` of them beside each other, then a `pause`."""
    with tempfile.TemporaryDirectory() as place:
        dropper = Dropper(Path(place), Path(place))
        _worker(platform, Path(place) / "store.sqlite3", dropper, "first").wait()  # makes the store
        before, begin, peak = os.times(), time.monotonic(), 0.0
        for first in range(0, sessions, at_once):
            numbers = range(first, min(first + at_once, sessions))
            workers = [_worker(platform, Path(place) / "store.sqlite3", dropper, f"w{number}") for number in numbers]
            peak = max(peak, _memory_until_over(workers))
            if any(worker.wait() for worker in workers):
                raise SystemExit("a worker failed")
            time.sleep(pause)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return Cost(cpu / sessions, time.monotonic() - begin, peak)


def _records(dropper: Dropper, session: str) -> None:
    dropper.prompt(session, 1)
    dropper.answer(session, 1)


def _recorded(daemon: DaemonAtWork) -> int:
    return int(daemon.status()["counters"].get("events_recorded", 0))


def _delivered(daemon: DaemonAtWork) -> int:
    return int(daemon.status()["counters"].get("packets_delivered", 0))


def _worker(platform: HostedPlatform, store: Path, dropper: Dropper, session: str) -> "subprocess.Popen[bytes]":
    """Start one; the same dialogue as the daemon's sessions have."""
    messages = [
        {"role": "user", "content": dropper.prompt_input(session, 1)["prompt"]},
        {"role": "assistant", "content": dropper.answer_input(session, 1)["last_assistant_message"]},
    ]
    command = [sys.executable, str(WORKER), str(store), platform.url, KEY, session]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    assert worker.stdin is not None
    worker.stdin.write(json.dumps(messages).encode())
    worker.stdin.close()
    return worker


def _memory_until_over(workers: Sequence["subprocess.Popen[bytes]"]) -> float:
    """Return the most that all of them together had resident, looked at a few times."""
    peak = 0.0
    while any(worker.poll() is None for worker in workers):
        peak = max(peak, sum(_resident_mb(worker) for worker in workers))
        time.sleep(SAMPLE_SECONDS)
    return peak


def _resident_mb(worker: "subprocess.Popen[bytes]") -> float:
    try:
        return int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1048576
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def main() -> int:
    """Measure and print; 0 unless something broke."""
    parser = argparse.ArgumentParser(description="the daemon beside a worker process per handoff")
    parser.add_argument("--quick", action="store_true", help="fewer of each")
    options = parser.parse_args()
    apart, workers, together = (60, 20, 30) if options.quick else (300, 100, AT_ONCE)
    with hosted_platform() as platform:
        one = by_workers(platform, workers, at_once=1, pause=PAUSE_SECONDS)
        spread = by_daemon(platform, apart, pause=PAUSE_SECONDS, recorded=True)
        spread_whole = by_daemon(platform, apart, pause=PAUSE_SECONDS, recorded=False)
        many = by_workers(platform, together, at_once=together, pause=0.0)
        burst = by_daemon(platform, together, pause=0.0, recorded=True)
        burst_whole = by_daemon(platform, together, pause=0.0, recorded=False)
    for name, worker, ours, whole in (
        ("one after the other", one, spread, spread_whole),
        (f"{together} at once", many, burst, burst_whole),
    ):
        table.line(f"worker per handoff, {name}: processor time", f"{worker.cpu_each * 1000:.1f} ms each")
        table.line(f"daemon, {name}: processor time", f"{ours.cpu_each * 1000:.2f} ms each")
        ratio = worker.cpu_each / ours.cpu_each
        table.line("  so many times less", f"x{ratio:.1f}", f">= x{TARGET_RATIO:g}", met=ratio >= TARGET_RATIO)
        table.line("daemon, the session's two records included", f"{whole.cpu_each * 1000:.2f} ms each")
        table.line("  so many times less", f"x{worker.cpu_each / whole.cpu_each:.1f}")
    table.line(f"workers, {together} at once: until the last, memory", f"{many.wall:.1f} s, {many.memory_mb:.0f} MB")
    table.line(f"daemon, {together} at once: until the last, memory", f"{burst.wall:.1f} s, {burst.memory_mb:.0f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
