"""Twenty agents at work: 100 events a second for an hour, ten times as fast, and every one on the platform at the end.

    python -m bench.load [--quick]

Each agent is a process of its own that leaves handoffs as its hooks would, synced one by one: turns of a prompt, tools
and an answer, and a session's end after every thirtieth turn. The daemon delivers to a fake of the hosted platform in
another process. Told are how far it fell behind, what it had resident in each tenth of the time, and what it cost.
"""

import argparse
import multiprocessing
import sqlite3
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench import process_figures, table
from bench.claude_code_events import Dropper
from bench.daemon_at_work import DaemonAtWork
from bench.hosted_platform import hosted_platform
from tests.fakes.mem0_api import KEY

AGENTS = 20
EVENTS_PER_SECOND = 100
COMPRESSED = 10
"""An hour's events in a tenth of it: a thousand a second, as far as this machine's disk takes them synced."""

SECONDS, QUICK_SECONDS = 360.0, 12.0
EVENTS_OF_A_SESSION = 180
LOOKS = 10
MAX_GROWTH_MB = 25.0
"""Of resident memory, from the second tenth of the time to the last."""


def agent(data: Path, project: Path, number: int, events: int, seconds: float) -> None:
    """Leave `events` handoffs over so many seconds; where the disk is slower, over more."""
    dropper = Dropper(data, project)
    begin, dropped = time.monotonic(), 0
    while dropped < events:
        session = f"agent-{number}-{dropped // EVENTS_OF_A_SESSION}"
        for action, given in dropper.day(min(EVENTS_OF_A_SESSION, events - dropped), 1):
            given["session_id"] = session
            dropper.drop(action, given)
            dropped += 1
            ahead = dropped / events * seconds - (time.monotonic() - begin)
            if ahead > 0:
                time.sleep(ahead)
        dropper.end(session)


def at_work(
    daemon: DaemonAtWork, agents: Sequence[multiprocessing.Process], seconds: float
) -> tuple[list[int], list[float]]:
    """Return how many handoffs waited and what was resident, looked at LOOKS times until the agents are done."""
    waiting: list[int] = []
    resident: list[float] = []
    pause = seconds / LOOKS
    due = time.monotonic() + pause
    while any(each.is_alive() for each in agents):
        time.sleep(0.2)
        waiting.append(sum(1 for _ in daemon.pending.glob("*.json")))
        if time.monotonic() >= due:
            resident.append(daemon.figures().resident_mb)
            due += pause
    return waiting, resident


def load(seconds: float) -> None:
    """Run the agents and print what the daemon did meanwhile. Raises SystemExit where an event is missing."""
    events = int(seconds * EVENTS_PER_SECOND * COMPRESSED) // AGENTS
    with hosted_platform() as platform, DaemonAtWork(url=platform.url, key=KEY) as daemon:
        Dropper(daemon.places.data, daemon.project).prompt("first", 0)
        process_figures.until(lambda: daemon.pending.is_dir() and not any(daemon.pending.iterdir()), 30.0, "not served")
        agents = [
            multiprocessing.get_context("fork").Process(
                target=agent, args=(daemon.places.data, daemon.project, number, events, seconds)
            )
            for number in range(AGENTS)
        ]
        begin, before = time.monotonic(), daemon.cpu_seconds()
        for each in agents:
            each.start()
        waiting, resident = at_work(daemon, agents, seconds)
        for each in agents:
            each.join()
            if each.exitcode:
                raise SystemExit("an agent failed")
        dropped = time.monotonic() - begin
        daemon.until_quiet(600.0)
        over = time.monotonic() - begin
        whole = AGENTS * events
        cost = (daemon.cpu_seconds() - before) / whole
        _check(daemon, whole + 1)
        status = daemon.status()
    table.line(f"{AGENTS} agents: {whole:,} events left in {dropped:.0f} s", f"{whole / dropped:,.0f} /s")
    sessions = status["counters"]["packets_delivered"]
    table.line("  all delivered after the last", f"{over - dropped:.1f} s", f"{sessions:,} packets")
    table.line(
        "  waiting in the spool, median and most",
        f"{statistics.median(waiting):.0f}, {max(waiting)}",
        "of 1,000 a second",
    )
    table.line("  processor time of an event, delivered", f"{cost * 1e6:.0f} us")
    table.line("  resident, at each look", " ".join(f"{mb:.0f}" for mb in resident) + " MB")
    if len(resident) > 1:
        table.below("  resident: last look over the second", resident[-1] - resident[1], MAX_GROWTH_MB, "MB")


def _check(daemon: DaemonAtWork, expected: int) -> None:
    """Fail where evidence is missing or anything was given up: a fast loss is no speed."""
    evidence = daemon.pending.parent / "evidence.sqlite3"
    with closing(sqlite3.connect(f"{evidence.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT COUNT(*) FROM events").fetchone()[0]
        lost = connection.execute("SELECT COUNT(*) FROM flushes WHERE status = 'GAVE_UP'").fetchone()[0]
    if found != expected or lost:
        raise SystemExit(f"{found} events are in the evidence store, {expected} were left; {lost} packets given up")


def main() -> int:
    """Measure and print; 0 unless something broke."""
    parser = argparse.ArgumentParser(description="twenty agents at work for an hour, ten times as fast")
    parser.add_argument("--quick", action="store_true", help="twelve seconds of it")
    load(QUICK_SECONDS if parser.parse_args().quick else SECONDS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
