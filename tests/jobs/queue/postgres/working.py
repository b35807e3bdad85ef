"""A child process of a test: one machine's workers on the shared queue until killed.

Arguments: the URL, the machine's name, the file of runs, the lease in seconds.
"""

import os
import random
import sys
import threading

from jobs.job import Job, JobState
from jobs.outcomes import Done, Outcome, Retry, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.policy import Policy
from jobs.queue.shared import open_shared
from jobs.queue.workers import Workers
from memsyncd.clock import Clock
from memsyncd.counters import Counters


def main(url: str, name: str, runs: str, lease: str) -> None:
    """Void the claims of the one killed before, say so, work until killed."""
    out = os.open(runs, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    chance = random.Random()

    def work(context: JobContext) -> Outcome:
        os.write(out, f"run {context.job.id}\n".encode())
        context.stopping.wait(chance.uniform(0.0, 0.01))
        match chance.randrange(4):
            case 0:
                return Snooze(0.01, "once more")
            case 1 if context.job.attempts < 2:
                return Retry("once more", delay=0.01)
        return Done()

    def long(context: JobContext) -> Outcome:
        os.write(out, f"run {context.job.id}\n".encode())
        context.stopping.wait(float(context.job.payload["seconds"]))
        return Done(f"by {name}")

    def ended(job: Job, outcome: Outcome, seconds: float) -> None:
        if job.state is JobState.DONE:
            os.write(out, f"end {job.id}\n".encode())

    counters = Counters()
    queue = open_shared(
        url,
        host=name,
        worker=name,
        clock=Clock(),
        policy=Policy(max_crashes=100, max_restarts=100),
        counters=counters,
        random=chance,
        lease=float(lease),
    )
    queue.void_claims()
    queue.listen()
    workers = Workers(queue, {"work": work, "long": long}, 4, clock=Clock(), counters=counters, on_finish=ended)
    workers.start()
    sys.stdout.write("working\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
