"""A process of bench/fleet_edges.py: `python -m bench.fleet_edges_process edges URL FIRST COUNT`, or `worker URL`.

Says `ready`, begins at the first line of its standard input, and at its end prints a line of JSON: by name the seconds
that each call took.
"""

import heapq
import json
import random
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from daemon.app import TICK_SECONDS
from daemon.fleet.edge_look import REST_SECONDS
from jobs.fleet.ends import end_of
from jobs.fleet.learn import LEARN_SECONDS, LONGEST_SECONDS
from jobs.fleet.shared_batch import Progress, made, new_job
from jobs.outcomes import Done, Snooze
from jobs.queue.errors import QueueUnavailable
from jobs.queue.policy import Policy
from jobs.queue.postgres.queue import PostgresQueue
from jobs.queue.shared import open_shared
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import Packet
from memsyncd.platforms.platform import Batch, Message

PACKET_SECONDS = 30.0
"""Between two packets of an edge, on the average."""

EXTRACTION_SECONDS = 1.0

SPOOL = "claude-code"
DESTINATION = "mem0 https://platform.example"
THREADS = 16

took: dict[str, list[float]] = defaultdict(list)
"""Seconds, by the name of the call; from any thread."""

Act = Callable[[], None]


def opened(url: str, name: str) -> PostgresQueue:
    """Return the queue as a machine of that name has it."""
    return open_shared(
        url, host=name, worker=name, clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random()
    )


def timed(name: str, act: Act) -> None:
    """Note what a call took; one that found no connection is counted."""
    begin = time.perf_counter()
    try:
        act()
    except QueueUnavailable:
        took["refused"].append(time.perf_counter() - begin)
    else:
        took[name].append(time.perf_counter() - begin)


class Edge:
    """One simulated edge, on its own connections. `at` has something done after so many seconds."""

    def __init__(self, url: str, name: str, at: Callable[[float, Act], None]) -> None:
        self._queue = opened(url, name)
        self._name = name
        self._at = at
        self._numbers = count()

    def begin(self) -> None:
        """Put in the first packet at some moment."""
        self._at(random.uniform(0.0, PACKET_SECONDS), self._put)
        self._at(random.uniform(0.0, TICK_SECONDS), self._rest)

    def _put(self) -> None:
        number = next(self._numbers)
        packet = f"{self._name}-{number}"
        said = Message("user", "What is the total of the basket? " * 60)
        session = f"s{number // 5}"
        batch = Batch(packet, 0, (said,), "ada", "shop", "claude-code", session, {"memsyncd_packet": packet})
        job = new_job(batch, Progress(), edge=self._name, spool=SPOOL, destination=DESTINATION)
        timed("accept", lambda: _drop(self._queue.enqueue(job)))
        known = Packet(packet, "", "", batch.run_id, "", 0, 0, "")
        self._at(LEARN_SECONDS, lambda: self._look(known, LEARN_SECONDS))
        self._at(random.uniform(0.5, 1.5) * PACKET_SECONDS, self._put)

    def _look(self, packet: Packet, paused: float) -> None:
        ends = []
        timed("look", lambda: ends.append(end_of(self._queue, self._name, SPOOL, packet)))
        if not ends or ends[0] is None:
            seconds = min(paused * 1.5, LONGEST_SECONDS)
            self._at(seconds, lambda: self._look(packet, seconds))

    def _rest(self) -> None:
        self._queue.rest(REST_SECONDS)
        self._at(TICK_SECONDS, self._rest)


class Timetable:
    """Has things done at their times, by a few threads."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Act]] = []
        self._numbers = count()
        self._lock = threading.Condition()

    def at(self, seconds: float, act: Act) -> None:
        """Have something done in so many seconds."""
        with self._lock:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), act))
            self._lock.notify()

    def run(self, is_over: threading.Event) -> None:
        """Do what is due until it is over."""
        with ThreadPoolExecutor(THREADS) as pool:
            while not is_over.is_set():
                with self._lock:
                    now = time.monotonic()
                    if not self._due or self._due[0][0] > now:
                        self._lock.wait(min(0.2, self._due[0][0] - now) if self._due else 0.2)
                        continue
                    act = heapq.heappop(self._due)[2]
                pool.submit(act)


def edges(url: str, first: str, many: str) -> None:
    """Be so many edges."""
    table = Timetable()
    with ThreadPoolExecutor(THREADS) as pool:
        names = [f"edge{number}" for number in range(int(first), int(first) + int(many))]
        made_edges = list(pool.map(lambda name: Edge(url, name, table.at), names))
    is_over = begun()
    for edge in made_edges:
        edge.begin()
    table.run(is_over)


def worker(url: str) -> None:
    """Take batches, as a worker of four threads does whose platform answers at once and extracts for a second."""
    queue = opened(url, "worker")
    queue.listen()
    is_over = begun(queue.bell.wake_all)
    threads = [threading.Thread(target=_work, args=(queue, is_over)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.close()


def _work(queue: PostgresQueue, is_over: threading.Event) -> None:
    while not is_over.is_set():
        ticket = queue.bell.ticket()
        begin = time.perf_counter()
        claim = queue.claim()
        if claim is None:
            queue.bell.wait(ticket, queue.seconds_to_next())
            continue
        took["claim"].append(time.perf_counter() - begin)
        queue.bell.hand_on()
        payload = dict(claim.job.payload)
        if payload["progress"]["event_id"]:
            queue.finish(claim, Done("delivered", payload=made(1)), answered=True)
            took["delivered"].append(time.time() - claim.job.created_at)
            continue
        queue.behind(claim.job.id, "")
        queue.keep(claim, payload)
        payload["progress"] = {**payload["progress"], "event_id": "e"}
        queue.finish(claim, Snooze(EXTRACTION_SECONDS, "its extraction is open", payload), answered=True)


def begun(on_over: Act = lambda: None) -> threading.Event:
    """Say that all is ready, wait for the word, and return what is set when it is over; `on_over` is called then."""
    print("ready", flush=True)
    sys.stdin.readline()
    is_over = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        is_over.set()
        on_over()

    threading.Thread(target=wait, daemon=True).start()
    return is_over


def _drop(_: object) -> None:
    """Drop a result."""


def main() -> None:
    """Be one or the other."""
    what, *words = sys.argv[1:]
    {"edges": edges, "worker": worker}[what](*words)
    print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
