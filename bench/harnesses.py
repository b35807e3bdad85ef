"""What each harness's hooks cost with its own payloads, whatever state daemon and disk are in.

    python -m bench.harnesses [--runs N]

One line a harness: wall time, CPU and peak memory, the medians over three of its events that ask nothing: with no
daemon, with one, paused, and on a full disk; last the prompt's with a daemon that it asks, and a new session's that is
told a memory. Beside them the bare interpreter, and a hook as plugins run it today. Exits 1 where a hook fails, prints,
or writes what it should not.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import harness_recalls
from bench.daemon_at_work import DaemonAtWork
from bench.hook import teach
from bench.hook_runs import Cost, State, median, run
from daemon.installing.harnesses import HARNESSES
from memsyncd.hooks.adapters import ADAPTERS
from memsyncd.hooks.command_line import DROP

PLACE = Path(__file__).resolve().parent
PAYLOADS = PLACE.parent / "tests" / "memsyncd" / "hooks" / "payloads"
FULL_BYTES = 128 * 1024
ROUNDS = 4
EVENTS = 3
"""Of each harness: a beginning, a tool and what comes next; the drop does the same for all."""

ASKING = ("user-prompt", "subagent-start")


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook's words behind the interpreter's, and the file with what comes on its input."""

    words: Sequence[str]
    given: Path


def hooks(harness: str) -> Mapping[str, Sequence[Hook]]:
    """Return a harness's hooks: those that ask nothing under `quiet`, the prompt's under `prompt`."""
    found: dict[str, list[Hook]] = {"quiet": [], "prompt": []}
    events = (
        [(event.name, event.action, event.reason) for event in HARNESSES[harness].events]
        if harness in HARNESSES
        else [(name, meant.action, meant.reason) for name, meant in ADAPTERS[harness].events.items()]
    )
    for name, action, reason in events:
        words = ["-I", "-S", str(DROP), action, "--harness", harness, *(["--reason", reason] if reason else [])]
        one = Hook(words, PAYLOADS / harness / f"{name}.json")
        if action == "user-prompt":
            found["prompt"].append(one)
        elif action not in ASKING and len(found["quiet"]) < EVENTS:
            found["quiet"].append(one)
    return found


@contextlib.contextmanager
def full_disk(home: Path, environ: Mapping[str, str]) -> Iterator[State]:
    """Yield a home on which nothing more fits: a small file system where we may mount one, else a limit of no bytes."""
    home.mkdir(mode=0o700)
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={FULL_BYTES},mode=0700", "tmpfs", str(home)],
            check=False,
            capture_output=True,
        ).returncode
    )
    try:
        for harness in ADAPTERS:
            (home / "spools" / harness / "pending").mkdir(parents=True, mode=0o700)
        if mounted:
            with contextlib.suppress(OSError), (home / "filler").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        print("disk full: " + ("a file system without a free block" if mounted else "no file may grow"))
        yield State({**environ, "MEMSYNCD_HOME": str(home)}, drops=False, limit=None if mounted else _no_bytes)
    finally:
        if mounted:
            subprocess.run(["umount", str(home)], check=True)


def _no_bytes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def plugin(root: Path) -> tuple[Sequence[str], Path]:
    """Return the words of a plugin's hook and its input, in a repository of its own."""
    project = root / "shop"
    project.mkdir()
    git = ["git", "-C", str(project), "-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-q"], ["remote", "add", "origin", "git@git.example.org:corner/shop.git"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    given = PAYLOADS / "claude-code" / "Stop.json"
    return [str(PLACE / "plugin_hook.py"), str(root / "plugin.sqlite3"), str(project)], given


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="what each harness's hooks cost")
    parser.add_argument("--runs", type=int, default=16, help="of each event in each state")
    times = max(1, parser.parse_args().runs // ROUNDS)
    root = Path(tempfile.mkdtemp(prefix="memsyncd-bench-"))
    environ = {"PATH": os.environ["PATH"], "HOME": str(root)}
    try:
        with DaemonAtWork() as daemon, full_disk(root / "full", environ) as full:
            down = State({**environ, "MEMSYNCD_HOME": str(root / "down")}, drops=True)
            paused = State({**environ, "MEMSYNCD_HOME": str(root / "paused")}, drops=False)
            for harness in ADAPTERS:
                spool = root / "paused" / "spools" / harness
                (spool / "pending").mkdir(parents=True, mode=0o700)
                (spool / "paused").touch()
            teach(daemon, sys.executable)
            states = {"down": down, "up": State(daemon.environ, drops=True), "paused": paused, "full": full}
            return table(states, daemon, plugin(root), times)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def table(states: Mapping[str, State], daemon: DaemonAtWork, today: tuple[Sequence[str], Path], times: int) -> int:
    """Measure in rounds, so that a slow moment hits all alike, and print a line a harness."""
    costs: dict[tuple[str, str], list[Cost]] = {}
    expected = 0
    for turn in range(ROUNDS + 1):
        found: dict[tuple[str, str], list[Cost]] = {}
        stop = PAYLOADS / "claude-code" / "Stop.json"
        floor_runs = found.setdefault(("floor", "down"), [])
        found["plugin", "down"] = run(*today, times, states["down"])
        for harness in ADAPTERS:
            kinds = hooks(harness)
            floor_runs += run(["-I", "-S", "-c", "pass"], stop, times, states["down"])
            for name, state in states.items():
                found[harness, name] = [c for hook in kinds["quiet"] for c in run(hook.words, hook.given, times, state)]
            asking = kinds["prompt"]
            found[harness, "prompt"] = [
                c for hook in asking for c in run(hook.words, hook.given, times, states["up"], prints=None)
            ]
            if harness in harness_recalls.HARNESSES:
                found[harness, "recall"] = harness_recalls.recalls(
                    harness, asking[0].words, asking[0].given, times, daemon
                )
            expected += times * len(kinds["quiet"])
        if turn:  # the first round warms the caches
            for key, each in found.items():
                costs.setdefault(key, []).extend(each)
    floor, plugin_cost = median(costs.pop(("floor", "down"))), median(costs.pop(("plugin", "down")))
    print(
        f"{'':<13}{'bytes':>6}"
        + "".join(f"  {name:>19}" for name in (*states, "prompt", "recall"))
        + "   ms wall, ms CPU, MB peak"
    )
    print(f"{'floor':<13}{'':>6}  {floor}")
    for harness in ADAPTERS:
        sizes = [len(json.dumps(json.loads(hook.given.read_bytes()))) for hook in hooks(harness)["quiet"]]
        columns = [name for name in (*states, "prompt", "recall") if (harness, name) in costs]
        cells = "".join(f"  {median(costs[harness, name])}" for name in columns)
        print(f"{harness:<13}{statistics.mean(sizes):6.0f}{cells}")
    print(f"{'plugin today':<13}{'':>6}  {plugin_cost}")
    every = {name: median([c for (_, state), each in costs.items() if state == name for c in each]) for name in states}
    for name, cost in every.items():
        print(
            f"{name}: {cost.wall / floor.wall:.2f} x the floor's wall, {cost.processor / floor.processor:.2f} x its CPU"
        )
    told = median([cost for (_, name), each in costs.items() if name == "recall" for cost in each]).wall
    verdict = "met" if told <= harness_recalls.LIMIT_MS else "MISSED"
    print(f"recall: {told:.1f} ms wall, told a memory; target {harness_recalls.LIMIT_MS:.0f} ms: {verdict}")
    written = {name: states[name].written() for name in ("down", "paused", "full")}
    if written != {"down": expected, "paused": 0, "full": 0}:
        raise SystemExit(f"handoffs written: {written}, not {expected} with no daemon and none else")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
