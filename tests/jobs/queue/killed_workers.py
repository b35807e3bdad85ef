"""A child process of a test: workers on a queue file until killed. Arguments: the queue file, the file of runs, the lease."""

import os
import random
import sys
import threading
from pathlib import Path

from jobs.outcomes import Done, Outcome, Retry, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from memsyncd.counters import Counters


def main(file: str, runs: str, lease: str) -> None:
    """Void the claims of the killed one before, say so, work until killed."""
    out = os.open(runs, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    chance = random.Random()

    def work(context: JobContext) -> Outcome:
        os.write(out, f"{context.job.id}\n".encode())
        os.fsync(out)
        match chance.randrange(4):
            case 0:
                return Snooze(0.01, "once more")
            case 1 if context.job.attempts < 2:
                return Retry("once more", delay=0.01)
        return Done()

    def sleep(context: JobContext) -> Outcome:
        os.write(out, f"{context.job.id}\n".encode())
        context.stopping.wait(float(context.job.payload["seconds"]))
        return Done()

    counters = Counters()
    queue = SqliteQueue(
        Path(file),
        clock=Clock(),
        policy=Policy(max_crashes=100),
        counters=counters,
        random=random.Random(),
        lease=float(lease),
    )
    queue.void_claims()
    workers = Workers(queue, {"work": work, "sleep": sleep}, 4, clock=Clock(), counters=counters)
    workers.start()
    sys.stdout.write("working\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
