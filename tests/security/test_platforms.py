"""What a malicious platform, or whoever answers in its place, may do: take its time, and no more than that."""

import gzip
import itertools
import json
import re
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Self

import httpx
import pytest

from memsyncd.clock import Clock
from memsyncd.platforms import answers, http_answer, mem0_requests
from memsyncd.platforms.http_client import HttpClient
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.platform import (
    ExtractionState,
    KeyRefused,
    NotUnderstood,
    PlatformError,
    Query,
)
from memsyncd.platforms.refusals import refusal
from memsyncd.platforms.transport import HttpSettings, open_transport
from tests.security.hostile import ESCAPES
from tests.security.page import ROOT

KEY = "m0-" + "fake" * 8
QUERY = Query("what is used?", user_id="ada", app_id="shop", agent_ids=["shop-1"])
SECONDS = 1.5
MEGABYTE = 1 << 20


class Answering:
    """A server on loopback that takes a request and writes whatever `say` yields, until the other side has enough."""

    def __init__(self, say: Callable[[bytes], Iterator[bytes]]) -> None:
        self._say = say
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.heads: list[bytes] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(5)
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            part = connection.recv(65_536)
            if not part:
                return
            head += part
        self.heads.append(head)
        for part in self._say(head):
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass


def _whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _endless(head: bytes, piece: bytes) -> Iterator[bytes]:
    yield head
    yield from itertools.repeat(piece)


def _dripping(head: bytes) -> Iterator[bytes]:
    for letter in head:
        yield bytes([letter])
        time.sleep(0.02)
    while True:
        yield b" "
        time.sleep(0.02)


@cache
def _bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = b" " * MEGABYTE
    return b"".join([*(packer.compress(piece) for _ in range(256)), packer.flush()])


HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

SAID: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "a body without an end": lambda _: _endless(f"{HEAD}\r\n".encode(), b"[" * 65_536),
    "a body that says it has ten terabytes": lambda _: _endless(
        f"{HEAD}Content-Length: 10000000000000\r\n\r\n".encode(), b"[" * 65_536
    ),
    "pieces without an end": lambda _: _endless(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode(), b"1\r\n[\r\n" * 8_192),
    "a piece's size without an end": lambda _: _endless(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode(), b"0" * 65_536),
    "a quarter of a gigabyte, packed": lambda _: iter([_whole(_bomb(), "Content-Encoding: gzip")]),
    "packed twice": lambda _: iter([_whole(gzip.compress(gzip.compress(b"{}")), "Content-Encoding: gzip, gzip")]),
    "headers without an end": lambda _: _endless(HEAD.encode(), b"X-A: b\r\n" * 8_192),
    "a header without an end": lambda _: _endless(f"{HEAD}X-A: ".encode(), b"b" * 65_536),
    "a status line without an end": lambda _: _endless(b"HTTP/1.1 200 ", b"OK" * 32_768),
    "interim answers without an end": lambda _: _endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_024),
    "a byte now and then": lambda _: _dripping(f"{HEAD}Content-Length: 100000\r\n\r\n".encode()),
    "another protocol": lambda _: iter([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"]),
    "two lengths": lambda _: iter([f"{HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}x".encode()]),
    "a length and pieces": lambda _: iter(
        [f"{HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode()]
    ),
    "nothing of HTTP": lambda _: iter([bytes(range(256)) * 1_000]),
}  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("say", SAID.values(), ids=SAID)
def test_an_answer_of_any_size_and_pace_ends_in_time_and_little_memory(say: Callable[[bytes], Iterator[bytes]]) -> None:
    """Within the call's time, to its last byte, and never more of it held than an answer may have."""
    _bomb()  # made before the clock is looked at
    with Answering(say) as server:
        client = HttpClient(
            server.url, lambda network: open_transport(client.base, HttpSettings(), network, {}), Clock()
        )
        tracemalloc.start()
        begun = time.monotonic()
        try:
            with suppress(PlatformError):
                answer = client.call("GET", "/", headers={}, seconds=SECONDS)
                assert len(answer.body) <= http_answer.MAX_ANSWER_BYTES
            took = time.monotonic() - begun
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            client.close()
    assert took < 20 * SECONDS
    assert peak < 6 * http_answer.MAX_ANSWER_BYTES


def test_what_unpacks_to_more_than_an_answer_may_be_is_none(asked: Callable[[str], Mem0Platform]) -> None:
    """It is unpacked no further than that, whatever it would come to."""
    packed = _whole(_bomb(), "Content-Encoding: gzip")
    with Answering(lambda _: iter([packed])) as server, pytest.raises(http_answer.AnswerTooLongError):
        asked(server.url).ping()


class Held:
    """A key source with one key."""

    def __init__(self, key: str = KEY) -> None:
        self.key = key

    def current(self) -> str:
        return self.key


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Mem0Platform]]:
    made: list[Mem0Platform] = []

    def ask(url: str, key: str = KEY) -> Mem0Platform:
        made.append(Mem0Platform(url, Held(key), HttpSettings(), Clock(), proxies=dict))
        return made[-1]

    yield ask
    for each in made:
        each.close()


@pytest.mark.parametrize("status", ["301", "302", "303", "307", "308"])
@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "http://169.254.169.254/latest/meta-data/", "{other}/v1/", "//evil", "/elsewhere"]
)
def test_a_redirect_is_followed_nowhere(asked: Callable[[str], Mem0Platform], status: str, place: str) -> None:
    """Not to a file, a cloud's metadata, another server or another path: it is no answer of the platform's."""
    with Answering(lambda _: iter([_whole(b"{}")])) as other:
        location = f"Location: {place.format(other=other.url)}"
        with Answering(lambda _: iter([_whole(b"", location, status=f"{status} Elsewhere")])) as server:
            with pytest.raises(NotUnderstood, match="redirect"):
                asked(server.url).search(QUERY)
            assert len(server.heads) == 1
        assert other.heads == []


def test_no_cookie_is_kept(asked: Callable[[str], Mem0Platform]) -> None:
    """A platform marks nobody."""
    with Answering(lambda _: iter([_whole(b'{"results": []}', "Set-Cookie: a=b", "Connection: close")])) as server:
        platform = asked(server.url)
        platform.search(QUERY)
        platform.search(QUERY)
        assert len(server.heads) == 2
        assert b"cookie" not in b"".join(server.heads).lower()


def test_a_listing_s_next_page_leads_to_no_other_server(asked: Callable[[str], Mem0Platform]) -> None:
    """The key goes where it was meant for and nowhere else."""
    with Answering(lambda _: iter([_whole(b'{"results": []}')])) as other:
        body = json.dumps({"results": [], "next": f"{other.url}/v1/events/?page=2"}).encode()
        with Answering(lambda _: iter([_whole(body, "Connection: close")])) as server:
            assert [list(page) for page in asked(server.url).extractions()] == [[]]
        assert other.heads == []


@pytest.mark.parametrize(
    "event_id", ["../../v1/memories", "..", "a/b", "a?b=c", "a#b", "a%2fb", "a\r\nX-Evil: 1", "\u202e", "a b"]
)
def test_an_id_is_one_segment_of_an_address(asked: Callable[[str], Mem0Platform], event_id: str) -> None:
    """Whatever a platform calls an extraction, asking for it asks for that and nothing else."""
    with Answering(lambda _: iter([_whole(b"{}", "Connection: close", status="404 Not Found")])) as server:
        assert asked(server.url).extraction(event_id).state is ExtractionState.MISSING
        for head in server.heads:
            line, _, rest = head.partition(b"\r\n")
            assert re.fullmatch(rb"GET /v1/event/[A-Za-z0-9._~%-]+/ HTTP/1\.1", line)
            assert b"evil" not in rest.lower()


@pytest.mark.parametrize("key", ["a\r\nX-Evil: 1", "a\nb", "ключ", "a\x00"])
def test_a_key_that_would_write_a_header_is_not_sent(asked: Callable[..., Mem0Platform], key: str) -> None:
    """It is refused before anything leaves, in words that do not hold it."""
    with Answering(lambda _: iter([_whole(b"{}")])) as server:
        with pytest.raises(KeyRefused) as refused:
            asked(server.url, key).ping()
        assert server.heads == []
    assert key not in str(refused.value) and "Evil" not in str(refused.value)


ODD_JSON = (
    b"[" * MEGABYTE,
    b'{"a":' * MEGABYTE,
    b"NaN",
    b'{"results": NaN}',
    b'{"results": [' + b"9" * 100_000 + b"]}",
    b'{"results": [{"id": "a", "memory": "x", "score": ' + b"9" * 400 + b"}]}",
    b'{"results": [{"id": "a", "memory": "x", "score": 1e999}]}',
    b'{"results": [], "results": {}}',
    b'{"results": [{"id": "\\ud800", "memory": "\\udfff", "metadata": []}]}',
    b'{"results": [{"id": 7, "memory": null}, null, [], "x", {"id": {}, "memory": {}}]}',
    b'{"results": [{"id": "a", "memory": "x", "categories": {"a": 1}, "metadata": {"branch": [], "dirs": {}}}]}',
    b'\xff\xfe{"results": []}',
    b"",
    b"null",
    b"<html>",
)


@pytest.mark.parametrize("body", ODD_JSON, ids=range(len(ODD_JSON)))
def test_odd_json_is_an_answer_or_none(asked: Callable[[str], Mem0Platform], body: bytes) -> None:
    """Never another error, and never a value that is none."""
    with Answering(lambda _: iter([_whole(body, "Connection: close")])) as server:
        try:
            found = asked(server.url).search(QUERY)
        except NotUnderstood:
            return
        assert all(isinstance(memory.id, str) and isinstance(memory.memory, str) for memory in found)
        assert all(memory.score is None or abs(memory.score) < 1e300 for memory in found)


def test_what_a_platform_calls_things_is_bounded() -> None:
    """An id of a megabyte is none, a memory of a megabyte is its beginning, an error of a megabyte a sentence."""
    long = "x" * MEGABYTE
    assert answers.accepted({"event_id": long}).event_id == ""
    assert answers.memories({"results": [{"id": long, "memory": "x"}]}, top_k=1) == []
    [memory] = answers.memories({"results": [{"id": "a", "memory": long, "categories": [long]}]}, top_k=1)
    assert len(memory.memory) == answers.MAX_MEMORY
    assert memory.category == ""
    seen: list[int] = []

    def redact(text: str) -> str:
        seen.append(len(text))
        return text

    failed = answers.extraction({"id": "e", "status": "FAILED", "error": long}, "e", redact)
    assert len(failed.error) <= 300 and max(seen) < 10_000


def test_a_platform_s_words_steer_no_terminal_and_hold_no_key() -> None:
    """An error says what the platform said, on one line, without escapes and without what is secret."""
    body = json.dumps({"error": f"{ESCAPES}\nkey {KEY} is wrong"}).encode()
    error = refusal(400, {}, body, now=0.0, redact=lambda text: text.replace(KEY, "[REDACTED]"))
    assert str(error).isprintable()
    assert KEY not in str(error)


def test_a_next_address_is_the_platform_s_own() -> None:
    """Other hosts, ports, schemes and users lead nowhere."""
    base = httpx.URL("https://api.example.org/base")
    for address in (
        "https://api.example.org.evil/x",
        "https://evil/x",
        "https://api.example.org@evil/x",
        "//evil/x",
        "http://api.example.org:8080/x",
        "https://api.example.org:444/x",
        "file:///etc/passwd",
        "ftp://api.example.org/x",
        "https://[::1]/x",
        "https://api.example.org:99999/x",
    ):
        assert mem0_requests.next_path(address, "/v1/events/?page=1", base) is None


def test_certificates_are_always_checked() -> None:
    """Nothing of ours switches that off, in any file (and `tests/memsyncd/platforms` tries it on the wire)."""
    files = [path for room in ("daemon", "jobs", "memsyncd") for path in (ROOT / room).rglob("*.py")]
    words = re.compile(r"CERT_NONE|check_hostname|verify\s*=\s*False|_create_unverified|InsecureRequest")
    assert [path for path in files if words.search(path.read_text(encoding="utf-8"))] == []
