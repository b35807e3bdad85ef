"""What a call has given up does not arrive later: the kernel delivers nothing more of it.

Somebody looks on the platform meanwhile, finds nothing, and sends it again.
"""

import itertools
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import httpcore
import httpx
import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.http_client import HttpClient
from memsyncd.platforms.network import UNACKNOWLEDGED_MS, Network
from memsyncd.platforms.platform import Unreachable
from memsyncd.platforms.transport import HttpSettings, open_transport

BODY = b"x" * 200_000
"""More than the deaf server takes in, less than the kernel here keeps to send."""


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """Give a server that takes connections and reads nothing, with hardly any room for what it does not read."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener


def connected(
    deaf: socket.socket, monotonic: Callable[[], float] = time.monotonic
) -> tuple[Network, httpcore.NetworkStream]:
    network = Network(monotonic)
    host, port = deaf.getsockname()
    return network, network.connect_tcp(host, port, 60.0)


def arrived(server: socket.socket) -> int:
    """Read to the end; return how many bytes came before it."""
    server.settimeout(60.0)
    read = 0
    try:
        while piece := server.recv(65_536):
            read += len(piece)
    except ConnectionResetError:
        pass
    return read


def test_a_request_that_had_no_answer_in_time_is_not_delivered_afterwards(deaf: socket.socket) -> None:
    """All of it was handed to the kernel, and the platform's machine had room for little: the rest stays here."""
    network, stream = connected(deaf)
    with closing(network), closing(deaf.accept()[0]) as server:
        stream.write(BODY, 60.0)
        with pytest.raises(httpcore.ReadTimeout):
            stream.read(1, 0.05)
        stream.close()
        assert arrived(server) < len(BODY)


def test_a_process_that_is_killed_in_a_call_delivers_no_more_of_it(deaf: socket.socket) -> None:
    """Its claim runs out and another worker looks; what it had not sent by then is not to come after that."""
    child = os.fork()
    if not child:
        try:
            _, stream = connected(deaf)
            stream.write(BODY, 60.0)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    with closing(deaf.accept()[0]) as server:
        os.waitpid(child, 0)
        assert arrived(server) < len(BODY)


def test_a_connection_whose_call_was_answered_is_closed_in_good_order(deaf: socket.socket) -> None:
    """The other side sees the end of it, no break."""
    network, stream = connected(deaf)
    with closing(network), closing(deaf.accept()[0]) as server:
        stream.write(b"question", 60.0)
        assert server.recv(100) == b"question"
        server.sendall(b"answer")
        assert stream.read(100, 60.0) == b"answer"
        stream.close()
        server.settimeout(60.0)
        assert server.recv(1) == b""


def test_the_kernel_alone_gives_up_within_a_claim(deaf: socket.socket) -> None:
    """Of a worker that stands still: nobody closes its connection, and what it had sent is sent again by the kernel."""
    network, stream = connected(deaf)
    with closing(network):
        found = stream.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert found == UNACKNOWLEDGED_MS
        stream.close()


def test_a_process_that_stood_still_past_the_calls_time_sends_nothing_more(deaf: socket.socket) -> None:
    """It wakes between the moment that it wrote down and the first byte: its claim may be another's."""
    now = [0.0]
    network, stream = connected(deaf, lambda: now[0])
    with closing(network), closing(deaf.accept()[0]) as server:
        with network.call(5.0):
            now[0] = 6.0
            with pytest.raises(httpcore.WriteTimeout):
                stream.write(b"request", 5.0)
        stream.close()
        assert arrived(server) == 0


def test_a_system_that_slept_past_the_calls_time_sends_nothing_more(deaf: socket.socket) -> None:
    """What a system sleeps counts: its claims, which go by another's clock, have run out."""
    slept = itertools.chain([0.0], itertools.repeat(60.0))  # between the call's begin and its connection
    clock = Clock(monotonic=lambda: 0.0, up=lambda: next(slept))
    host, port = deaf.getsockname()
    url = httpx.URL(f"http://{host}:{port}")
    client = HttpClient(str(url), lambda network: open_transport(url, HttpSettings(), network, {}), clock)
    with closing(client), pytest.raises(Unreachable):
        client.call("POST", "/", headers={}, body=b"request", seconds=1.0, safe=False)
