"""Disks: full, out of inodes, read-only, broken. What waits is kept and told, neighbours go on, and it heals alone."""

import errno
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.places import resolve
from tests.end_to_end.conftest import Home
from tests.faults.conftest import need_root
from tests.faults.disks import FailingDisk, SmallDisk
from tests.faults.seen import AMBER, delivered, session, until_delivered, until_told, until_well
from tests.standing_still import stand_still

BROKEN, READ_ONLY = errno.EIO, errno.EROFS


@contextmanager
def standstill(home: Home) -> Iterator[None]:
    """Let the daemon see nothing of what happens meanwhile."""
    assert home.daemon is not None
    stand_still(home.daemon.pid)
    yield
    home.daemon.send_signal(signal.SIGCONT)


@pytest.mark.parametrize(
    ("what", "code", "remedy"), [("space", "disk-nearly-full", "df -h"), ("inodes", "inodes-nearly-gone", "df -i")]
)
def test_a_data_disk_without_room(hosted: Home, small_disk: SmallDisk, what: str, code: str, remedy: str) -> None:
    """Hooks exit 0, status answers and names the disk, a search is answered; with room it goes on."""
    small_disk.mount(hosted.places.data)
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with standstill(hosted):  # which could free some of it at this moment
        small_disk.fill() if what == "space" else small_disk.use_up_inodes()
        session(hosted, "lost")
    until_told(hosted, code, str(hosted.places.data), f"{remedy} {hosted.places.data}")
    assert hosted.run("search", "question").returncode == 0
    small_disk.make_room()
    session(hosted, "after")
    until_delivered(hosted, "before", "after")
    until_well(hosted, code)


def test_what_hooks_could_not_write_is_told(hosted: Home, small_disk: SmallDisk) -> None:
    """Their log has no room on the full disk, and is found where it went instead."""
    del hosted.environ["MEMSYNCD_HOME"]
    hosted.places = resolve(hosted.environ, hosted.root, os.getuid(), "linux")
    hosted.client = type(hosted.client)(hosted.places.status_socket)
    small_disk.mount(hosted.places.data)
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with standstill(hosted):
        small_disk.fill()
        session(hosted, "lost")
    log = hosted.root / "runtime" / "memsyncd" / "hook-errors.log"
    until_told(hosted, "hook-errors", f"tail {log}")
    assert log.read_text().count("ENOSPC") == 3
    small_disk.make_room()
    until_well(hosted, "disk-nearly-full")
    assert hosted.run("status").returncode == AMBER  # for a day


def test_the_disk_of_one_spool_without_inodes(hosted: Home, small_disk: SmallDisk) -> None:
    """What is there is delivered, for that takes none; what hooks could not leave is told; the neighbour goes on."""
    small_disk.mount(hosted.spool())
    hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    with standstill(hosted):
        session(hosted, "waits")
        small_disk.use_up_inodes()
        session(hosted, "lost")
    session(hosted, "beside", "codex")
    until_delivered(hosted, "before", "beside", "waits")
    until_told(hosted, "hook-errors", str(hosted.places.hook_error_log), exits=AMBER)
    small_disk.make_room()
    session(hosted, "after")
    until_delivered(hosted, "after", "before", "beside", "waits")


@pytest.mark.parametrize("number", [BROKEN, READ_ONLY], ids=["broken", "read-only"])
def test_a_data_disk_that_fails(hosted: Home, failing_disk: FailingDisk, number: int) -> None:
    """All of it, under a running daemon: it is told with the errno's words, and nothing it held is lost or doubled,
    called damaged or set aside."""
    failing_disk.holds(hosted)
    daemon = hosted.start()
    session(hosted, "before")
    until_delivered(hosted, "before")
    assert hosted.api is not None
    hosted.api.refuse_connections()
    session(hosted, "waits")
    hosted.until(lambda: hosted.status()["jobs"]["waiting"] > 1, "nothing waits")
    failing_disk.fail(number, hosted.places.data, reads=number == BROKEN)
    session(hosted, "lost")
    until_told(hosted, "queue-unavailable")
    hosted.api.accept_connections()  # not before: a request that was begun on a sound disk may still arrive
    assert delivered(hosted) == ["before"]
    failing_disk.mend()
    session(hosted, "after")
    until_delivered(hosted, "before", "waits", "after")
    until_well(hosted, "queue-unavailable")
    assert not list(hosted.places.data.rglob("*.corrupt-*"))
    assert daemon.poll() is None


@pytest.mark.parametrize("number", [BROKEN, READ_ONLY, errno.ENOSPC], ids=["broken", "read-only", "full"])
def test_a_start_on_a_disk_that_fails(hosted: Home, failing_disk: FailingDisk, number: int) -> None:
    """A sentence and an exit code in place of a trace, and nothing is changed."""
    session(hosted, "waits")
    failing_disk.holds(hosted)
    failing_disk.fail(number, hosted.places.data, reads=number == BROKEN)
    refused = hosted.run("run", "--once")
    assert refused.returncode in (1, 78)
    assert "Traceback" not in refused.stderr
    assert os.strerror(number) in refused.stderr
    failing_disk.mend()
    assert hosted.run("run", "--once").returncode == 0
    assert delivered(hosted) == ["waits"]


Fault = Callable[[], None]


@contextmanager
def spool_disk(what: str, spool: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Fault, Fault]]:
    """Give what makes the disk of one spool fail, and what mends it."""
    if what == "full":
        small: SmallDisk = request.getfixturevalue("small_disk")
        small.mount(spool)
        yield small.fill, small.make_room
    elif what == "mounted read-only":
        need_root()
        yield (
            lambda: subprocess.run(["mount", "--bind", "-o", "ro", spool, spool], check=True) and None,
            lambda: subprocess.run(["umount", "--lazy", spool], check=True) and None,
        )
    else:
        failing: FailingDisk = request.getfixturevalue("failing_disk")
        yield lambda: failing.fail(BROKEN, spool, reads=True), failing.mend


@pytest.mark.parametrize(
    ("what", "code", "remedy"),
    [
        ("full", "spool-full", "df -h"),
        ("mounted read-only", "spool-read-only", "mount it writable"),
        ("broken", "spool-failing", "dmesg"),
    ],
)
def test_the_disk_of_one_spool(hosted: Home, request: pytest.FixtureRequest, what: str, code: str, remedy: str) -> None:
    """The other spool is delivered meanwhile; what waited in this one is once the disk is well."""
    if what == "broken":
        request.getfixturevalue("failing_disk").holds(hosted)
    with spool_disk(what, hosted.spool(), request) as (fail, mend):
        hosted.start()
        session(hosted, "before")
        until_delivered(hosted, "before")
        with standstill(hosted):
            session(hosted, "waits")
            fail()
        session(hosted, "beside", "codex")
        until_told(hosted, code, str(hosted.spool()), remedy)
        hosted.until(lambda: delivered(hosted) == ["before", "beside"], "the neighbour is not delivered")
        mend()
        until_delivered(hosted, "before", "beside", "waits")
        until_well(hosted, code)
        hosted.until(lambda: hosted.status()["state"] == "ok", "not well again")
