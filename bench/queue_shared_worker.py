"""A worker process of bench/queue_shared.py: `python -m bench.queue_shared_worker SYSTEM URL`.

Says `ready`, begins at the first line of its standard input, prints the time at which each job starts if that line is
`tell`, and works until its standard input ends. One job at a time.
"""

import asyncio
import logging
import os
import random
import sys
import threading
import time
from collections.abc import Callable

Act = Callable[[], None]


def ours(url: str, act: Act) -> None:
    """Work as memsyncd does: claim, run, finish."""
    from jobs.outcomes import Done, Outcome
    from jobs.queue.claims import JobContext
    from jobs.queue.policy import Policy
    from jobs.queue.shared import open_shared
    from jobs.queue.workers import Workers
    from memsyncd.clock import Clock
    from memsyncd.counters import Counters

    def handler(_: JobContext) -> Outcome:
        act()
        return Done()

    name = f"bench-{os.getpid()}"
    queue = open_shared(
        url, host=name, worker=name, clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random()
    )
    queue.listen()
    workers = Workers(queue, {"work": handler}, 1, clock=Clock(), counters=Counters())
    begin()
    workers.start()
    until_the_end()
    workers.stop(5)
    queue.close()


def huey(url: str, act: Act) -> None:
    """Work as plain huey does: take the task, which deletes it, and run it."""
    from huey import PostgresHuey
    from huey.consumer import Consumer

    class QuietConsumer(Consumer):
        def _set_signal_handlers(self) -> None:
            pass

    made = PostgresHuey("bench", dsn=url, results=False)
    made.task(name="work")(act)
    consumer = QuietConsumer(made, workers=1, periodic=False, check_worker_health=False)
    begin()
    consumer.start()
    until_the_end()
    os._exit(0)  # its threads wait for the server


def procrastinate(url: str, act: Act) -> None:
    """Work as procrastinate does: fetch, run, finish."""
    import procrastinate as package

    app = package.App(connector=package.PsycopgConnector(conninfo=url))
    app.task(name="work")(act)

    async def work() -> None:
        async with app.open_async():
            begin()
            worker = asyncio.create_task(
                app.run_worker_async(concurrency=1, install_signal_handlers=False, delete_jobs="never")
            )
            await asyncio.to_thread(until_the_end)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)

    asyncio.run(work())


_telling = threading.Event()


def begin() -> None:
    """Say that all is ready and wait for the word."""
    print("ready", flush=True)
    if sys.stdin.readline().strip() == "tell":
        _telling.set()


def until_the_end() -> None:
    """Wait for the end of the standard input."""
    sys.stdin.read()


def job() -> None:
    """Do what a job of the benchmark does."""
    if _telling.is_set():
        print(time.perf_counter(), flush=True)


def main() -> None:
    """Work for one of the three."""
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    system, url = sys.argv[1:]
    {"ours": ours, "huey": huey, "procrastinate": procrastinate}[system](url, job)


if __name__ == "__main__":
    main()
