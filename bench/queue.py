"""The queue with claims beside plain `SqliteHuey`, in one run: throughput, latency, and both with a backlog.

Run from the repository: `python -m bench.queue [--jobs N] [--pings N] [--backlog N]`. Every figure is with full sync on
the file system of `--directory` (default: the system's temporary one); ratios hold between machines, absolutes do not.
"""

import argparse
import random
import shutil
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from huey import SqliteHuey
from huey.consumer import Consumer

from jobs.job import NewJob
from jobs.outcomes import Cool, Done, Outcome
from jobs.queue.claims import JobContext
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from jobs.queue.workers import Workers
from memsyncd import turn
from memsyncd.clock import Clock
from memsyncd.counters import Counters

RUNS = 3
"""Of each rate, the median of so many runs is shown."""

FAR = 10_000_000.0
"""Seconds in which nothing of a backlog falls due."""


class Countdown:
    """Counts down from `count` on many threads; `over` is set at zero."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._lock = threading.Lock()
        self.over = threading.Event()

    def tick(self) -> None:
        """Count one."""
        with self._lock:
            self._left -= 1
            if not self._left:
                self.over.set()


@contextmanager
def claims(directory: Path) -> Iterator[SqliteQueue]:
    """Give an empty queue of ours."""
    place = Path(tempfile.mkdtemp(dir=directory))
    queue = SqliteQueue(
        place / "queue.sqlite3", clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random(1)
    )
    try:
        yield queue
    finally:
        queue.close()
        shutil.rmtree(place)


@contextmanager
def at_work(queue: SqliteQueue, count: int, act: Callable[[JobContext], None]) -> Iterator[Workers]:
    """Give `count` workers whose jobs call `act`."""

    def handler(context: JobContext) -> Outcome:
        act(context)
        return Done()

    workers = Workers(queue, {"work": handler}, count, clock=Clock(), counters=Counters(), in_turn=turn.taken)
    workers.start()
    try:
        yield workers
    finally:
        workers.stop(10)


class QuietConsumer(Consumer):
    """huey's consumer without its signal handlers."""

    def _set_signal_handlers(self) -> None:
        """Set none."""


@contextmanager
def plain(
    directory: Path, count: int, act: Callable[[], None], **options: float
) -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """Give plain huey's enqueue and its start, with full sync."""
    place = Path(tempfile.mkdtemp(dir=directory))
    huey = SqliteHuey(filename=str(place / "huey.sqlite3"), fsync=True, results=False)
    task = huey.task(name="work")(act)
    consumer = QuietConsumer(huey, workers=count, periodic=False, check_worker_health=False, **options)
    try:
        yield task, consumer.start
    finally:
        consumer.shutdown_timeout = 10
        consumer.stop(graceful=True)
        huey.storage.close()
        shutil.rmtree(place)


def our_rate(directory: Path, jobs: int, workers: int) -> float:
    """Return jobs claimed, run and finished in a second."""
    countdown = Countdown(jobs)
    with claims(directory) as queue:
        queue.enqueue(*(NewJob(f"j{n}", "work", lane=f"s{n % 500}") for n in range(jobs)))
        begin = time.perf_counter()
        with at_work(queue, workers, lambda _: countdown.tick()):
            countdown.over.wait()
        assert queue.counts().done == jobs
        return jobs / (time.perf_counter() - begin)


def plain_rate(directory: Path, jobs: int, workers: int) -> float:
    """Return jobs taken and run in a second; what is taken is deleted first and lost in a crash."""
    countdown = Countdown(jobs)
    with plain(directory, workers, countdown.tick) as (enqueue, start):
        for _ in range(jobs):
            enqueue()
        begin = time.perf_counter()
        start()
        countdown.over.wait()
        return jobs / (time.perf_counter() - begin)


def pings(
    count: int, enqueue: Callable[[int], None], started: "threading.Semaphore", starts: list[float]
) -> list[float]:
    """Return the milliseconds from each call of `enqueue` to the start of its run, one at a time, a little apart."""
    waits = []
    for number in range(count):
        begin = time.perf_counter()
        enqueue(number)
        started.acquire()
        waits.append((starts[-1] - begin) * 1000)
        time.sleep(0.003)
    return waits


def our_latency(directory: Path, count: int, prepare: Callable[[SqliteQueue], None]) -> list[float]:
    """Return enqueue to start with four idle workers, after `prepare` filled the queue."""
    starts: list[float] = []
    started = threading.Semaphore(0)

    def act(_: JobContext) -> None:
        starts.append(time.perf_counter())
        started.release()

    with claims(directory) as queue:
        prepare(queue)
        settled(queue)
        with at_work(queue, 4, act):
            return pings(count, lambda number: _ping(queue, number), started, starts)


def _ping(queue: SqliteQueue, number: int) -> None:
    queue.enqueue(NewJob(f"ping-{number}", "work", lane=f"lane-{number}", destination="here"))


def plain_latency(directory: Path, count: int, max_delay: float) -> list[float]:
    """Return plain huey's enqueue to start with four idle workers that poll at most every `max_delay` seconds."""
    starts: list[float] = []
    started = threading.Semaphore(0)

    def act() -> None:
        starts.append(time.perf_counter())
        started.release()

    with plain(directory, 4, act, max_delay=max_delay, initial_delay=min(max_delay, 0.1)) as (enqueue, start):
        start()
        return pings(count, lambda _: enqueue(), started, starts)


def backlog_rate(directory: Path, jobs: int, prepare: Callable[[SqliteQueue], None]) -> float:
    """Return our rate with four workers and a backlog that may not run."""
    countdown = Countdown(jobs)
    with claims(directory) as queue:
        prepare(queue)
        queue.enqueue(*(NewJob(f"j{n}", "work", lane=f"s{n % 500}", destination="here") for n in range(jobs)))
        settled(queue)
        begin = time.perf_counter()
        with at_work(queue, 4, lambda _: countdown.tick()):
            countdown.over.wait()
        return jobs / (time.perf_counter() - begin)


def waiting(backlog: int) -> Callable[[SqliteQueue], None]:
    """Fill a queue with jobs of the far future."""
    return lambda queue: _fill(queue, backlog, delay=FAR)


def held(backlog: int) -> Callable[[SqliteQueue], None]:
    """Fill a queue with ready jobs of a destination that cools."""

    def prepare(queue: SqliteQueue) -> None:
        _fill(queue, backlog, destination="down")
        claim = queue.claim()
        assert claim is not None
        queue.finish(claim, Cool("down", "503", "busy", parked=True))

    return prepare


def busy_lane(backlog: int) -> Callable[[SqliteQueue], None]:
    """Fill a queue with ready jobs of one lane, of which one is claimed."""

    def prepare(queue: SqliteQueue) -> None:
        _fill(queue, backlog, lane="busy")
        assert queue.claim() is not None

    return prepare


def settled(queue: SqliteQueue) -> None:
    """Fold the log of the filling into the file, so that the filling's own write-back is not measured with the rest."""
    connection = sqlite3.connect(queue.storage.filename)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _fill(queue: SqliteQueue, backlog: int, *, delay: float = 0.0, destination: str = "", lane: str = "") -> None:
    step = 10_000
    for first in range(0, backlog, step):
        queue.enqueue(
            *(
                NewJob(f"b{n}", "work", {"packet": "x" * 40}, delay=delay, destination=destination, lane=lane)
                for n in range(first, min(first + step, backlog))
            )
        )


def line(what: str, figure: str, beside: str = "") -> None:
    """Print one row."""
    print(f"{what:<58}{figure:>22}  {beside}")


def latency_line(what: str, waits: list[float], base: list[float] | None = None) -> None:
    """Print median and 99th percentile, and the ratio of the medians."""
    ninety_nine = statistics.quantiles(waits, n=100)[98]
    beside = f"x{statistics.median(waits) / statistics.median(base):.2f} of the empty queue" if base else ""
    line(what, f"{statistics.median(waits):.2f} / {ninety_nine:.2f} ms", beside)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=4000)
    parser.add_argument("--pings", type=int, default=400)
    parser.add_argument("--backlog", type=int, default=100_000)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    where, jobs, count, backlog = options.directory, options.jobs, options.pings, options.backlog

    ours = {workers: statistics.median(our_rate(where, jobs, workers) for _ in range(RUNS)) for workers in (1, 4)}
    theirs = {workers: statistics.median(plain_rate(where, jobs, workers) for _ in range(RUNS)) for workers in (1, 4)}
    for workers in (1, 4):
        line(
            f"claimed and finished, {workers} worker(s)",
            f"{ours[workers]:,.0f} /s",
            f"x{ours[workers] / theirs[workers]:.2f} of plain huey",
        )
        line(f"plain SqliteHuey, fsync, taken, {workers} worker(s)", f"{theirs[workers]:,.0f} /s")
    line("four workers against one", f"x{ours[4] / ours[1]:.2f}", f"plain huey x{theirs[4] / theirs[1]:.2f}")

    latency_line("plain SqliteHuey, polling every 0.1 s", plain_latency(where, min(count, 50), 0.1))
    for what, prepare in (
        ("waiting", waiting(backlog)),
        ("held by a cooling destination", held(backlog)),
        ("in one busy lane", busy_lane(backlog)),
    ):
        empty = our_latency(where, count, lambda _: None)
        latency_line("enqueue to start, idle, empty, median / 99th", empty)
        latency_line(f"  {backlog:,} {what}", our_latency(where, count, prepare), empty)
        alone = backlog_rate(where, jobs, lambda _: None)
        crowded = backlog_rate(where, jobs, prepare)
        line("claimed and finished, 4 workers, empty", f"{alone:,.0f} /s")
        line(f"  {backlog:,} {what}", f"{crowded:,.0f} /s", f"x{crowded / alone:.2f} of the empty queue")


if __name__ == "__main__":
    main()
