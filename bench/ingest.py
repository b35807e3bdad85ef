"""From a handoff in the spool to evidence, to the wire, and a backlog at start, by a real daemon in its own process.

    python -m bench.ingest [--quick]

A handoff's time runs from its rename into the spool. Evidence counts as committed when the handoff is unlinked, which
follows the commit. The wire is the moment the platform has the whole request.
"""

import argparse
import json
import os
import random
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench import table
from bench.claude_code_events import HARNESS, Dropper
from bench.daemon_at_work import DaemonAtWork
from bench.hosted_platform import hosted_platform
from bench.spool_watch import SpoolWatch
from daemon.intake.ingest import BATCH
from tests.fakes.mem0_api import KEY

QUIET_WATCH_SECONDS = 6.0
"""Longer than the watcher's quick step is kept, so that it looks slowly again."""

BACKLOG_SESSIONS = 40
BACKLOG_SECONDS = 120.0


def pause(chance: random.Random) -> None:
    """Wait as long as a person's tools leave between two hooks at their quickest, never in step with anything."""
    time.sleep(chance.uniform(0.02, 0.06))


def commits(drops: int, seldom: int) -> None:
    """Print how long a handoff waits for its commit, told by a nudge, by the busy watcher, and by the slow one."""
    daemon, chance = DaemonAtWork(), random.Random(1)
    dropper = _first_spool(daemon)
    with daemon:
        with SpoolWatch(daemon.pending) as watch:
            for name, nudge, limits in (
                ("rename to commit, our hook (nudge)", True, (20.0, 80.0)),
                ("rename to commit, no nudge, watcher at work", False, (None, None)),
            ):
                waits = []
                for number in range(drops):
                    stem = dropper.prompt(f"{'n' if nudge else 'w'}{number % 5}", number, nudge=nudge)
                    waits.append(watch.wait_seconds(stem))
                    pause(chance)
                table.latencies(name, waits, *limits)
            waits = []
            for number in range(seldom):
                time.sleep(QUIET_WATCH_SECONDS + chance.uniform(0.0, 0.3))
                waits.append(watch.wait_seconds(dropper.prompt("w-seldom", number, nudge=False)))
            table.latencies("rename to commit, no nudge, nothing for 6 s before", waits)
        _check_events(daemon, 1 + 2 * drops + seldom)


def wire(sessions: int) -> None:
    """Print how long a session's end waits for its request to be on the wire."""
    with hosted_platform() as platform:
        daemon, chance = (
            DaemonAtWork(url=platform.url, key=KEY, MEM0_CODE_EVENT_POLL_SECONDS="0.1"),
            random.Random(2),
        )
        dropper = _first_spool(daemon)
        waits, confirmed = [], []
        with daemon, SpoolWatch(daemon.pending) as watch:
            for number in range(sessions):
                session = f"session-{number}"
                dropper.prompt(session, 1)
                watch.wait_unlinked(dropper.answer(session, 1))
                pause(chance)
                stem = dropper.end(session)
                waits.append(platform.wait_for_adds(number + 1, 30.0)["at"] - watch.renamed[stem])
                confirmed.append(watch.wait_seconds(stem))
                pause(chance)
        table.latencies("session end renamed to request on the wire", waits, 40.0, 150.0)
        table.latencies("session end renamed to extraction confirmed", confirmed)


def backlog(handoffs: int) -> None:
    """Print how fast a backlog is drained at start, and what it costs in memory."""
    with hosted_platform() as platform:
        daemon = DaemonAtWork(url=platform.url, key=KEY)
        try:
            dropper = _first_spool(daemon)
            daemon.start()
            daemon.until_ready()
            time.sleep(1.0)
            idle = daemon.figures().resident_mb
            daemon.stop()
            bytes_left = _leave(daemon, dropper, handoffs)
            with SpoolWatch(daemon.pending, every_seconds=0.02) as watch:
                daemon.start()
                watch.wait_count(handoffs, BACKLOG_SECONDS)
                took = max(watch.unlinked.values()) - min(watch.claimed.values())
            cpu, peak_drained = daemon.cpu_seconds(), daemon.figures().peak_mb
            daemon.until_ready()
            daemon.until_quiet(BACKLOG_SECONDS)
            peak = daemon.figures().peak_mb
            _check_events(daemon, handoffs + 1)
        finally:
            daemon.close()
    rate = handoffs / took
    what = f"{handoffs:,} records of {bytes_left / handoffs / 1024:.1f} KB waiting at start"
    table.line(what, f"{rate:,.0f} /s", ">= 3,000 /s", met=rate >= 3000)
    floor = bare(handoffs // 4)
    table.line("  a bare loop over such files", f"{floor:,.0f} /s", f"the daemon: x{rate / floor:.2f}")
    table.line("  processor time of it all, start included", f"{cpu / handoffs * 1e6:.0f} us each")
    table.line(
        "  memory: idle, peak when drained, peak when delivered",
        f"{idle:.0f}, {peak_drained:.0f}, {peak:.0f} MB",
    )
    table.below("  growth over idle, when drained", peak_drained - idle, 20.0, "MB")
    table.below("  growth over idle, when all is delivered", peak - idle, 20.0, "MB")


def bare(handoffs: int) -> float:
    """Return what a loop reaches that does nothing else: claim, read, parse, insert a hundred to a commit with full
    sync, unlink. On the same disk, with handoffs written and synced the same way."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        dropper = Dropper(Path(place), Path(place))
        stems = [dropper.drop(action, given) for action, given in dropper.day(handoffs, BACKLOG_SESSIONS)]
        pending = f"{place}/spools/{HARNESS}/pending/"
        begin = time.perf_counter()
        with closing(sqlite3.connect(f"{place}/bare.sqlite3", isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("CREATE TABLE events(id TEXT PRIMARY KEY, session_id TEXT, payload TEXT)")
            for first in range(0, handoffs, BATCH):
                connection.execute("BEGIN IMMEDIATE")
                for stem in stems[first : first + BATCH]:
                    os.rename(f"{pending}{stem}.json", f"{pending}{stem}.running")
                    text = Path(f"{pending}{stem}.running").read_bytes()
                    values = (stem, json.loads(text)["hook_input"]["session_id"], text)
                    connection.execute("INSERT INTO events VALUES (?, ?, ?)", values)
                connection.execute("COMMIT")
                for stem in stems[first : first + BATCH]:
                    os.unlink(f"{pending}{stem}.running")
        return handoffs / (time.perf_counter() - begin)


def _first_spool(daemon: DaemonAtWork) -> Dropper:
    """Leave a first handoff before the daemon starts, so that it serves and watches the spool from the beginning."""
    dropper = Dropper(daemon.places.data, daemon.project)
    dropper.prompt("first", 0)
    return dropper


def _leave(daemon: DaemonAtWork, dropper: Dropper, handoffs: int) -> int:
    for action, given in dropper.day(handoffs, BACKLOG_SESSIONS):
        dropper.drop(action, given)
    return sum(path.stat().st_size for path in daemon.pending.glob("*.json"))


def _check_events(daemon: DaemonAtWork, expected: int) -> None:
    """Fail where evidence is missing: a fast loss is no speed."""
    evidence = daemon.pending.parent / "evidence.sqlite3"
    with closing(sqlite3.connect(f"{evidence.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT COUNT(*) FROM events").fetchone()[0]
    if found != expected:
        raise SystemExit(f"{found} events are in the evidence store, {expected} were left")


def main() -> int:
    """Measure and print; 0 unless something broke."""
    parser = argparse.ArgumentParser(description="handoff to evidence, to the wire, and a backlog at start")
    parser.add_argument("--quick", action="store_true", help="fewer of each")
    options = parser.parse_args()
    commits(*((40, 1) if options.quick else (300, 8)))
    wire(20 if options.quick else 100)
    backlog(2_000 if options.quick else 10_000)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
