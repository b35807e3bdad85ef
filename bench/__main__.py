"""Every benchmark, one after the other, each in a process of its own.

    python -m bench [--quick] [NAME ...]

Prints the machine's facts and each table. Exits 1 if a benchmark broke; a missed target is told and breaks nothing.
"""

import argparse
import datetime as dt
import importlib.util
import os
import platform
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

QUICK: dict[str, list[str]] = {
    "hook": ["--runs", "15"],
    "harnesses": ["--runs", "4"],
    "ingest": ["--quick"],
    "queue": ["--jobs", "500", "--pings", "60", "--backlog", "5000"],
    "queue_shared": ["--jobs", "200", "--pings", "20", "--runs", "1"],
    "fleet_edges": ["--edges", "10", "--seconds", "3"],
    "extractions": ["--quick"],
    "idle": ["--quick"],
    "handoffs": ["--quick"],
    "redaction": [],
    "local_memory": [],
    "search": ["--quick"],
    "exchange": ["--quick"],
    "load": ["--quick"],
    "growth": ["--quick"],
    "notes": ["--quick"],
    "side_by_side": ["--quick"],
}
"""Each benchmark and what makes it short."""


def facts() -> str:
    """Return what figures depend on."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{dt.datetime.now(dt.UTC).date()}: {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()}, SQLite {sqlite3.sqlite_version}, load {load}"
    )


def main() -> int:
    """Run those asked for, or all."""
    parser = argparse.ArgumentParser(description="all figures of docs/performance.md")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: shows that they run, not what they measure")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(QUICK)}")
    options = parser.parse_args()
    if unknown := set(options.names) - QUICK.keys():
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    print(facts(), flush=True)
    broken = []
    for name in options.names or QUICK:
        if importlib.util.find_spec(f"bench.{name}") is None:
            continue
        print(f"\n== {name}", flush=True)
        arguments = QUICK[name] if options.quick else []
        if subprocess.run([sys.executable, "-m", f"bench.{name}", *arguments], cwd=ROOT, check=False).returncode:
            broken.append(name)
    if broken:
        print(f"\nbroken or over its limit: {', '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
