"""One daemon for a data directory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.lock import AlreadyRunning, DaemonLock, Holder, holder, is_held
from tests.unprivileged import unprivileged

HOLD = """
import os, sys
from pathlib import Path
from daemon.lock import AlreadyRunning, DaemonLock
try:
    lock = DaemonLock.acquire(Path(sys.argv[1]), pid=os.getpid(), run_id="r")
except AlreadyRunning as error:
    print("lost", flush=True)
    sys.exit(error.exit_code)
print("held", flush=True)
sys.stdin.read()
"""

LOOK = """
import sys
from pathlib import Path
from daemon.lock import is_held
print("on", flush=True)
while True:
    is_held(Path(sys.argv[1]))
"""


def start(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate()
    return process.returncode


def test_the_second_is_told_who_is_first(tmp_path: Path) -> None:
    """The error names the first daemon's pid and carries exit code 4."""
    path = tmp_path / "daemon.lock"
    lock = DaemonLock.acquire(path, pid=77, run_id="run", socket="/run/s")
    with pytest.raises(AlreadyRunning, match="pid 77") as refused:
        DaemonLock.acquire(path, pid=78, run_id="other")
    assert refused.value.exit_code == 4
    assert holder(path) == Holder(77, "run", "/run/s")
    lock.release()


def test_releasing_frees_and_leaves_the_file(tmp_path: Path) -> None:
    """The file is never deleted; it is 0600, and the next holder's shorter note replaces the first."""
    path = tmp_path / "daemon.lock"
    DaemonLock.acquire(path, pid=1234567, run_id="a-long-run-id").release()
    assert path.stat().st_mode & 0o777 == 0o600
    assert not is_held(path)
    lock = DaemonLock.acquire(path, pid=1, run_id="b")
    assert holder(path) == Holder(1, "b", "")
    lock.release()
    lock.release()
    assert not lock.is_held


def test_of_ten_starting_together_one_wins(tmp_path: Path) -> None:
    """Ten real processes race; nine exit with 4."""
    path = tmp_path / "daemon.lock"
    racers = [start(path) for _ in range(10)]
    words = [said(racer) for racer in racers]
    codes = [finish(racer) for racer in racers]
    assert sorted(words) == ["held"] + ["lost"] * 9
    assert sorted(codes) == [0] + [4] * 9


def test_kill_9_frees_it(tmp_path: Path) -> None:
    """No cleaning up is needed after the hardest death."""
    path = tmp_path / "daemon.lock"
    victim = start(path)
    assert said(victim) == "held"
    assert is_held(path)
    victim.send_signal(signal.SIGKILL)
    finish(victim)
    assert not is_held(path)
    DaemonLock.acquire(path, pid=os.getpid(), run_id="next").release()


def test_removing_the_file_frees_nothing(tmp_path: Path) -> None:
    """Whoever clears away the lock file by hand does not get two daemons on one store."""
    path = tmp_path / "daemon.lock"
    lock = DaemonLock.acquire(path, pid=1, run_id="a")
    path.unlink()
    assert is_held(path)
    with pytest.raises(AlreadyRunning):
        DaemonLock.acquire(path, pid=2, run_id="b")
    lock.release()


def test_a_look_does_not_take_it(tmp_path: Path) -> None:
    """Asking whether it is held, as every status does, never makes a start fail, and creates nothing."""
    path = tmp_path / "daemon.lock"
    assert not is_held(path)
    assert not path.exists()
    looking = subprocess.Popen(
        [
            sys.executable,
            "-c",
            LOOK,
            str(path),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert said(looking) == "on"
        for run in range(50):
            DaemonLock.acquire(path, pid=run, run_id="r").release()
    finally:
        looking.kill()
        finish(looking)


def test_a_child_process_does_not_inherit_it(tmp_path: Path) -> None:
    """A key command that outlives the daemon must not keep the lock."""
    path = tmp_path / "daemon.lock"
    lock = DaemonLock.acquire(path, pid=1, run_id="a")
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; print('on', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        close_fds=False,
    )
    assert said(child) == "on"
    lock.release()
    assert not is_held(path)
    finish(child)


@pytest.mark.parametrize("content", ["", "not json", "[]", '{"pid": "x", "run_id": 1}', '{"run_id": "a"}'])
def test_a_note_that_says_nothing_is_none(tmp_path: Path, content: str) -> None:
    """The note is for people; a torn one breaks nothing."""
    (tmp_path / "daemon.lock").write_text(content)
    assert holder(tmp_path / "daemon.lock") is None


def test_something_else_at_its_path_is_refused(tmp_path: Path) -> None:
    """A directory, a link or a FIFO in its place is named and left alone."""
    (tmp_path / "d").mkdir()
    (tmp_path / "l").symlink_to(tmp_path / "target")
    os.mkfifo(tmp_path / "f")
    for name in "dlf":
        with pytest.raises(ConfigurationError):
            DaemonLock.acquire(tmp_path / name, pid=1, run_id="a")
    assert not (tmp_path / "target").exists()


def test_a_lock_whose_place_is_still_its_own_is_not_lost(tmp_path: Path) -> None:
    """What holds it may be looked at as often as one likes."""
    lock = DaemonLock.acquire(tmp_path / "daemon.lock", pid=1, run_id="r")
    assert lock.lost() == ""
    lock.release()
    assert lock.lost() == ""


@pytest.mark.parametrize("made_anew", [True, False])
def test_a_removed_data_directory_frees_its_place_and_is_told(tmp_path: Path, made_anew: bool) -> None:
    """Another daemon could lock what is made in its place, so the first one must see it."""
    data = tmp_path / "data"
    data.mkdir()
    lock = DaemonLock.acquire(data / "daemon.lock", pid=1, run_id="r")
    data.rename(tmp_path / "away")
    if made_anew:
        data.mkdir()
        (data / "daemon.lock").touch()
    assert "removed or replaced" in lock.lost()
    lock.release()


def test_a_removed_lock_file_is_told(tmp_path: Path) -> None:
    """Where directories cannot be locked the file alone protects."""
    lock = DaemonLock.acquire(tmp_path / "daemon.lock", pid=1, run_id="r")
    (tmp_path / "daemon.lock").unlink()
    assert str(tmp_path / "daemon.lock") in lock.lost()
    lock.release()


@pytest.mark.parametrize("mode", [0o400, 0o000, 0o666])
def test_a_lock_whose_mode_a_restore_has_left_is_opened_to_its_owner_alone(tmp_path: Path, mode: int) -> None:
    """As the databases beside it are: nobody has to type a `chmod` for a start."""
    path = tmp_path / "daemon.lock"
    path.touch()
    path.chmod(mode)
    with unprivileged():
        DaemonLock.acquire(path, pid=1, run_id="a").release()
    assert path.stat().st_mode & 0o777 == 0o600
