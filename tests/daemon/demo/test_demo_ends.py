"""However the demo ends, neither its daemon nor its throw-away home is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.lock import is_held

ROOT = Path(__file__).parents[3]

SECONDS = 60.0

ATTENTIVE = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):  # whoever runs the tests may ignore both, which a child inherits
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture
def demo(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Yield a demo whose daemon is up, in a process group of its own."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        [sys.executable, "-c", ATTENTIVE, "-P", "-m", "daemon", "demo"],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert started.stdout is not None
    with started:
        assert any(line.startswith("The daemon is up") for line in started.stdout)
        [home] = tmp_path.glob("memsyncd-demo-*")
        assert is_held(home / "memsyncd/daemon.lock")
        yield started
        if started.poll() is None:
            started.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("is_group", [True, False])
def test_a_signal_leaves_nothing(
    number: signal.Signals, is_group: bool, demo: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    """To the process alone, or to its whole group as when a terminal is closed."""
    (os.killpg if is_group else os.kill)(demo.pid, number)
    told, _ = demo.communicate(timeout=SECONDS)
    assert demo.returncode == 128 + number and "Traceback" not in told
    assert list(tmp_path.glob("memsyncd-demo-*")) == []


def test_a_demo_that_is_killed_takes_its_daemon_with_it(demo: "subprocess.Popen[str]", tmp_path: Path) -> None:
    """And the home, which the daemon removes as the last thing it does."""
    demo.kill()
    until = time.monotonic() + SECONDS
    while any(tmp_path.glob("memsyncd-demo-*")):
        assert time.monotonic() < until
        time.sleep(0.02)
