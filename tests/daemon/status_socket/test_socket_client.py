"""The commands' client, against real servers of every kind."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon.lock import DaemonLock
from daemon.places import resolve
from daemon.status_socket.client import (
    ClientError,
    NotOurs,
    NotRunning,
    OtherProtocol,
    Refused,
    SocketClient,
    TimedOut,
    socket_of,
)

UID = os.geteuid()
HEAD = b"HTTP/1.1 %s\r\nMemsyncd-Protocol: %s\r\nContent-Length: %d\r\n\r\n"


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name) / "status.sock"


Serve = Callable[[Callable[[socket.socket], None]], None]


@pytest.fixture
def serve(path: Path) -> Iterator[Serve]:
    """Serve one connection by a function, in a thread."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    threads: list[threading.Thread] = []

    def start(answer: Callable[[socket.socket], None]) -> None:
        def once() -> None:
            try:
                accepted, _ = listener.accept()
            except OSError:  # the end of a test in which nobody came
                return
            with accepted:
                accepted.settimeout(60)
                answer(accepted)

        threads.append(threading.Thread(target=once))
        threads[-1].start()

    yield start
    listener.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()
    listener.close()


def answering(body: bytes, status: bytes = b"200 OK", protocol: bytes = b"1") -> Callable[[socket.socket], None]:
    def answer(accepted: socket.socket) -> None:
        accepted.recv(65536)
        accepted.sendall(HEAD % (status, protocol, len(body)) + body)

    return answer


def test_json_comes_back(path: Path, serve: Serve) -> None:
    """With the request as HTTP has it."""
    seen: list[bytes] = []

    def answer(accepted: socket.socket) -> None:
        request = b""
        while not request.endswith(b"}") and (more := accepted.recv(65536)):
            request += more
        seen.append(request)
        answering(b'{"a": 1}')(FakeRead(accepted))  # type: ignore[arg-type]

    serve(answer)
    assert SocketClient(path).post("/flush", {"session": "s"}) == {"a": 1}
    assert seen[0].startswith(b"POST /flush HTTP/1.1\r\nHost: localhost\r\n")
    assert seen[0].endswith(b'{"session": "s"}')


class FakeRead:
    """A socket that was read already."""

    def __init__(self, accepted: socket.socket) -> None:
        self.sendall = accepted.sendall

    def recv(self, _: int) -> bytes:
        return b""


@pytest.mark.parametrize("status", [b"404 Not Found", b"400 Bad Request", b"503 Service Unavailable"])
def test_a_refusal_keeps_status_and_sentence(path: Path, serve: Serve, status: bytes) -> None:
    """The command decides by the status and shows the sentence."""
    serve(answering(b'{"error": "There is none."}', status))
    with pytest.raises(Refused, match=r"There is none\.") as refused:
        SocketClient(path).get("/jobs/x")
    assert refused.value.status == int(status[:3])


def test_no_socket_or_nobody_behind_it_is_not_running(path: Path) -> None:
    """Also where the directory is not there."""
    with pytest.raises(NotRunning):
        SocketClient(path).get("/status")
    with pytest.raises(NotRunning):
        SocketClient(path / "below/status.sock").get("/status")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with pytest.raises(NotRunning, match="refused"):
        SocketClient(path).get("/status")


def test_something_that_is_no_socket_is_not_ours(path: Path) -> None:
    """And is named."""
    path.write_text("mine")
    with pytest.raises(NotOurs, match="no socket"):
        SocketClient(path).get("/status")


def test_a_socket_in_a_directory_others_can_write_is_not_ours(path: Path, serve: Serve) -> None:
    """Anybody could have put it there."""
    path.parent.chmod(0o777)
    with pytest.raises(NotOurs, match="chmod 700"):
        SocketClient(path).get("/status")


@pytest.mark.skipif(UID != 0, reason="only root can give a file away")
def test_another_users_socket_is_not_ours(path: Path, serve: Serve) -> None:
    """By the file's owner and by the directory's."""
    os.chown(path, 65534, 65534)
    with pytest.raises(NotOurs, match="65534"):
        SocketClient(path).get("/status")


@pytest.mark.skipif(UID != 0, reason="only root can become another user")
def test_another_users_process_behind_our_socket_is_not_ours(path: Path) -> None:
    """The kernel's word counts, before anything is asked."""
    script = (
        "import os,socket,sys; s = socket.socket(1); s.bind(sys.argv[1]); os.setgid(65534); os.setuid(65534); s.listen()\n"
        "print('on', flush=True); a, _ = s.accept(); print(a.recv(99))"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout
    assert other.stdout.readline() == "on\n"
    with pytest.raises(NotOurs, match="another user"):
        SocketClient(path).get("/status")
    assert other.communicate(timeout=60)[0] == "b''\n"


def test_a_daemon_that_does_not_answer_is_timed_out(path: Path, serve: Serve) -> None:
    """Within the limit of that call, and it is not called dead."""
    over = threading.Event()

    def answer(_: socket.socket) -> None:
        over.wait(60)

    serve(answer)
    begun = time.monotonic()
    with pytest.raises(TimedOut, match="did not answer"):
        SocketClient(path).get("/status", seconds=0.1)
    over.set()
    assert time.monotonic() - begun < 20


def test_a_daemon_that_takes_no_connection_is_timed_out(path: Path, serve: Serve) -> None:
    """A hung daemon with a full queue must not hang the command."""
    waiting = []
    while True:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(0)
        waiting.append(client)
        try:
            client.connect(str(path))
        except BlockingIOError:
            break
    begun = time.monotonic()
    with pytest.raises(TimedOut):
        SocketClient(path, connect_seconds=0.2).get("/status")
    assert time.monotonic() - begun < 20
    for client in waiting:
        client.close()


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", b"\0\1\2", HEAD % (b"200 OK", b"1", 100) + b"torn"])
def test_an_answer_that_breaks_off_is_an_error_of_ours(path: Path, serve: Serve, said: bytes) -> None:
    """Never a traceback of another library."""

    def answer(accepted: socket.socket) -> None:
        accepted.recv(65536)
        accepted.sendall(said)

    serve(answer)
    with pytest.raises(ClientError):
        SocketClient(path).get("/status")


def test_another_protocol_and_something_else_are_told_apart(path: Path, serve: Serve) -> None:
    """A newer daemon is not a stranger (never-again 136)."""
    serve(answering(b"{}", protocol=b"2"))
    with pytest.raises(OtherProtocol, match="restart the daemon"):
        SocketClient(path).get("/status")
    serve(lambda accepted: accepted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
    with pytest.raises(NotOurs, match="no memsyncd"):
        SocketClient(path).get("/status")
    serve(answering(b"<html>"))
    with pytest.raises(OtherProtocol, match="no JSON"):
        SocketClient(path).get("/status")


def test_no_place_is_told_as_such(path: Path, serve: Serve) -> None:
    """The server turns away what is over its bound without a word of its own."""
    serve(lambda accepted: accepted.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"))
    with pytest.raises(TimedOut, match="no place"):
        SocketClient(path).get("/status")


def test_the_running_daemon_says_where_it_answers(tmp_path: Path) -> None:
    """Its service manager may have given it another directory; once it is gone its word counts no more."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, Path("/home/ada"), UID, "linux")
    assert socket_of(places) == places.status_socket
    held = DaemonLock.acquire(places.lock_file, pid=1, run_id="r", socket="/run/memsyncd/status.sock")
    assert socket_of(places) == Path("/run/memsyncd/status.sock")
    held.release()
    assert socket_of(places) == places.status_socket
    unnamed = DaemonLock.acquire(places.lock_file, pid=1, run_id="jobs retry")
    assert socket_of(places) == places.status_socket
    unnamed.release()
