"""Sockets under a deadline and a stop: in a name lookup, a connect, a handshake, a read."""

import contextlib
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd import turn
from memsyncd.clock import Clock
from memsyncd.platforms import addresses, transport
from memsyncd.platforms.http_client import HttpClient
from memsyncd.platforms.http_errors import platform_error
from memsyncd.platforms.network import CallEndedError, Network
from memsyncd.platforms.platform import Cancelled, NoAnswer, PlatformError, Rejected, Unreachable
from memsyncd.platforms.transport import HttpSettings
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import FakeMem0


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network(time.monotonic)
    yield made
    made.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Give a socket that takes connections into its queue and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


SOON = 15.0
"""Seconds in which what is ended has ended on the busiest machine; by itself it would go on for longer."""


def ended_after(act: Callable[[], object], stop: Callable[[], None]) -> tuple[float, BaseException | None]:
    """Run `act` in a thread, call `stop` once it is under way, and return how long it went on and what it raised.

    Nothing tells that it is under way, so `stop` may be called again.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001  (whatever it is, it is the result)
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(0.1)
    assert thread.is_alive(), "nothing to end"
    started = time.monotonic()
    while thread.is_alive() and time.monotonic() - started < SOON:
        stop()
        thread.join(1)
    return time.monotonic() - started, raised[0] if raised else None


def full_queue() -> tuple[list[socket.socket], int]:
    """Return sockets that fill a listener's queue, so that further connects to the port hang."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    held = [listening]
    for _ in range(3):
        filler = socket.socket()
        filler.settimeout(0)
        filler.connect_ex(listening.getsockname())
        held.append(filler)
    return held, listening.getsockname()[1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux leaves a connect hanging at a full queue")
def test_ends_a_connect_that_hangs(network: Network) -> None:
    """A connect nobody answers ends at its deadline, and at once when the calls are ended."""
    held, port = full_queue()
    try:
        started = time.monotonic()
        with network.call(0.2), pytest.raises(httpcore.ConnectTimeout):
            network.connect_tcp("127.0.0.1", port, timeout=30)
        assert time.monotonic() - started < SOON
        took, raised = ended_after(lambda: network.connect_tcp("127.0.0.1", port, timeout=30), network.end_calls)
        assert took < SOON
        assert isinstance(raised, CallEndedError)
    finally:
        for opened in held:
            opened.close()


def test_ends_a_name_lookup_that_hangs() -> None:
    """A resolver that answers nobody holds no worker: not past the deadline, not past the stop."""
    release, begun = threading.Event(), threading.Event()
    asked: list[str] = []

    def resolve(host: str, _: int) -> list[Any]:
        asked.append(host)
        begun.set()
        release.wait(60)
        return []

    network = Network(time.monotonic, resolve)
    try:
        with network.call(0.1), pytest.raises(httpcore.ConnectTimeout, match="name server"):
            network.connect_tcp("api.example.org", 443, timeout=30)
        took, raised = ended_after(lambda: network.connect_tcp("api.example.org", 443, timeout=30), network.end_calls)
        assert took < SOON
        assert isinstance(raised, CallEndedError)
        assert begun.wait(60)
        assert asked == ["api.example.org"], "one lookup serves all who wait for it"
    finally:
        release.set()
        network.close()


def test_names_a_host_that_does_not_exist() -> None:
    """A failed lookup is unreachable and speaks of the address, not of a refused connection."""

    def resolve(_: str, __: int) -> list[Any]:
        raise socket.gaierror(-2, "Name or service not known")

    network = Network(time.monotonic, resolve)
    with pytest.raises(httpcore.ConnectError) as raised:
        network.connect_tcp("api.example.org", 443, timeout=5)
    error = platform_error(raised.value, "api.example.org")
    assert type(error) is Unreachable
    assert error.message == "the address of api.example.org is not known (Name or service not known)"
    network.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux leaves a connect hanging at a full queue")
def test_tries_each_address_of_a_name(listener: socket.socket) -> None:
    """An address that refuses or hangs does not keep us from the next one."""
    held, dead_port = full_queue()
    good = listener.getsockname()

    def resolve(_: str, __: int) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in (("127.0.0.1", dead_port), good)]

    network = Network(time.monotonic, resolve)
    with network.call(60.0) as call:
        network.connect_tcp("api.example.org", 443, timeout=3.0).close()
    assert call.connected
    for opened in held:
        opened.close()
    network.close()


def test_ends_a_handshake_that_hangs(network: Network, listener: socket.socket) -> None:
    """A server that takes the connection and speaks no TLS holds nobody."""
    port = listener.getsockname()[1]
    context = ssl.create_default_context()

    def shake_hands() -> None:
        network.connect_tcp("127.0.0.1", port, timeout=30).start_tls(context, "localhost", timeout=30)

    with network.call(0.2), pytest.raises(httpcore.ConnectTimeout):
        shake_hands()
    took, raised = ended_after(shake_hands, network.end_calls)
    assert took < SOON
    assert isinstance(raised, CallEndedError)


def test_a_request_that_is_not_taken_ends_too(network: Network, listener: socket.socket) -> None:
    """A server that stops reading ends a long write at the deadline."""
    with network.call(2.0) as call:
        stream = network.connect_tcp("127.0.0.1", listener.getsockname()[1], timeout=5)
        with pytest.raises(httpcore.WriteTimeout):
            stream.write(b"x" * 64 * 1024 * 1024, timeout=30)
        stream.close()
    assert call.sent


def test_builds_the_client_anew_after_waits_in_its_pool() -> None:
    """Two waits in the pool without an answer between them, and the next call has a new client (never-again 153)."""
    built: list[int] = []

    def open_transport(_: Network) -> httpx.BaseTransport:
        built.append(1)
        generation = len(built)

        def answer(request: httpx.Request) -> httpx.Response:
            if generation == 1 and request.url.path != "/fine":
                raise httpx.PoolTimeout("stuck")
            return httpx.Response(200, stream=httpx.ByteStream(b"{}"))

        return httpx.MockTransport(answer)

    client = HttpClient("http://127.0.0.1:1", open_transport, Clock())

    def get(path: str) -> int:
        return client.call("GET", path, headers={}, seconds=1).status

    for path in ("/stuck", "/fine", "/stuck"):
        with contextlib.suppress(Unreachable):
            get(path)
    assert len(built) == 1
    with pytest.raises(Unreachable):
        get("/stuck")
    assert get("/stuck") == 200
    assert len(built) == 2
    client.close()


def test_drops_connections_without_breaking_the_calls_on_them() -> None:
    """A call in the air ends on its old connection after the drop; the old client is closed only then."""
    in_the_air, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    class Slow(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            in_the_air.set()
            go_on.wait(60)
            assert not closed.is_set()
            return httpx.Response(200, stream=httpx.ByteStream(b"{}"))

        def close(self) -> None:
            closed.set()

    client = HttpClient("http://127.0.0.1:1", lambda _: Slow(), Clock())
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(client.call("GET", "/", headers={}, seconds=60).status))
    thread.start()
    assert in_the_air.wait(60)
    client.drop_connections()
    assert not closed.is_set()
    go_on.set()
    thread.join(60)
    assert answers == [200]
    assert closed.is_set()
    client.close()


def test_a_call_that_waits_for_its_answer_leaves_its_turn_to_others(listener: socket.socket) -> None:
    """And goes on in turn, so that the next one waits no longer than its computing lasts."""
    client = client_of(listener.getsockname()[1], lambda _family, _address: True)
    states: list[bool] = []

    def call() -> None:
        with turn.taken():
            states.append(client.call("GET", "/", headers={}, seconds=60).status == 200)

    thread = threading.Thread(target=call)
    thread.start()
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(60)
        while b"\r\n\r\n" not in connection.recv(65536, socket.MSG_PEEK):
            pass
        ends = time.monotonic() + SOON
        while not _had_the_turn():
            assert time.monotonic() < ends
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        thread.join(60)
    client.close()
    assert states == [True]


def _had_the_turn() -> bool:
    """Tell whether it was to be had; nobody waits for it for long."""
    with turn.taken():
        return turn.has()


def client_of(port: int, is_here: Callable[[int, str], bool]) -> HttpClient:
    url = httpx.URL(f"http://127.0.0.1:{port}")
    return HttpClient(
        str(url),
        lambda network: transport.open_transport(url, HttpSettings(), network, {}),
        Clock(),
        is_here=is_here,
    )


def test_a_call_from_an_address_that_is_gone_ends_with_the_drop(listener: socket.socket) -> None:
    """Its answer has no way back, and it may have been read: that is no answer, and not our own stop. Where the address
    is still the machine's, the call is left alone."""
    gone = threading.Event()
    asked: list[tuple[int, str]] = []
    taken: list[socket.socket] = []

    def is_here(family: int, name: str) -> bool:
        asked.append((family, name))
        return not gone.is_set()

    client = client_of(listener.getsockname()[1], is_here)

    def move() -> None:
        if gone.is_set():
            return
        taken.append(listener.accept()[0])
        assert taken[0].recv(1)
        client.drop_connections()
        assert asked == [(socket.AF_INET, "127.0.0.1")]
        gone.set()
        client.drop_connections()

    took, raised = ended_after(lambda: client.call("POST", "/", headers={}, seconds=30, body=b"{}", safe=False), move)
    assert took < SOON
    assert isinstance(raised, NoAnswer) and not isinstance(raised, Cancelled)
    client.close()
    taken[0].close()


def test_a_question_from_an_address_that_is_gone_is_asked_again() -> None:
    """On a kept connection and changing nothing, it goes out anew at once."""
    with FakeMem0() as fake:
        client = client_of(fake.port, lambda _family, _name: False)

        def ask() -> None:
            answers.append(client.call("GET", "/v1/ping/", headers={}, seconds=30).status)

        answers: list[int] = []
        ask()
        fake.script("ping", behave.hang())
        thread = threading.Thread(target=ask)
        thread.start()
        fake.wait_for(lambda seen: len(seen.requests("ping")) == 2)
        client.drop_connections()
        thread.join(60)
        assert answers == [401, 401]
        client.close()


def test_what_tells_whether_an_address_is_here_asks_the_system() -> None:
    """Loopback's is, one of nobody's is not."""
    assert addresses.is_here(socket.AF_INET, "127.0.0.1")
    assert not addresses.is_here(socket.AF_INET, "192.0.2.1")
    assert not addresses.is_here(socket.AF_INET6, "2001:db8::1")


def test_a_call_that_finds_no_place_sends_nothing() -> None:
    """More calls than may be in the air wait a while for a place and then say that nothing was sent."""
    in_the_air, go_on = threading.Event(), threading.Event()

    def answer(_: httpx.Request) -> httpx.Response:
        in_the_air.set()
        go_on.wait(60)
        return httpx.Response(200, stream=httpx.ByteStream(b""))

    client = HttpClient("http://127.0.0.1:1", lambda _: httpx.MockTransport(answer), Clock(), parallel=1)
    thread = threading.Thread(target=lambda: client.call("GET", "/", headers={}, seconds=60))
    thread.start()
    assert in_the_air.wait(60)
    with pytest.raises(Unreachable):
        client.call("POST", "/", headers={}, seconds=0.1, body=b"{}", safe=False)
    took, raised = ended_after(lambda: client.call("GET", "/", headers={}, seconds=20), client.cancel)
    assert took < SOON
    assert isinstance(raised, Cancelled)
    go_on.set()
    thread.join(60)
    client.close()


@settings(max_examples=60, deadline=None)
@given(raw=st.binary(max_size=300) | st.binary(max_size=80).map(lambda rest: b"HTTP/1.1 200 OK\r\n" + rest))
def test_whatever_bytes_come_back_the_error_is_ours(raw: bytes) -> None:
    """A peer that speaks no HTTP, or broken HTTP, gives an answer or a PlatformError and nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                connected, _ = listening.accept()
                with connected:
                    connected.recv(4096)
                    connected.sendall(raw)

        thread = threading.Thread(target=serve)
        thread.start()
        url = httpx.URL(f"http://127.0.0.1:{listening.getsockname()[1]}")
        client = HttpClient(
            str(url), lambda network: transport.open_transport(url, HttpSettings(), network, {}), Clock()
        )
        with contextlib.suppress(PlatformError):
            client.call("GET", "/", headers={}, seconds=60, safe=False)
        client.close()
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(60)


def to_loopback(port: int) -> Callable[[str, int], list[Any]]:
    """Return a resolver that knows every name as a port on loopback."""
    return lambda _, __: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a certificate for api.example.org that signed itself, and its key."""
    place = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=api.example.org "
        "-addext subjectAltName=DNS:api.example.org -keyout key.pem -out cert.pem"
    )
    try:
        subprocess.run(command.split(), cwd=place, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the openssl command to make a certificate")
    return place / "cert.pem", place / "key.pem"


@contextlib.contextmanager
def tls_server(certificate: tuple[Path, Path]) -> Iterator[int]:
    """Answer one connection after another with a small JSON object over TLS; yields the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connected, _ = listening.accept()
                with (
                    connected,
                    contextlib.suppress(OSError),
                    context.wrap_socket(connected, server_side=True) as secure,
                ):
                    secure.settimeout(60)
                    served = 0
                    while secure.recv(4096):
                        served += 1
                        body = b'{"tls": %d}' % served
                        secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(60)


def fetch(url: str, settings: HttpSettings, port: int, times: int = 1) -> httpx.Response:
    """Get `url` with every name on loopback, `times` times, and return the last answer."""
    network = Network(time.monotonic, to_loopback(port))
    try:
        opened = transport.open_transport(httpx.URL(url), settings, network, {})
        with httpx.Client(transport=opened, trust_env=False) as client:
            for _ in range(times):
                with network.call(60):
                    answer = client.get(url)
            return answer
    finally:
        network.close()


def test_a_certificate_nobody_signed_is_named_as_the_trouble(certificate: tuple[Path, Path]) -> None:
    """Behind an intercepting proxy the error says certificate, not network, and what to set (never-again 154)."""
    with tls_server(certificate) as port:
        with pytest.raises(httpcore.ConnectError) as raised:
            fetch("https://api.example.org/", HttpSettings(), port)
        error = platform_error(raised.value, "api.example.org")
        assert type(error) is Unreachable
        assert "certificate of api.example.org is not trusted" in error.message
        assert "http.ca_file" in error.message
        assert fetch("https://api.example.org/", HttpSettings(ca_file=str(certificate[0])), port).json() == {"tls": 1}


def test_an_encrypted_connection_is_kept(certificate: tuple[Path, Path]) -> None:
    """Session tickets that a server sends unasked do not make a kept connection look closed."""
    with tls_server(certificate) as port:
        settings = HttpSettings(ca_file=str(certificate[0]))
        assert fetch("https://api.example.org/", settings, port, times=5).json() == {"tls": 5}


@contextlib.contextmanager
def tunnel(port: int) -> Iterator[tuple[str, list[bytes]]]:
    """Be a proxy that tunnels one connection to `port` whatever is asked for; yields its URL and what it was asked."""
    asked: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            client, _ = listening.accept()
            with client, socket.create_connection(("127.0.0.1", port)) as server:
                asked.append(client.recv(4096))
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=pump, args=(server, client))
                back.start()
                pump(client, server)
                back.join(60)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(60)


def test_speaks_tls_through_a_proxy(certificate: tuple[Path, Path]) -> None:
    """An https platform is reached through the proxy's tunnel, with the proxy's own credentials, and checked itself."""
    with tls_server(certificate) as port, tunnel(port) as (proxy, asked):
        settings = HttpSettings(proxy=proxy.replace("//", "//me:" + "x" * 3 + "@"), ca_file=str(certificate[0]))
        assert fetch("https://api.example.org/", settings, 1, times=2).json() == {"tls": 2}
    assert asked[0].startswith(b"CONNECT api.example.org:443 HTTP/1.1")
    assert b"proxy-authorization: basic " in asked[0].lower()


def test_tls_inside_tls_passes_bytes_through(certificate: tuple[Path, Path], network: Network) -> None:
    """A stream encrypted twice, as behind an https proxy, reads what was written and ends where the other side ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    ours = ssl.create_default_context(cafile=str(certificate[0]))
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connected, _ = listening.accept()
        with connected, context.wrap_socket(connected, server_side=True) as outer:
            received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
            inner = context.wrap_bio(received, to_send, server_side=True)

            def run(act: Callable[[], Any]) -> Any:
                while True:
                    try:
                        result = act()
                    except ssl.SSLWantReadError:
                        outer.sendall(to_send.read())
                        received.write(outer.recv(65536))
                    else:
                        outer.sendall(to_send.read())
                        return result

            run(inner.do_handshake)
            run(lambda: inner.write(run(lambda: inner.read(100)).upper()))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with network.call(60):
        stream = network.connect_tcp("127.0.0.1", listening.getsockname()[1])
        stream = stream.start_tls(ours, "api.example.org").start_tls(ours, "api.example.org")
        stream.write(b"hello")
        assert stream.read(100) == b"HELLO"
        with pytest.raises(httpcore.ReadError):
            stream.read(100)  # the inner connection ended without its farewell: cut, not finished
        stream.close()
    thread.join(60)
    listening.close()


def test_an_extra_authority_does_not_count_for_loopback(certificate: tuple[Path, Path]) -> None:
    """The setting is for the world outside (CONTRACT, Settings)."""
    with tls_server(certificate) as port, pytest.raises(httpcore.ConnectError, match="certificate"):
        fetch(f"https://localhost:{port}/", HttpSettings(ca_file=str(certificate[0])), port)


def test_a_server_without_tls_is_told_from_a_bad_certificate(listener: socket.socket) -> None:
    """An https URL of a plain server says that it speaks no TLS."""

    def serve() -> None:
        connected, _ = listener.accept()
        with connected:
            connected.recv(4096)
            connected.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with pytest.raises(httpcore.ConnectError) as raised:
        fetch("https://api.example.org/", HttpSettings(), listener.getsockname()[1])
    thread.join(60)
    assert "does not speak TLS" in platform_error(raised.value, "api.example.org").message


def test_an_unreadable_authority_file_is_said_and_not_raised_as_something_else() -> None:
    """A wrong http.ca_file makes the platform unreachable, with the setting's name in the sentence."""
    settings = HttpSettings(ca_file="/nowhere/ca.pem")
    url = httpx.URL("https://api.example.org")
    client = HttpClient(str(url), lambda network: transport.open_transport(url, settings, network, {}), Clock())
    with pytest.raises(Unreachable, match=r"http\.ca_file cannot be read"):
        client.call("GET", "/", headers={}, seconds=1)
    client.close()


def test_goes_through_the_proxy_except_to_loopback() -> None:
    """A proxy carries calls to the world, its refusal is unreachable, and calls to loopback never meet it."""
    with FakeMem0() as proxy, FakeMem0() as fake:
        assert fetch("http://api.example.org/v1/ping/", HttpSettings(proxy=proxy.url), 1).status_code == 401
        assert [request.path for request in proxy.requests()] == ["http://api.example.org/v1/ping/"]
        with pytest.raises(httpcore.ProxyError) as raised:
            fetch("https://api.example.org/v1/ping/", HttpSettings(proxy=proxy.url), 1)
        assert type(platform_error(raised.value, "api.example.org")) is Unreachable
        before = len(proxy.requests())
        assert fetch(f"{fake.url}/v1/ping/", HttpSettings(proxy=proxy.url), 1).status_code == 401
        assert len(proxy.requests()) == before


@pytest.mark.parametrize(
    ("url", "setting", "environment", "proxy"),
    [
        ("https://api.example.org", "", {}, ""),
        ("https://api.example.org", "", {"https": "http://p:1"}, "http://p:1"),
        ("https://api.example.org", "", {"http": "http://p:1"}, ""),
        ("https://api.example.org", "", {"all": "p:1"}, "http://p:1"),
        ("https://api.example.org", "", {"https": "http://p:1", "no": "example.org"}, ""),
        ("https://api.example.org:8443", "", {"https": "http://p:1", "no": "api.example.org:8443"}, ""),
        ("https://api.example.org", "", {"https": "http://p:1", "no": "*"}, ""),
        ("https://api.example.org", "http://q:2", {"https": "http://p:1", "no": "*"}, "http://q:2"),
        ("http://127.0.0.1:80", "http://q:2", {"all": "http://p:1"}, ""),
        ("http://127.8.9.1", "http://q:2", {}, ""),
        ("http://localhost:80", "http://q:2", {}, ""),
        ("http://LOCALHOST.", "http://q:2", {}, ""),
        ("http://[::1]:80", "http://q:2", {}, ""),
        ("http://localhost.example.org", "http://q:2", {}, "http://q:2"),
    ],
)
def test_chooses_the_proxy(url: str, setting: str, environment: dict[str, str], proxy: str) -> None:
    """The setting goes before the environment, and nothing goes before loopback."""
    assert transport.choose_proxy(httpx.URL(url), setting, environment) == proxy


@pytest.mark.parametrize("proxy", ["socks5://p:1", "http://", "http://[", "p"])
def test_a_proxy_of_another_kind_is_said(proxy: str) -> None:
    """A proxy we cannot speak to makes the platform unreachable instead of stopping the daemon."""
    url = httpx.URL("http://api.example.org")
    settings = HttpSettings(proxy=proxy)
    client = HttpClient(str(url), lambda network: transport.open_transport(url, settings, network, {}), Clock())
    with pytest.raises(Unreachable, match="prox"):
        client.call("GET", "/", headers={}, seconds=1)
    client.close()


def test_closing_ends_what_is_in_the_air(listener: socket.socket) -> None:
    """A closed client ends its calls and refuses new ones."""
    url = httpx.URL(f"http://127.0.0.1:{listener.getsockname()[1]}")
    client = HttpClient(str(url), lambda network: transport.open_transport(url, HttpSettings(), network, {}), Clock())
    took, raised = ended_after(lambda: client.call("GET", "/", headers={}, seconds=30), client.close)
    assert took < SOON
    assert isinstance(raised, Cancelled)
    with pytest.raises(Cancelled):
        client.call("GET", "/", headers={}, seconds=1)
    client.close()


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (httpx.ConnectError("refused"), Unreachable),
        (httpx.ConnectTimeout("slow"), Unreachable),
        (httpx.ProxyError("403"), Unreachable),
        (httpx.UnsupportedProtocol("ftp"), Unreachable),
        (httpx.PoolTimeout("full"), Unreachable),
        (httpcore.PoolTimeout("full"), Unreachable),
        (httpx.ReadTimeout("slow"), NoAnswer),
        (httpx.WriteTimeout("slow"), NoAnswer),
        (httpx.ReadError("reset"), NoAnswer),
        (httpx.WriteError("reset"), NoAnswer),
        (httpx.RemoteProtocolError("garbage"), NoAnswer),
        (httpx.StreamClosed(), NoAnswer),
        (RuntimeError("nobody foresaw it"), NoAnswer),
        (httpx.InvalidURL("too long"), Rejected),
        (httpx.LocalProtocolError("illegal header"), Rejected),
        (httpcore.LocalProtocolError("illegal header"), Rejected),
        (CallEndedError(), Cancelled),
    ],
)
def test_each_lower_error_is_one_of_ours(failure: Exception, error: type[PlatformError]) -> None:
    """What never left is unreachable, what is in doubt may have arrived, and none repeats a header."""
    mapped = platform_error(failure, "api.example.org")
    assert type(mapped) is error
    assert "illegal header" not in mapped.message
