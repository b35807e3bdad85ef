"""What the shared queue on PostgreSQL does in a second, beside plain huey's own store there and procrastinate.

    python -m bench.queue_shared [--jobs N] [--pings N] [--runs N]

All three in one run, on one server of its own with every commit synced to disk, on a Unix socket, with worker processes
of one job at a time; procrastinate is in the extra `bench`. Plain huey deletes a task when it takes it, and so commits
once a job where the others know after a crash what was under way. Ratios hold between machines, absolutes do not.
"""

import argparse
import importlib.util
import logging
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from bench import table
from jobs.job import NewJob
from jobs.queue.policy import Policy
from jobs.queue.postgres.queue import PostgresQueue
from jobs.queue.shared import open_shared
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from tests.fakes.postgres_server import PostgresServer, programs, shared_server

ROOT = Path(__file__).resolve().parent.parent
WORKERS = (1, 2, 4)

Enqueue = Callable[[int], None]
"""Enqueues one job of a number."""


class System:
    """One of the three on a schema of its own: how to fill it, and how to see that all is done."""

    def __init__(self, name: str, server: PostgresServer, stack: ExitStack, *, synced: bool) -> None:
        """Make its tables. What is enqueued waits for the disk if `synced`; what the workers do waits always."""
        self.name = name
        self.url = server.fresh()
        self._filling_url = self.url if synced else f"{self.url}%20-csynchronous_commit%3Doff"
        self._connection = stack.enter_context(psycopg.connect(self.url, autocommit=True))
        self.enqueue: Enqueue = getattr(self, f"_{name}")(stack)

    def fill(self, jobs: int) -> None:
        """Enqueue jobs that nobody works at yet."""
        for number in range(jobs):
            self.enqueue(number)
        self._connection.execute("CHECKPOINT")  # so that the filling's own write-back is not measured

    def left(self) -> int:
        """Return how many jobs are not done."""
        statement = {
            "ours": "SELECT count(*) FROM memsyncd_jobs WHERE state IN ('ready', 'claimed')",
            "huey": "SELECT count(*) FROM huey_task",
            "procrastinate": "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
        }[self.name]
        row = self._connection.execute(statement).fetchone()
        assert row is not None
        return int(row[0])

    def _ours(self, stack: ExitStack) -> Enqueue:
        queue = opened(self._filling_url)
        stack.callback(queue.close)
        return lambda number: void(
            queue.enqueue(NewJob(f"j{number}", "work", lane=f"s{number % 500}", destination="x"))
        )

    def _huey(self, stack: ExitStack) -> Enqueue:
        from huey import PostgresHuey

        huey = PostgresHuey("bench", dsn=self._filling_url, results=False)
        stack.callback(huey.storage.close)
        task = huey.task(name="work")(lambda: None)
        return lambda _: void(task())

    def _procrastinate(self, stack: ExitStack) -> Enqueue:
        import procrastinate

        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=self._filling_url))
        stack.enter_context(app.open())
        app.schema_manager.apply_schema()
        task = app.task(name="work")(lambda: None)
        return lambda number: void(task.configure(lock=f"s{number % 500}").defer())


def opened(url: str) -> PostgresQueue:
    """Return our queue as one who enqueues has it."""
    return open_shared(
        url, host="bench", worker="bench", clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random()
    )


def void(_: object) -> None:
    """Drop a result."""


@contextmanager
def workers(system: System, count: int) -> Iterator[list["subprocess.Popen[str]"]]:
    """Give worker processes that are ready and wait for the word."""
    command = [sys.executable, "-m", "bench.queue_shared_worker", system.name, system.url]
    started = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield started
    finally:
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)
            assert process.stdout is not None
            process.stdout.close()


def say(process: "subprocess.Popen[str]", word: str) -> None:
    """Give a worker the word."""
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def rate(name: str, server: PostgresServer, jobs: int, count: int) -> float:
    """Return jobs taken, run and finished in a second by `count` worker processes."""
    with ExitStack() as stack:
        system = System(name, server, stack, synced=False)
        system.fill(jobs)
        with workers(system, count) as started:
            begin = time.perf_counter()
            for process in started:
                say(process, "go")
            while system.left():
                time.sleep(0.01)
            return jobs / (time.perf_counter() - begin)


def latency(name: str, server: PostgresServer, pings: int) -> list[float]:
    """Return the seconds from the call that enqueues to the job's start in an idle worker's process, one at a time."""
    waits = []
    with ExitStack() as stack:
        system = System(name, server, stack, synced=True)
        with workers(system, 1) as (process,):
            say(process, "tell")
            assert process.stdout is not None
            for number in range(pings + 3):
                begin = time.perf_counter()
                system.enqueue(number)
                waits.append(float(process.stdout.readline()) - begin)
                time.sleep(0.02)
    return waits[3:]  # the first ones wait for connections


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=600)
    parser.add_argument("--pings", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    if programs() is None:
        print("PostgreSQL is not installed (Debian: apt-get install postgresql): nothing was measured")
        return
    systems = ["ours", "huey"]
    if importlib.util.find_spec("procrastinate"):
        systems.append("procrastinate")
    else:
        print("procrastinate is not installed (extra `bench`): it is left out")
    server = shared_server()
    for count in WORKERS:
        rates: dict[str, list[float]] = {name: [] for name in systems}
        for _ in range(options.runs):  # in turns, so that what else the machine does hits all alike
            for name in systems:
                rates[name].append(rate(name, server, options.jobs, count))
        medians = {name: statistics.median(each) for name, each in rates.items()}
        for name in systems:
            beside = "" if name == "ours" else f"ours is x{medians['ours'] / medians[name]:.2f}"
            table.line(f"{name}: taken and finished, {count} worker process(es)", f"{medians[name]:,.0f} /s", beside)
    for name in systems:
        table.latencies(f"{name}: enqueue to start, idle, median / 99th", latency(name, server, options.pings))


if __name__ == "__main__":
    main()
