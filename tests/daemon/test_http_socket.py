"""The status socket's server, by real sockets and clients good and bad."""

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.configuration_error import ConfigurationError
from daemon.http_connection import Limits
from daemon.http_message import Request, Response, json_response
from daemon.http_socket import HttpSocket
from daemon.places import resolve
from daemon.socket_client import SocketClient
from memsyncd.counters import Counters

UID = os.geteuid()
SMALL = Limits(connections=8, body_bytes=1000, header_bytes=2000)
HASTY = Limits(request_seconds=0.3, idle_seconds=0.3)
GET = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Echo:
    """Answers what it was asked; `/slow` waits until released, `/fault` raises."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.cancelled = threading.Event()
        self.release = asyncio.Event()

    async def __call__(self, request: Request) -> Response:
        if request.path == "/slow":
            self.entered.set()
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if request.path == "/fault":
            raise KeyError("somebody's words")
        return json_response(200, {"method": request.method, "path": request.path, "length": len(request.body)})

    def close(self) -> None:
        pass


class Served:
    """A server in a loop of its own thread."""

    def __init__(
        self, path: Path, limits: Limits | None = None, uid: int | None = None, inherited: socket.socket | None = None
    ) -> None:
        self.path = path
        self.echo = Echo()
        self.counters = Counters()
        self.server = HttpSocket(path, self.echo, limits=limits, counters=self.counters, uid=uid, inherited=inherited)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        try:
            self.run(self.server.start())
        except BaseException:
            self._end()
            raise

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def stop(self) -> None:
        self.run(self.server.stop())
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def connect(self) -> socket.socket:
        return connect(self.path)

    def counted(self, name: str) -> int:
        return self.counters.snapshot().get(name, 0)

    def until(self, condition: Callable[[], bool]) -> None:
        async def look() -> None:
            while not condition():  # noqa: ASYNC110  (what is waited for tells nobody)
                await asyncio.sleep(0.005)

        self.run(asyncio.wait_for(look(), 10))


def connect(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    client.connect(str(path))
    return client


def read_response(client: socket.socket) -> tuple[int, bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(65536)
        if not more:
            raise EOFError(data)
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += client.recv(65536)
    return int(head.split()[1]), head, body


def ask(path: Path, request: bytes = GET) -> tuple[int, bytes, bytes]:
    with connect(path) as client:
        client.sendall(request)
        return read_response(client)


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def short() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def served(short: Path) -> Iterator[Served]:
    running = Served(short / "run/status.sock", SMALL)
    yield running
    running.stop()


@pytest.fixture
def hasty(short: Path) -> Iterator[Served]:
    running = Served(short / "run/status.sock", HASTY)
    yield running
    running.stop()


def test_it_answers_and_curl_like_clients_may_keep_the_connection(served: Served) -> None:
    """Two requests on one connection, then two at once (pipelined), get their answers in order."""
    with served.connect() as client:
        client.sendall(GET)
        assert read_response(client)[1].startswith(b"HTTP/1.1 200 OK\r\n")
        client.sendall(GET.replace(b"/x", b"/one"))
        assert b'"/one"' in read_response(client)[2]
        client.sendall(
            GET.replace(b"/x", b"/two")
            + GET.replace(b"/x", b"/three", 1).replace(b"\r\nH", b"\r\nConnection: close\r\nH")
        )
        answers = b""
        while more := client.recv(65536):
            answers += more
        assert answers.count(b"HTTP/1.1 200") == 2
        assert answers.index(b'"/two"') < answers.index(b'"/three"')


def test_every_answer_names_the_protocol(served: Served) -> None:
    """By that a client knows whom it talks to; refusals name it too."""
    for request in (GET, b"nonsense\r\n\r\n"):
        assert b"Memsyncd-Protocol: 1" in ask(served.path, request)[1]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_the_socket_is_0600_in_a_0700_directory_whatever_the_umask(short: Path, umask: int) -> None:
    """From the first moment: no file of another mode ever stands there."""
    before = os.umask(umask)
    try:
        running = Served(short / "run/status.sock")
    finally:
        os.umask(before)
    try:
        assert stat.S_IMODE(running.path.lstat().st_mode) == 0o600
        assert stat.S_IMODE(running.path.parent.stat().st_mode) == 0o700
        assert ask(running.path)[0] == 200
    finally:
        running.stop()
    assert list(running.path.parent.iterdir()) == []


def test_a_dead_daemons_socket_is_replaced(short: Path) -> None:
    """Kill -9 leaves the file, and the next start needs no help (never-again 61)."""
    path = short / "status.sock"
    short.chmod(0o700)
    dead = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os,signal,socket,sys; s = socket.socket(1); s.bind(sys.argv[1]); s.listen(); os.kill(os.getpid(), signal.SIGKILL)",
            str(path),
        ],
        check=False,
    )
    assert dead.returncode == -signal.SIGKILL
    assert path.is_socket()
    with socket.socket(socket.AF_UNIX) as torn:  # and one that died between bind and rename
        torn.bind(str(path.with_name(".status.new")))
    running = Served(path)
    assert ask(path)[0] == 200
    running.stop()


@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
def test_what_is_no_socket_is_refused_and_kept(short: Path, kind: str) -> None:
    """The sentence names the path; exit code 78."""
    short.chmod(0o700)
    path = short / "status.sock"
    (short / "kept").write_text("kept")
    match kind:
        case "file":
            path.write_text("mine")
        case "directory":
            path.mkdir()
        case "link":
            path.symlink_to(short / "kept")
        case _:
            os.mkfifo(path)
    before = path.lstat()
    with pytest.raises(ConfigurationError, match="in the way of the socket") as refused:
        Served(path)
    assert refused.value.exit_code == 78
    assert path.lstat() == before
    assert sorted(found.name for found in short.iterdir()) == ["kept", "status.sock"]


@pytest.mark.skipif(UID != 0, reason="only root can give a file away")
def test_another_users_socket_is_refused(short: Path) -> None:
    """It may be somebody's live daemon."""
    short.chmod(0o700)
    path = short / "status.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        os.chown(path, 65534, 65534)
        with pytest.raises(ConfigurationError, match="user 65534"):
            Served(path)
    assert path.is_socket()


def test_a_directory_others_can_write_is_refused(short: Path) -> None:
    """There anybody could put a socket in our place."""
    short.chmod(0o777)
    with pytest.raises(ConfigurationError, match="chmod 700"):
        Served(short / "status.sock")


@pytest.mark.skipif(UID != 0, reason="only root can become another user")
def test_another_user_is_not_answered(short: Path) -> None:
    """Even where the modes would let her in, the kernel's word on the peer does not."""
    running = Served(short / "run/status.sock")
    try:
        for place, mode in ((short, 0o755), (running.path.parent, 0o755), (running.path, 0o777)):
            place.chmod(mode)
        script = (
            "import os,socket,sys; os.setgid(65534); os.setuid(65534)\n"
            "s = socket.socket(1); s.connect(sys.argv[1])\n"
            "try:\n    s.sendall(b'GET /status HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); print(s.recv(99))\n"
            "except OSError as error:\n    print(b'')"
        )
        said = subprocess.run(
            [sys.executable, "-c", script, str(running.path)], capture_output=True, text=True, check=True
        )
        assert said.stdout.strip() == "b''"
        running.until(lambda: running.counted("socket_peers_refused") == 1)
        assert ask(running.path)[0] == 200
    finally:
        running.stop()


def test_a_socket_that_vanished_or_was_replaced_is_noticed_and_made_again(served: Served) -> None:
    """A cleaner of temporary files must not leave a daemon that nobody can reach (never-again 62)."""
    assert served.server.still_ours()
    with served.connect() as kept:
        served.path.unlink()
        served.path.parent.rmdir()
        assert not served.server.still_ours()
        assert served.run(served.server.restart()) == ""
        assert served.server.still_ours()
        assert ask(served.path)[0] == 200
        kept.sendall(GET)
        assert read_response(kept)[0] == 200
    served.path.unlink()
    served.path.write_text("mine")
    assert not served.server.still_ours()
    assert "in the way" in served.run(served.server.restart())
    assert served.path.read_text() == "mine"
    served.path.unlink()
    assert not served.server.still_ours()
    assert served.run(served.server.restart()) == ""
    assert ask(served.path)[0] == 200
    assert served.counted("socket_recreated") == 2


def test_stopping_leaves_a_file_that_is_not_ours(short: Path) -> None:
    """What took the socket's place meanwhile is somebody's."""
    running = Served(short / "run/status.sock")
    running.path.unlink()
    running.path.write_text("mine")
    running.stop()
    assert running.path.read_text() == "mine"


def test_an_inherited_socket_is_served_and_its_file_left(short: Path) -> None:
    """A socket unit made it and keeps it over restarts."""
    path = short / "s"
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
        made.listen()
        running = Served(path, inherited=made)
        assert ask(path)[0] == 200
        assert running.server.still_ours()
        running.stop()
    assert path.is_socket()


def test_200_at_once_are_all_answered(short: Path) -> None:
    """More than have a place: the others wait in the kernel for a moment, not in vain."""
    running = Served(short / "run/status.sock", Limits(connections=64))
    try:
        barrier = threading.Barrier(200)

        def one(_: int) -> int:
            barrier.wait(20)
            return ask(running.path)[0]

        with ThreadPoolExecutor(200) as threads:
            assert list(threads.map(one, range(200))) == [200] * 200
    finally:
        running.stop()


def test_connections_that_hold_every_place_are_bounded_and_counted(served: Served) -> None:
    """One more than the bound is turned away with 503; when one leaves, its place is given again."""
    holders = [served.connect() for _ in range(SMALL.connections)]
    try:
        for holder in holders:
            holder.sendall(GET.replace(b"/x", b"/slow"))
        served.until(lambda: served.server.connections == SMALL.connections)
        with served.connect() as more:
            assert read_response(more)[0] == 503
        assert served.counted("socket_connections_refused") == 1
        holders.pop().close()
        served.until(lambda: served.server.connections < SMALL.connections)
        assert ask(served.path)[0] == 200
    finally:
        for holder in holders:
            holder.close()


def test_a_client_that_dribbles_is_closed_in_time(hasty: Served) -> None:
    """Slow loris: the limit is for the whole request, so a byte now and then buys nothing."""
    with hasty.connect() as slow:
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < 5:
                slow.sendall(b"G")
                slow.settimeout(0.05)
                try:
                    if slow.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert time.monotonic() - begun < 2
    assert hasty.counted("socket_requests_too_slow") == 1


def test_a_silent_client_is_closed_and_not_counted(hasty: Served) -> None:
    """Keeping a connection is no misuse."""
    with hasty.connect() as silent:
        assert is_closed(silent)
    assert hasty.counted("socket_requests_too_slow") == 0


def test_a_client_that_does_not_read_is_closed(short: Path) -> None:
    """A response that nobody takes ends with its connection."""

    class Big(Echo):
        async def __call__(self, request: Request) -> Response:
            return Response(200, b"x" * 20_000_000)

    running = Served(short / "run/status.sock", HASTY)
    running.server._handler = Big()
    try:
        with running.connect() as client:
            client.sendall(GET)
            running.until(lambda: running.server.connections == 1)
            running.until(lambda: running.server.connections == 0)
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\n\r\n", 400),  # no Host
        (b"GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n", 400),
        (b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /" + b"a" * 4500 + b" HTTP/1.1\r\nHost: h\r\n\r\n", 431),
        (b"GET /" + b"a" * 200_000, 431),
        (b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", 413),
        (b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n" + b"a" * 500_000, 413),
        (
            b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"400\r\n" + b"a" * 1024 + b"\r\n0\r\n\r\n",
            413,
        ),
        (b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + b"a" * 1000, 200),
        (b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200),
        (b"GET /x HTTP/1.0\r\n\r\n", 200),
        (b"GET /x HTTP/1.1\r\nHost: anything.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 200),
    ],
)
def test_what_is_wrong_with_a_request_is_told_as_json(served: Served, request_bytes: bytes, status: int) -> None:
    """The client reads the answer even when it was refused in the midst of its sending."""
    with served.connect() as client:
        try:
            client.sendall(request_bytes)
        except (BrokenPipeError, ConnectionResetError):
            pytest.fail("the connection was closed over what was being sent")
        found, head, body = read_response(client)
    assert found == status
    assert b"application/json" in head
    assert (b'"error"' in body) == (status != 200)


def test_expect_100_continue_is_answered(served: Served) -> None:
    """Before a large body curl asks whether it may send it."""
    with served.connect() as client:
        client.sendall(b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 100")
        client.sendall(b"abc")
        assert b'"length": 3' in read_response(client)[2]


def test_head_gets_no_body(served: Served) -> None:
    """The next answer on the connection is not taken for it."""
    with served.connect() as client:
        client.sendall(GET.replace(b"GET", b"HEAD"))
        head = client.recv(65536)
        assert head.endswith(b"\r\n\r\n")
        client.sendall(GET)
        assert read_response(client)[0] == 200


def test_a_fault_of_ours_is_500_and_the_next_request_is_served(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    """One failing answer hurts one client, and tells it none of the words in the error."""
    status, _, body = ask(served.path, GET.replace(b"/x", b"/fault"))
    assert status == 500
    assert b"words" not in body
    assert ask(served.path)[0] == 200
    assert served.counted("socket_faults") == 1
    capsys.readouterr()


def test_a_client_that_leaves_ends_what_it_waited_for(served: Served) -> None:
    """A hundred abandoned long polls must not sum up to a hundred waits."""
    with served.connect() as client:
        client.sendall(GET.replace(b"/x", b"/slow"))
        assert served.echo.entered.wait(5)
        time.sleep(0.1)  # past the moment from which on it is a wait; nothing tells it
    assert served.echo.cancelled.wait(5)
    served.until(lambda: served.server.connections == 0)


def test_stopping_ends_waits_at_once(short: Path) -> None:
    """SIGTERM must not wait for somebody's long poll."""
    running = Served(short / "run/status.sock", SMALL)
    with running.connect() as client:
        client.sendall(GET.replace(b"/x", b"/slow"))
        assert running.echo.entered.wait(5)
        begun = time.monotonic()
        running.stop()
        assert time.monotonic() - begun < 1
        assert is_closed(client)
    assert not running.path.exists()


def test_a_crowded_server_ends_the_connections_it_answers(served: Served) -> None:
    """Clients that keep their connections must not keep out the others."""
    held = [served.connect() for _ in range(SMALL.connections // 2)]
    with served.connect() as last:
        served.until(lambda: served.server.connections == len(held) + 1)
        last.sendall(GET)
        assert b"connection: close" in read_response(last)[1].lower()
        assert is_closed(last)
    held[0].sendall(GET)
    assert b"connection: close" not in read_response(held[0])[1].lower()
    for client in held:
        client.close()


def test_a_path_too_long_is_served_at_its_short_one(tmp_path: Path) -> None:
    """In a deep home folder daemon and client meet all the same (never-again 68)."""
    deep = tmp_path / ("d" * 100)
    places = resolve({"MEMSYNCD_HOME": str(deep)}, Path("/home/ada"), UID, sys.platform)
    assert places.socket_is_shortened
    running = Served(places.status_socket)
    try:
        assert SocketClient(places.status_socket).get("/x")["path"] == "/x"
        assert stat.S_IMODE(places.runtime.stat().st_mode) == 0o700
    finally:
        running.stop()


OUT_OF_DESCRIPTORS = """
import asyncio, os, resource, sys, time
from pathlib import Path
from daemon.http_message import json_response
from daemon.http_socket import HttpSocket
from memsyncd.counters import Counters

class Handler:
    async def __call__(self, request):
        return json_response(200, {})
    def close(self):
        pass

async def main():
    counters = Counters()
    server = HttpSocket(Path(sys.argv[1]), Handler(), counters=counters)
    await server.start()
    loop = asyncio.get_running_loop()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    print("full", flush=True)
    used = time.process_time()
    while not counters.snapshot().get("socket_connections_refused"):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    print(time.process_time() - used, counters.snapshot()["socket_connections_refused"], flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    await loop.run_in_executor(None, sys.stdin.read)
    await server.stop()

asyncio.run(main())
"""


def test_without_a_descriptor_left_it_waits_and_then_serves(short: Path) -> None:
    """It must not spin over a connection it cannot take, nor forget it."""
    path = short / "run/status.sock"
    child = subprocess.Popen(
        [sys.executable, "-c", OUT_OF_DESCRIPTORS, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout
    assert child.stdout.readline() == "full\n"
    with connect(path) as client:
        client.sendall(GET)
        used, refused = child.stdout.readline().split()
        assert read_response(client)[0] == 200
    child.communicate(timeout=10)
    assert child.returncode == 0
    assert float(used) < 0.15
    assert int(refused) <= 2


@pytest.fixture(scope="module")
def hardy() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        running = Served(
            Path(name) / "run/status.sock",
            Limits(request_seconds=0.05, idle_seconds=0.05, body_bytes=50, header_bytes=300),
        )
        yield running
        running.stop()


PIECES = st.sampled_from(
    [b"GET ", b"POST ", b"/x", b"?a=%", b" HTTP/1.1", b" HTTP/1.0", b" HTTP/9", b"\r\n", b"\r\n\r\n", b"\n", b"\0", b"Host: h\r\n",
     b"Content-Length: 5\r\n", b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"5\r\nabcde\r\n",
     b"0\r\n\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02", b"a" * 400]
)  # fmt: skip


@given(pieces=st.lists(PIECES | st.binary(max_size=30), max_size=12), half_close=st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_kill_it(hardy: Served, pieces: list[bytes], half_close: bool) -> None:
    """Whatever a client sends, it is answered or closed, nothing of ours faults, and the next client is served."""
    with hardy.connect() as client:
        try:
            for piece in pieces:
                client.sendall(piece)
            if half_close:
                client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert ask(hardy.path)[0] == 200
    assert hardy.counted("socket_faults") == 0
