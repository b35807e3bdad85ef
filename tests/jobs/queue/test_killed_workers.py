"""Real processes, really killed: what was accepted is done, whatever the moment."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.job import JobState, NewJob
from jobs.queue.policy import CRASHED, Policy
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.clock import Clock
from memsyncd.counters import Counters

ROOT = Path(__file__).parents[3]
KILLS = 10
JOBS = 600


def opened(file: Path) -> SqliteQueue:
    return SqliteQueue(file, clock=Clock(), policy=Policy(), counters=Counters(), random=random.Random(1))


@contextmanager
def working(file: Path, runs: Path, lease: float = 60.0) -> Iterator[subprocess.Popen[str]]:
    """Give a process that works; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.queue.killed_workers", str(file), str(runs), str(lease)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "working\n"
            yield process
        finally:
            os.kill(process.pid, signal.SIGKILL)


def wait_until_done(queue: SqliteQueue, jobs: int, seconds: float = 60.0) -> None:
    """Wait, looking now and then: the other process rings no bell here."""
    end = time.monotonic() + seconds
    while queue.counts().done < jobs:
        assert time.monotonic() < end, queue.counts()
        time.sleep(0.05)


def test_jobs_survive_ten_kills(tmp_path: Path) -> None:
    """After SIGKILL at ten random moments every job ran at least once and is done exactly once; few ran twice for it."""
    file, runs = tmp_path / "queue.sqlite3", tmp_path / "runs"
    queue = opened(file)
    queue.enqueue(*(NewJob(f"j{n}", "work", lane=f"s{n % 60}" if n % 3 else "") for n in range(JOBS)))
    chance = random.Random()
    for _ in range(KILLS):
        with working(file, runs):
            time.sleep(chance.uniform(0.0, 0.06))
    with working(file, runs):
        wait_until_done(queue, JOBS)
    ran = Counter(runs.read_text().split())
    assert set(ran) == {f"j{n}" for n in range(JOBS)}
    jobs = queue.jobs(limit=2 * JOBS)
    assert Counter(job.state for job in jobs) == {JobState.DONE: JOBS}
    crashes = sum(error.why == CRASHED for job in jobs for error in job.errors)
    assert 0 < crashes <= 4 * KILLS
    queue.close()
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_stopped_process_keeps_its_claims_when_it_goes_on(tmp_path: Path) -> None:
    """SIGSTOP for three leases, as a laptop's sleep: the job that ran is not taken for crashed and runs once."""
    file, runs = tmp_path / "queue.sqlite3", tmp_path / "runs"
    queue = opened(file)
    queue.enqueue(NewJob("long", "sleep", {"seconds": 1.0}))
    with working(file, runs, lease=0.4) as process:
        while not (runs.exists() and runs.read_text()):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(1.2)
        os.kill(process.pid, signal.SIGCONT)  # not earlier: stopped in a commit, it holds the file's lock
        queue.enqueue(*(NewJob(f"more-{n}", "sleep", {"seconds": 0.0}) for n in range(4)))
        end = time.monotonic() + 60
        while (job := queue.get("long")) is None or job.state is not JobState.DONE:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert job.crashes == 0
    assert runs.read_text().split().count("long") == 1
    queue.close()
