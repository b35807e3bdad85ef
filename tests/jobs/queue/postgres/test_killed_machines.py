"""Real machines' processes on one database, really killed and really stopped: each job is done once, none is lost."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.job import JobState, NewJob
from jobs.queue.policy import Policy
from jobs.queue.postgres.queue import PostgresQueue
from jobs.queue.shared import open_shared
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from tests.fakes.postgres_server import shared_server

ROOT = Path(__file__).parents[4]
JOBS = 400
BLOWS = 12
LEASE = 1.0
PATIENCE = 60.0


@contextmanager
def watching(url: str) -> Iterator[PostgresQueue]:
    """Give the queue to one who enqueues and looks."""
    queue = open_shared(
        url, host="edge", worker="edge", clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random()
    )
    try:
        yield queue
    finally:
        queue.close()


class Machine:
    """A process that works until it is killed."""

    def __init__(self, url: str, name: str, runs: Path, lease: float = LEASE) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.jobs.queue.postgres.working", url, name, str(runs), str(lease)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_working(self) -> None:
        """Wait until it works."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "working\n"

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """Kill it and see it gone."""
        with self._process:
            self._process.kill()


def wait_until_done(queue: PostgresQueue, jobs: int) -> None:
    """Wait, looking now and then."""
    end = time.monotonic() + PATIENCE
    while queue.counts().done < jobs:
        assert time.monotonic() < end, (queue.counts(), queue.jobs(state=JobState.CLAIMED))
        time.sleep(0.05)


def lines(runs: Path, word: str) -> Counter[str]:
    """Count the ids behind a word."""
    return Counter(line.partition(" ")[2] for line in runs.read_text().splitlines() if line.startswith(f"{word} "))


def test_every_job_is_done_once_whoever_is_killed_or_stands_still(tmp_path: Path) -> None:
    """Three machines, twelve blows at random moments: SIGKILL, or SIGSTOP for longer than the lease."""
    url, runs, chance = shared_server().fresh(), tmp_path / "runs", random.Random()
    with watching(url) as queue:
        queue.enqueue(*(NewJob(f"j{n}", "work", lane=f"s{n % 60}" if n % 3 else "") for n in range(JOBS)))
        machines = [Machine(url, f"machine-{n}", runs) for n in range(3)]
        try:
            for machine in machines:
                machine.wait_until_working()
            for number in range(BLOWS):
                time.sleep(chance.uniform(0.0, 0.1))
                struck = chance.randrange(3)
                if number % 4 == 3:
                    machines[struck].signal(signal.SIGSTOP)
                    time.sleep(1.5 * LEASE)
                    machines[struck].signal(signal.SIGCONT)
                else:
                    machines[struck].kill()
                    machines[struck] = Machine(url, machines[struck].name, runs)
            queue.enqueue(*(NewJob(f"late{n}", "work") for n in range(20)))
            wait_until_done(queue, JOBS + 20)
        finally:
            for machine in machines:
                machine.kill()
        ids = {f"j{n}" for n in range(JOBS)} | {f"late{n}" for n in range(20)}
        jobs = queue.jobs(limit=2 * JOBS)
        assert {job.id for job in jobs if job.state is JobState.DONE} == ids == set(lines(runs, "run"))
        assert set(lines(runs, "end").values()) == {1}, "an end that counted twice"
        assert queue.counts().claimed == 0


def test_a_stopped_machine_loses_its_job_and_its_late_end_counts_for_nothing(tmp_path: Path) -> None:
    """SIGSTOP for longer than the lease: another machine takes the job over and ends it, once."""
    url, runs = shared_server().fresh(), tmp_path / "runs"
    with watching(url) as queue:
        queue.enqueue(NewJob("long", "long", {"seconds": 3.0}))
        first = Machine(url, "first", runs)
        second = None
        try:
            first.wait_until_working()
            while not (runs.exists() and runs.read_text()):
                time.sleep(0.01)
            first.signal(signal.SIGSTOP)
            second = Machine(url, "second", runs)
            second.wait_until_working()
            wait_until_done(queue, 1)
            first.signal(signal.SIGCONT)
            queue.enqueue(NewJob("after", "long", {"seconds": 0.0}))
            wait_until_done(queue, 2)
            while not lines(runs, "end")["long"]:  # which is written down after it is committed
                time.sleep(0.01)
        finally:
            for machine in (first, second):
                if machine is not None:
                    machine.kill()
        job = queue.get("long")
        assert job is not None
        assert (job.state, job.reason, len(job.errors)) == (JobState.DONE, "by second", 1)
        assert lines(runs, "run")["long"] == 2
        assert lines(runs, "end")["long"] == 1
