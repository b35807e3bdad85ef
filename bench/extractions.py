"""What asking for extractions costs: CPU of one question, and of one listing page of 100, through our own client.

    python -m bench.extractions [--open 1000] [--threads 2] [--message-chars 2000]

The fake platform runs in a process of its own, so that its CPU is not counted. A bare `http.client` in the same run
gives the figure to compare with.
"""

import argparse
import http.client
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.platform import Batch, Message
from memsyncd.platforms.transport import HttpSettings
from tests.fakes.mem0_api import KEY


class Key:
    """The fake's key."""

    def current(self) -> str:
        """Return it."""
        return KEY


@contextmanager
def fake_platform() -> Iterator[str]:
    """Run the fake apart, with extractions that stay open; yields its URL."""
    with tempfile.TemporaryDirectory() as place:
        port_file = Path(place) / "port"
        command = [
            sys.executable,
            "-m",
            "tests.fakes.mem0_api",
            "--port-file",
            str(port_file),
            "--delay",
            "3600",
            "--quiet",
        ]
        process = subprocess.Popen(command)
        try:
            while not port_file.exists():
                if process.poll() is not None:
                    raise SystemExit("the fake platform did not start")
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port_file.read_text()}"
        finally:
            process.terminate()
            process.wait()


def measure(name: str, act: Callable[[int], object], times: int, threads: int) -> float:
    """Call `act` `times` times in `threads` threads; print and return milliseconds of our CPU for each."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(act, range(threads)))
        cpu, wall = time.process_time(), time.monotonic()
        list(pool.map(act, range(times)))
        cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    each = cpu / times * 1000
    print(f"{name:44} {each:7.3f} ms CPU each, {times / wall:7.0f} a second with {threads} threads")
    return each


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", type=int, default=1000, help="open extractions")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--message-chars", type=int, default=2000, help="size of a batch as the listing repeats it")
    options = parser.parse_args()
    with fake_platform() as url:
        platform = Mem0Platform(url, Key(), HttpSettings(), Clock())
        ids = [
            platform.add(
                Batch(
                    packet_id=f"packet-{number}",
                    number=0,
                    messages=[Message("user", "x" * options.message_chars)],
                    user_id="ana",
                    app_id="shop",
                    agent_id="shop-1",
                    run_id=f"session-{number}",
                    metadata={"memsyncd_packet": f"packet-{number}", "memsyncd_batch": 0},
                )
            ).event_id
            for number in range(options.open)
        ]
        single = measure("one question", lambda n: platform.extraction(ids[n % len(ids)]), 2000, options.threads)
        page = measure("one listing page of 100", lambda _: next(platform.extractions()), 200, options.threads)
        platform.close()
        bare = measure_bare(url, ids, options.threads)
        print(f"one question costs {single / bare:.1f} times http.client's; a page costs {page / single:.1f} questions")


def measure_bare(url: str, ids: list[str], threads: int) -> float:
    """Measure the same questions with http.client and nothing read from the answer."""
    own = threading.local()
    opened: list[http.client.HTTPConnection] = []

    def ask(number: int) -> None:
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
            opened.append(own.connection)
        own.connection.request("GET", f"/v1/event/{ids[number % len(ids)]}/", headers={"Authorization": f"Token {KEY}"})
        own.connection.getresponse().read()

    each = measure("one question, bare http.client", ask, 2000, threads)
    for connection in opened:
        connection.close()
    return each


if __name__ == "__main__":
    main()
