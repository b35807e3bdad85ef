"""One connection: requests good and bad, slow clients, and any bytes at all."""

import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.status_socket.http_connection import Limits
from daemon.status_socket.http_message import Request, Response
from tests.daemon.status_socket.serving import GET, HASTY, Echo, Served, ask, is_closed, read_response


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


def test_a_client_that_dribbles_is_closed_in_time(hasty: Served) -> None:
    """Slow loris: the limit is for the whole request, so a byte now and then buys nothing."""
    with hasty.connect() as slow:
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < 30:
                slow.sendall(b"G")
                slow.settimeout(0.05)
                try:
                    if slow.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert time.monotonic() - begun < 30
    assert hasty.counted("socket_requests_too_slow") == 1


def test_a_silent_client_is_closed_and_not_counted(short: Path) -> None:
    """Keeping a connection is no misuse."""
    running = Served(short / "run/status.sock", Limits(idle_seconds=0.3))
    try:
        with running.connect() as silent:
            assert is_closed(silent)
        assert running.counted("socket_requests_too_slow") == 0
    finally:
        running.stop()


def test_a_client_that_does_not_read_is_closed(short: Path) -> None:
    """A response that nobody takes ends with its connection."""

    class Big(Echo):
        async def __call__(self, request: Request) -> Response:
            self.entered.set()
            return Response(200, b"x" * 20_000_000)

    running = Served(short / "run/status.sock", HASTY)
    running.server._handler = big = Big()
    try:
        with running.connect() as client:
            client.sendall(GET)
            assert big.entered.wait(60)
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
        assert served.echo.entered.wait(60)
        time.sleep(0.1)  # past the moment from which on it is a wait; nothing tells it
    assert served.echo.cancelled.wait(60)
    served.until(lambda: served.server.connections == 0)


PATIENT = Limits(body_bytes=50, header_bytes=300)
IMPATIENT = replace(PATIENT, request_seconds=0.05, idle_seconds=0.05)


@pytest.fixture(scope="module")
def hardy() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        running = Served(Path(name) / "run/status.sock")
        yield running
        running.stop()


PIECES = st.sampled_from(
    [b"GET ", b"POST ", b"/x", b"?a=%", b" HTTP/1.1", b" HTTP/1.0", b" HTTP/9", b"\r\n", b"\r\n\r\n", b"\n", b"\0", b"Host: h\r\n",
     b"Content-Length: 5\r\n", b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"5\r\nabcde\r\n",
     b"0\r\n\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02", b"a" * 400]
)  # fmt: skip


@given(pieces=st.lists(PIECES | st.binary(max_size=30), max_size=12), half_close=st.booleans())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_no_bytes_kill_it(hardy: Served, pieces: list[bytes], half_close: bool) -> None:
    """Whatever a client sends, it is answered or closed, nothing of ours faults, and the next client is served."""
    hardy.server._limits = IMPATIENT
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
    hardy.server._limits = PATIENT
    assert ask(hardy.path)[0] == 200
    assert hardy.counted("socket_faults") == 0
