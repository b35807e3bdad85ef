"""What a daemon with nothing to do costs: processor time, wake-ups by thread, memory.

    python -m bench.idle [--quick]

The daemon works a little first (a session, delivered and confirmed), so that everything is loaded that a day loads.
A second one, begun with its threads' names told to the kernel, shows which of them wakes.
"""

import argparse
import time
from pathlib import Path

from bench import process_figures, table
from bench.claude_code_events import Dropper
from bench.daemon_at_work import DaemonAtWork
from bench.hosted_platform import hosted_platform
from bench.process_figures import Figures
from tests.fakes.mem0_api import KEY

SETTLE_SECONDS = 8.0
"""Beyond the five seconds for which the watcher looks more often after a change."""

SESSIONS = 5
NAMED = Path(__file__).with_name("named_threads.py")


def rest(seconds: float, *program: str, hosted: bool) -> tuple[Figures, Figures]:
    """Return two looks at a daemon at rest, so far apart."""
    with hosted_platform() as platform:
        where = {"url": platform.url, "key": KEY} if hosted else {}
        with DaemonAtWork(program=program or ("-m", "daemon"), **where) as daemon:
            dropper = Dropper(daemon.places.data, daemon.project)
            for number in range(SESSIONS):
                dropper.prompt(f"s{number}", 1)
                dropper.answer(f"s{number}", 1)
                dropper.end(f"s{number}")
            process_figures.until(lambda: _delivered(daemon) >= SESSIONS, 60.0, "the sessions were not delivered")
            daemon.until_quiet(30.0)
            time.sleep(SETTLE_SECONDS)
            before = daemon.figures()
            time.sleep(seconds)
            return before, daemon.figures()


def _delivered(daemon: DaemonAtWork) -> int:
    return int(daemon.status()["counters"].get("packets_delivered", 0))


def show(name: str, before: Figures, after: Figures) -> None:
    """Print the three figures."""
    seconds = after.at - before.at
    cpu = (after.cpu_seconds - before.cpu_seconds) / seconds * 100
    table.below(f"{name}: of one core, over {seconds:.0f} s", cpu, 0.3, "%", 2)
    table.below(f"{name}: wake-ups", process_figures.wake_ups(before, after).total() / seconds, 25.0, "/s")
    table.below(f"{name}: resident memory", after.resident_mb, 55.0, "MB")


def show_threads(before: Figures, after: Figures) -> None:
    """Print which threads wake, the liveliest first."""
    seconds = after.at - before.at
    for thread, count in process_figures.wake_ups(before, after).most_common():
        if count:
            table.line(f"    {thread.rpartition(' ')[0]}", f"{count / seconds:.2f} /s")


def main() -> int:
    """Measure and print; 0 unless something broke."""
    parser = argparse.ArgumentParser(description="what an idle daemon costs")
    parser.add_argument("--quick", action="store_true", help="15 s in place of 60")
    options = parser.parse_args()
    seconds = 15.0 if options.quick else 60.0
    show("hosted", *rest(seconds, hosted=True))
    show("embedded", *rest(seconds, hosted=False))
    show_threads(*rest(15.0, str(NAMED), hosted=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
