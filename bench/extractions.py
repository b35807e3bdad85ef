"""A thousand open extractions with two workers: what asking for them costs, and how soon each verdict is known.

    python -m bench.extractions [--quick]

A real daemon and a fake platform, each in a process of its own. Every extraction ends at a time of its own. A verdict
is known when the platform has first told it, in an answer to a question or in a listing. Before that, what one question
costs in our client, beside a bare `http.client` in the same run.
"""

import argparse
import http.client
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from bench import process_figures, table
from bench.claude_code_events import Dropper
from bench.daemon_at_work import DaemonAtWork
from bench.hosted_platform import ENDED, HostedPlatform, hosted_platform
from memsyncd.clock import Clock
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.platform import Batch, Message
from memsyncd.platforms.transport import HttpSettings
from tests.fakes.mem0_api import KEY

THREADS = 2
MESSAGE_CHARACTERS = 2000
KNOWN_WITHIN_SECONDS = 30.0
CPU_PERCENT = 5.0


class Key:
    """The fake's key."""

    def current(self) -> str:
        """Return it."""
        return KEY


def open_ones(extractions: int, end_from: float, end_to: float) -> None:
    """Let a daemon open so many, which end between the two times after their beginning; print what came of it."""
    with (
        hosted_platform(end_from=end_from, end_to=end_to) as platform,
        DaemonAtWork(url=platform.url, key=KEY, MEMSYNCD_QUEUE_WORKERS=str(THREADS)) as daemon,
    ):
        dropper = Dropper(daemon.places.data, daemon.project)
        for number in range(extractions):
            dropper.prompt(f"s{number}", 1)
            dropper.answer(f"s{number}", 1)
            dropper.end(f"s{number}")
        platform.wait_for_adds(extractions, 120.0)
        time.sleep(1.0)
        opened, opened_at = daemon.figures(), time.time()
        first_end = min(add["ripe_at"] for add in platform.adds)
        time.sleep(max(0.0, first_end - opened_at))
        asked, asked_at = daemon.figures(), time.time()
        last_end = max(add["ripe_at"] for add in platform.adds)
        time.sleep(max(0.0, last_end - time.time()))
        process_figures.until(lambda: _delivered(daemon) >= extractions, 60.0, "not all was confirmed", pause=0.5)
        over, over_at = daemon.figures(), time.time()
    print(f"{extractions:,} open, {THREADS} workers, ending {end_from:.0f} to {end_to:.0f} s after their beginning")
    if asked_at - opened_at > 1.0:
        _cpu(
            f"  all open, none ends ({asked_at - opened_at:.0f} s)",
            opened.cpu_seconds,
            asked.cpu_seconds,
            asked_at - opened_at,
        )
    _cpu(
        f"  from all open to all confirmed ({over_at - opened_at:.0f} s)",
        opened.cpu_seconds,
        over.cpu_seconds,
        over_at - opened_at,
    )
    _show_questions(platform)
    table.line("  memory of the daemon, peak", f"{over.peak_mb:.0f} MB")


def _cpu(what: str, before: float, after: float, seconds: float) -> None:
    table.below(what + ": of one core", (after - before) / seconds * 100, CPU_PERCENT, "%", 2)


def _show_questions(platform: HostedPlatform) -> None:
    """Print when each was first asked and known, how the intervals grew, and how many requests it took."""
    added = {add["id"]: add for add in platform.adds}
    looks: dict[str, list[float]] = {name: [] for name in added}
    known: dict[str, float] = {}
    routes = {"event": 0, "events": 0}
    for request in platform.requests:
        if request["route"] not in routes:
            continue
        routes[request["route"]] += 1
        for name, state in request["told"].items():
            if name not in known:
                looks[name].append(request["at"])
            if state in ENDED:
                known.setdefault(name, request["at"])
    if len(known) < len(added):
        raise SystemExit(f"{len(added) - len(known)} verdicts were never asked for")
    late = [known[name] - add["ripe_at"] for name, add in added.items()]
    first = [looks[name][0] - add["at"] for name, add in added.items()]
    table.line("  first asked after, least and median", f"{min(first):.2f} / {table.percentile(first, 50):.2f} s")
    table.line("  intervals between questions, median of 1st, 2nd, …", _intervals(looks))
    worst = f"{table.percentile(late, 50):.1f} / {max(late):.1f} s"
    table.line(
        "  verdict known after its coming, median and worst",
        worst,
        f"< {KNOWN_WITHIN_SECONDS:g} s",
        met=max(late) < KNOWN_WITHIN_SECONDS,
    )
    table.line("  requests: single questions, listing pages", f"{routes['event']:,}, {routes['events']:,}")


def _intervals(looks: Mapping[str, Sequence[float]]) -> str:
    """Return the first medians; a heap of pages read in one round counts as one look."""
    gaps: dict[int, list[float]] = {}
    for moments in looks.values():
        rounds = [later - earlier for earlier, later in pairwise(moments) if later - earlier > 0.3]
        for place, gap in enumerate(rounds[:6]):
            gaps.setdefault(place, []).append(gap)
    return " ".join(f"{table.percentile(gap, 50):.1f}" for gap in gaps.values()) + " s"


def _delivered(daemon: DaemonAtWork) -> int:
    return int(daemon.status()["counters"].get("packets_delivered", 0))


def one_question(extractions: int, times: int) -> None:
    """Print the processor time of a question and of a page of 100 through our client, and of a bare question."""
    with hosted_platform(end_from=3600, end_to=3600) as platform:
        client = Mem0Platform(platform.url, Key(), HttpSettings(), Clock())
        ids = [client.add(_batch(number)).event_id for number in range(extractions)]
        single = _measure("one question", lambda n: client.extraction(ids[n % len(ids)]), times)
        page = _measure("one listing page of 100", lambda _: next(client.extractions()), times // 10)
        client.close()
        bare = _measure_bare(platform.url, ids, times)
        table.line("one question, of http.client's", f"x{single / bare:.1f}")
        table.line("one page, in questions", f"x{page / single:.1f}")


def _batch(number: int) -> Batch:
    return Batch(
        packet_id=f"packet-{number}",
        number=0,
        messages=[Message("user", "x" * MESSAGE_CHARACTERS)],
        user_id="ada",
        app_id="shop",
        agent_id="shop-1",
        run_id=f"session-{number}",
        metadata={"memsyncd_packet": f"packet-{number}", "memsyncd_batch": 0},
    )


def _measure(name: str, act: Callable[[int], Any], times: int) -> float:
    """Call `act` `times` times; print and return seconds of our processor time for each."""
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(act, range(THREADS)))
        cpu = time.process_time()
        list(pool.map(act, range(times)))
        each = (time.process_time() - cpu) / times
    table.line(f"{name}: processor time", f"{each * 1000:.2f} ms")
    return each


def _measure_bare(url: str, ids: Sequence[str], times: int) -> float:
    """Measure the same questions with http.client and nothing read from the answer."""
    own = threading.local()
    opened: list[http.client.HTTPConnection] = []

    def ask(number: int) -> None:
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
            opened.append(own.connection)
        own.connection.request("GET", f"/v1/event/{ids[number % len(ids)]}/", headers={"Authorization": f"Token {KEY}"})
        own.connection.getresponse().read()

    each = _measure("one question, bare http.client", ask, times)
    for connection in opened:
        connection.close()
    return each


def main() -> int:
    """Measure and print; 0 unless something broke."""
    parser = argparse.ArgumentParser(description="a thousand open extractions")
    parser.add_argument("--quick", action="store_true", help="fewer, and shorter")
    options = parser.parse_args()
    one_question(*((200, 300) if options.quick else (1000, 2000)))
    open_ones(*((100, 6.0, 15.0) if options.quick else (1000, 35.0, 105.0)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
