"""What the end of its terminal is to a daemon in the foreground."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def started(home: Path, before: Callable[[], object]) -> tuple["subprocess.Popen[bytes]", int]:
    """Return a daemon that is ready, on a terminal of its own, and that terminal's other end."""
    ours, its = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "MEMSYNCD_HOME": str(home / "m"), "PYTHONPATH": str(ROOT)}

    def prepare() -> None:
        os.login_tty(its)
        before()

    daemon = subprocess.Popen([sys.executable, "-P", "-m", "daemon", "run"], env=environ, preexec_fn=prepare)  # noqa: PLW1509
    os.close(its)
    told = b""
    while b"next, in another terminal" not in told:
        told += os.read(ours, 4096)
    return daemon, ours


def test_a_closed_terminal_ends_it_well(tmp_path: Path) -> None:
    """As Ctrl-C does, although nobody can be told any more."""
    daemon, terminal = started(tmp_path, lambda: None)
    try:
        os.close(terminal)
        assert daemon.wait(60) == 0
    finally:
        daemon.kill()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell what is ignored")
def test_under_nohup_it_goes_on(tmp_path: Path) -> None:
    """What its parent has had it ignore stays ignored."""
    daemon, terminal = started(tmp_path, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    try:
        lines = Path(f"/proc/{daemon.pid}/status").read_text(encoding="ascii").splitlines()
        [ignored] = [int(line.split()[1], 16) for line in lines if line.startswith("SigIgn:")]
        assert ignored & 1 << signal.SIGHUP - 1
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(60) == 0
    finally:
        daemon.kill()
        os.close(terminal)
