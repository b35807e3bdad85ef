"""What is told to systemd, over real sockets."""

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import notify
from daemon.notify import FIRST_DESCRIPTOR, Notifier, inherited_socket


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        yield Path(directory)


def listening(address: str) -> socket.socket:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(address)
    receiver.settimeout(60)
    return receiver


@pytest.mark.parametrize("is_abstract", [False, True])
def test_messages_reach_the_manager(place: Path, is_abstract: bool) -> None:
    """By a path, and by a name in the abstract namespace; a sentence is one line, whatever is in it."""
    name = str(place / "notify")
    with listening("\0" + name if is_abstract else name) as receiver:
        notifier = Notifier.from_environ({"NOTIFY_SOCKET": "@" + name if is_abstract else name}, 1)
        notifier.ready()
        notifier.alive("Nothing\nREADY=0 waits.")
        notifier.stuck("Stuck.")
        notifier.reloading()
        notifier.stopping()
        told = [receiver.recv(4096).decode() for _ in range(5)]
    assert told[0].splitlines()[:2] == ["READY=1", "WATCHDOG=1"]
    assert told[1].splitlines() == ["WATCHDOG=1", "STATUS=Nothing READY=0 waits."]
    assert told[2] == "STATUS=Stuck."
    assert told[3].startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert told[4].startswith("STOPPING=1\n")


def test_nobody_there_harms_nothing(place: Path) -> None:
    """Without an address, or with nobody behind it, nothing is sent and nothing raised."""
    for environ in ({}, {"NOTIFY_SOCKET": str(place / "gone")}, {"NOTIFY_SOCKET": "vsock:2:1"}):
        notifier = Notifier.from_environ(environ, 1)
        with notifier.starting():
            notifier.ready()
        notifier.alive("x")


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "6000000"}, None),
        ({"NOTIFY_SOCKET": "/n"}, notify.STATUS_SECONDS),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "6000000"}, 2.0),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "6000000", "WATCHDOG_PID": "7"}, 2.0),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "6000000", "WATCHDOG_PID": "8"}, notify.STATUS_SECONDS),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "soon"}, notify.STATUS_SECONDS),
    ],
)
def test_how_often_a_sign_of_life_is_wanted(environ: dict[str, str], seconds: float | None) -> None:
    """A third of the watchdog's time, where it is meant for this process; never where nobody listens."""
    assert Notifier.from_environ(environ, 7).alive_seconds == seconds


def test_a_start_at_work_gets_more_time_and_one_that_hangs_does_not(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EXTEND_TIMEOUT_USEC= goes out only after a look that found work done, and not for ever."""
    monkeypatch.setattr(notify, "LOOK_SECONDS", 0.001)
    with listening(str(place / "notify")) as receiver:
        done = iter([0.0, 0.0, 0.0, 5.0, 5.0, 9.0])
        is_over = threading.Event()

        def work() -> float:
            found = next(done, None)
            if found is None:
                is_over.set()
                return 9.0
            return found

        Notifier(str(place / "notify"))._extend(is_over, work)
        told = [receiver.recv(4096).decode().splitlines()[0] for _ in range(2)]
        receiver.settimeout(0)
        with pytest.raises(BlockingIOError):
            receiver.recv(4096)
    assert told == ["EXTEND_TIMEOUT_USEC=30000000"] * 2


def test_a_start_of_an_hour_gets_no_more(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy it is."""
    monkeypatch.setattr(notify, "LOOK_SECONDS", 0.001)
    with listening(str(place / "notify")) as receiver:
        times, work = iter([0.0, notify.LONGEST_START_SECONDS + 1]), iter([0.0, 5.0])
        Notifier(str(place / "notify"), None, lambda: next(times))._extend(threading.Event(), lambda: next(work))
        receiver.settimeout(0)
        with pytest.raises(BlockingIOError):
            receiver.recv(4096)


def test_work_is_seen_in_the_process_itself() -> None:
    """Processor time that was used shows."""
    before = notify.work_done()
    while notify.work_done() - before < notify.WORK_SECONDS:
        sum(range(10_000))


def handed_over(setting: str, environ: dict[str, str], place: Path) -> str:
    """Return what a process makes of a descriptor that it inherits as systemd hands it over."""
    import subprocess
    import sys

    made = {
        "listening": (socket.SOCK_STREAM, True),
        "not listening": (socket.SOCK_STREAM, False),
        "datagram": (socket.SOCK_DGRAM, False),
    }
    kind, listens = made[setting]
    with socket.socket(socket.AF_UNIX, kind) as given:
        given.bind(str(place / "s"))
        if listens:
            given.listen()
        script = (
            f"import os; os.dup2({given.fileno()}, 3) if {given.fileno()} != 3 else None\n"
            "from daemon.notify import inherited_socket\n"
            "pid = os.getpid()\n"
            f"found = inherited_socket({{k: v.format(pid=pid) for k, v in {environ!r}.items()}}, pid)\n"
            "print(found.getsockname() if found else None, found and os.get_inheritable(3))"
        )
        words = [sys.executable, "-c", script]
        done = subprocess.run(words, pass_fds=[given.fileno()], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("setting", "environ", "is_taken"),
    [
        ("listening", {"LISTEN_PID": "{pid}", "LISTEN_FDS": "1"}, True),
        ("listening", {"LISTEN_PID": "1", "LISTEN_FDS": "1"}, False),
        ("listening", {"LISTEN_PID": "{pid}", "LISTEN_FDS": "x"}, False),
        ("listening", {}, False),
        ("not listening", {"LISTEN_PID": "{pid}", "LISTEN_FDS": "1"}, False),
        ("datagram", {"LISTEN_PID": "{pid}", "LISTEN_FDS": "1"}, False),
    ],
)
def test_a_socket_that_was_handed_over(place: Path, setting: str, environ: dict[str, str], is_taken: bool) -> None:
    """Taken where it listens and is meant for this process, and kept from its children."""
    assert FIRST_DESCRIPTOR == 3
    assert handed_over(setting, environ, place) == (f"{place}/s False" if is_taken else "None None")


def test_no_descriptor_where_none_was_given() -> None:
    """A number of descriptors that are not there is none."""
    assert inherited_socket({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "0"}, os.getpid()) is None
