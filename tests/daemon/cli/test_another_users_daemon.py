"""A daemon that is another user's: commands say whose it is, that it answers nobody else, and ask for nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.lock import DaemonLock

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")

ROOT = Path(__file__).parents[3]
ADA = 4_321
"""A user of no machine."""

ASKING = [
    ["status"], ["flush"], ["flush", "--wait"], ["drain", "--wait"], ["forget", "--yes"], ["jobs", "list"],
    ["search", "which port"],
]  # fmt: skip

AS_ADA = """
import os, sys
from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
words, (empty, theirs) = sys.argv[3:], sys.argv[1:3]
def around(home, uid):
    return Surroundings({"MEMSYNCD_HOME": home, "USER": "ada"}, home=__import__("pathlib").Path("/"), uid=uid, platform="linux")
main(words, around(empty, 0))  # what it imports is not everybody's to read
os.setgroups([]); os.setresgid(4321, 4321, 4321); os.setresuid(4321, 4321, 4321)
sys.exit(main(words, around(theirs, 4321)))
"""


@pytest.fixture
def served() -> Iterator[Path]:
    """Return a data directory that a daemon of root's serves, in a place that everybody may enter."""
    home = Path("/tmp") / f"m-served-{os.getpid()}"  # where another user may look
    home.mkdir(mode=0o700)
    lock = DaemonLock.acquire(home / "daemon.lock", pid=os.getpid(), run_id="r", socket=str(home / "run/status.sock"))
    yield home
    lock.release()
    (home / "daemon.lock").unlink()
    home.rmdir()


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_root_is_told_whose_it_is(served: Path, tmp_path: Path, words: list[str]) -> None:
    """It is there, and answers its owner alone; nothing was asked, so nothing may still be done."""
    os.chown(served, ADA, ADA)
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", *words],
        cwd=ROOT, env={"HOME": str(tmp_path), "MEMSYNCD_HOME": str(served)}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    told = " ".join((ended.stdout + ended.stderr).split())
    assert ended.returncode == 1
    assert f"{served} belongs to user {ADA}, and so does the daemon that serves it (pid {os.getpid()})" in told
    assert f"Ask as user {ADA}." in told
    assert "does not answer" not in told
    assert "may still be done" not in told


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_who_cannot_look_is_told_whose_it_is(served: Path, tmp_path: Path, words: list[str]) -> None:
    """That it does not run is not known, and not said."""
    ended = subprocess.run(
        [sys.executable, "-c", AS_ADA, tmp_path, served, *words],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    told = " ".join((ended.stdout + ended.stderr).split())
    assert f"{served} belongs to user 0 (root), and so does its daemon, which answers nobody else." in told
    assert "Ask as user 0 (root)." in told
    assert ended.returncode == 1
    assert "Start it with" not in told.partition(str(served))[2]


def test_data_of_another_without_a_daemon_are_looked_at(tmp_path: Path) -> None:
    """Root may look: where no lock is held no daemon is there, and what only looks goes on."""
    data = tmp_path / "m"
    data.mkdir(mode=0o700)
    os.chown(data, ADA, ADA)
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "search", "which port"],
        cwd=ROOT, env={"HOME": str(tmp_path), "MEMSYNCD_HOME": str(data)}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, b"No matching memories found.\n")
