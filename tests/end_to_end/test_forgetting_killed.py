"""Forgetting killed just before each of its steps on disk: what was asked for is finished, or was never begun."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.end_to_end.test_forgetting import WORD, search, tell, where

BEYOND = 10_000
"""No forgetting has so many steps: it is not killed, and tells how many it has."""

SAMPLE = 2
"""Steps tried by the everyday run; `make soak` tries all of them."""

KILLER = Path(__file__).with_name("killed_at.py")


class Learned:
    """A home in which everything that can hold the word does, and the handoffs that told it."""

    def __init__(self) -> None:
        self.home = Home(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")))
        self.dropped = self.home.root / "dropped"
        tell(self.home, "s1")
        shutil.copytree(self.home.spool() / "pending", self.dropped)
        self.home.start()
        self.home.end("s1")
        self.home.until(lambda: search(self.home), "it was not learned")
        self.home.until_quiet()
        self.home.stop()
        tell(self.home, "s2")
        dead = self.home.spool() / "dead"
        shutil.copy(next(self.dropped.glob("*.json")), dead / "x.json")
        (dead / "x.reason.json").write_text('{"reason": "expired"}')

    def copy(self) -> Home:
        home = Home(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")))
        ignored = shutil.ignore_patterns("nudge", "run")
        shutil.copytree(self.home.places.data, home.places.data, ignore=ignored, dirs_exist_ok=True)
        return home


@pytest.fixture(scope="module")
def learned() -> Iterator[Learned]:
    """Made once; every step forgets in a copy."""
    made = Learned()
    yield made
    made.home.close()


def forget_killed(home: Home, project: Path, step: int) -> int:
    """Forget up to the N-th step; return how many steps there were if it was not killed, else 0."""
    count = home.root / "steps"
    done = subprocess.run(
        [sys.executable, str(KILLER), str(step), str(count), "forget", "--yes", "--cwd", str(project)],
        env={**home.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        check=False,
        timeout=60,
    )
    if done.returncode == -9:
        return 0
    assert done.returncode == 0, done.stderr
    return int(count.read_text())


def try_step(learned: Learned, step: int) -> int:
    """Kill at a step, run the daemon, replay the handoffs: nothing is there if the tombstone was."""
    home = learned.copy()
    try:
        steps = forget_killed(home, learned.home.project, step)
        was_begun = (home.places.data / "forgotten.json").exists()
        if was_begun:
            for path in learned.dropped.glob("*.json"):
                shutil.copy(path, home.spool() / "pending" / path.name)
        assert home.run("run", "--once").returncode == 0
        assert bool(where(home.places.data, WORD)) is not was_begun, where(home.places.data, WORD)
        return steps
    finally:
        home.close()


def test_a_kill_at_some_steps_leaves_no_way_back(learned: Learned) -> None:
    """At the first, and at some spread over all of them."""
    steps = try_step(learned, BEYOND)
    for step in range(1, steps + 1, max(1, steps // SAMPLE)):
        try_step(learned, step)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_kill_at_any_step_leaves_no_way_back(learned: Learned) -> None:
    """At every single one."""
    steps = try_step(learned, BEYOND)
    assert steps
    for step in range(1, steps + 1):
        try_step(learned, step)
