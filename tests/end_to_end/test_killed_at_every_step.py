"""The daemon killed just before each of its steps on disk, and started again."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.end_to_end.test_recorded_session import assert_delivered_once, play, until_delivered
from tests.fakes.mem0_api import FakeMem0

SAMPLE = 8
"""Steps tried by the everyday run; `make soak` tries all of them."""

KILLER = Path(__file__).with_name("killed_at.py")


def run_killed(home: Home, step: int) -> int:
    """Run `run --once` up to its N-th step; return how many steps there were if it was not killed, else 0."""
    count = home.root / "steps"
    done = subprocess.run(
        [sys.executable, str(KILLER), str(step), str(count), "run", "--once"],
        env={**home.environ, "PYTHONPATH": os.getcwd()},
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    if done.returncode == -9:
        return 0
    assert done.returncode == 0
    return int(count.read_text())


def try_step(step: int) -> int:
    """Deliver the recording with a daemon killed at `step` and then one that is not; return the steps if not killed."""
    with FakeMem0() as api:
        home = Home(Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")), api)
        try:
            play_once(home)
            steps = run_killed(home, step)
            if not steps:
                home.start()
                until_delivered(home)
            assert_delivered_once(home)
            assert not list((home.spool() / "pending").iterdir())
            assert not list((home.spool() / "dead").iterdir())
            return steps
        finally:
            home.close()


def play_once(home: Home, cache: list[Path] = []) -> None:  # noqa: B006  (one recording serves every step)
    """Put the recording's handoffs into the spool: dropped by the real hook the first time, copied from then on."""
    if not cache:
        play(home)
        kept = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
        shutil.copytree(home.places.data, kept / "data")
        (kept / "project").write_text(str(home.project))
        cache.append(kept)
        return
    was = (cache[0] / "project").read_text().encode()
    shutil.copytree(cache[0] / "data", home.places.data)
    for path in (home.spool() / "pending").iterdir():
        path.write_bytes(path.read_bytes().replace(was, str(home.project).encode()))


def test_killed_before_a_sample_of_steps() -> None:
    """Some steps of a run, spread over it: nothing is lost and nothing delivered twice."""
    total = try_step(10**9)
    assert total > SAMPLE
    for index in range(SAMPLE):
        try_step(1 + index * total // SAMPLE)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_killed_before_every_step() -> None:
    """Each step of a run in turn, until a run ends without having been killed."""
    step = 1
    while not try_step(step):
        step += 1
    print(f"killed before each of {step - 1} steps")  # noqa: T201  (the figure of docs/reliability.md)
