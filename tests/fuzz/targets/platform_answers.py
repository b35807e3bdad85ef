"""Platform answers: any bytes in the place of an HTTP answer, read by every call of both platforms and of the model."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpcore

from memsyncd.extracting.budget import Budget, Limits
from memsyncd.extracting.client import ModelClient
from memsyncd.extracting.extractor import Extractor
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.mem0_server import Mem0ServerPlatform
from memsyncd.platforms.owned import ListingCut, Owner
from memsyncd.platforms.platform import PlatformError
from memsyncd.platforms.transport import HttpSettings, PooledTransport
from memsyncd.recall.context import HEADED, context
from memsyncd.redaction import redact
from tests.clocks import HandClock
from tests.fuzz import planted, seeds
from tests.fuzz.target import BREAK, Target, TryOne
from tests.memsyncd.platforms.grounds import BATCH, QUERY, Key

URL = "http://memory.example.org"
LENGTH = b"@LENGTH@"
"""Stands for the true length of the body, which changes with every mutation."""

OWNER = Owner(user_id="ada", app_id="shop")


class _Answering(httpcore.NetworkBackend):
    """Answers every request on any connection with the same bytes."""

    def __init__(self) -> None:
        self.answer = b""

    def connect_tcp(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        return _Stream(self)


class _Stream(httpcore.NetworkStream):
    def __init__(self, backend: _Answering) -> None:
        self._backend = backend
        self._rest = b""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._rest = self._backend.answer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        piece, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        return piece

    def close(self) -> None:
        pass

    def get_extra_info(self, info: str) -> Any:
        return False if info == "is_readable" else None


@dataclass(frozen=True, slots=True)
class _Asked:
    """The calls by name, and where their answers come from. Each returns what is told further of the answer."""

    backend: _Answering
    calls: dict[bytes, Callable[[], object]]

    def try_one(self, content: bytes) -> None:
        name, _, answer = planted.into(content).partition(BREAK)
        head, mark, rest = answer.partition(LENGTH)
        body = rest.partition(b"\r\n\r\n")[2]
        self.backend.answer = head + (b"%d" % len(body) if mark else b"") + rest
        known = self.calls.get(name.strip()) or self.calls[sorted(self.calls)[len(content) % len(self.calls)]]
        try:
            planted.assert_absent(known())
        except PlatformError as error:
            planted.assert_absent(str(error), error.message, repr(error))
        except ListingCut:
            pass


def _told_of_extractions(pages: Iterable[Iterable[Any]]) -> object:
    return [(event.event_id[:0], event.error, event.state, event.memories) for page in pages for event in page]


def _calls(backend: _Answering, place: Path) -> tuple[dict[bytes, Callable[[], object]], Callable[[], None]]:
    clock, key = HandClock().clock(), Key(planted.SECRET)

    def connect(_: object) -> PooledTransport:
        return PooledTransport(httpcore.ConnectionPool(network_backend=backend))

    mem0 = Mem0Platform(URL, key, HttpSettings(), clock, open_connection=connect)
    server = Mem0ServerPlatform(URL, key, HttpSettings(), clock, open_connection=connect)
    client = ModelClient(f"{URL}/v1", "m", key, HttpSettings(), clock, open_connection=connect)
    budget = Budget(place / "memory.sqlite3", clock, Limits())
    extractor = Extractor(client, budget, clock, redact=redact, piece_tokens=6_000, call_seconds=5.0)
    stopping = threading.Event()

    def made() -> object:
        found = extractor.memories(BATCH, 10.0, answered=lambda: None, stopping=stopping)
        return found.why, [candidate.text for candidate in found.candidates]

    def close() -> None:
        for each in (mem0, server, client, budget):
            each.close()

    return {
        b"mem0 ping": lambda: mem0.ping() and None,
        b"mem0 add": lambda: mem0.add(BATCH).finished,
        b"mem0 extraction": lambda: _told_of_extractions([[mem0.extraction("e-1")]]),
        b"mem0 extractions": lambda: _told_of_extractions(mem0.extractions()),
        b"mem0 find": lambda: mem0.find("p-1", 0, user_id="ada", app_id="shop", posted_at=1.0) and None,
        b"mem0 search": lambda: context(mem0.search(QUERY), frame=HEADED).text,
        b"mem0 delete": lambda: mem0.delete("m-1"),
        b"mem0 memories": lambda: sum(map(len, mem0.memories_of(OWNER))),
        b"server ping": lambda: server.ping() and None,
        b"server add": lambda: server.add(BATCH).finished,
        b"server find": lambda: server.find("p-1", 0, user_id="ada", app_id="shop") and None,
        b"server search": lambda: context(server.search(QUERY), frame=HEADED).text,
        b"server delete": lambda: server.delete("m-1"),
        b"server memories": lambda: sum(map(len, server.memories_of(OWNER))),
        b"model ping": client.ping,
        b"model memories": made,
    }, close


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    backend = _Answering()
    calls, close = _calls(backend, place)
    try:
        yield _Asked(backend, calls).try_one
    finally:
        close()


_MEMORY = {"id": "m-1", "memory": "we use pnpm @PLANTED@ here", "user_id": "ada", "score": 0.7, "categories": ["workflows"],
           "created_at": "2027-01-15T07:00:00Z", "metadata": {"branch": "main", "memsyncd_packet": "p-1", "memsyncd_batch": 0}}  # fmt: skip
_EVENT = {"id": "e-1", "status": "SUCCEEDED", "results": [{"event": "ADD", "id": "m-1", "data": {"memory": "x y"}}], "created_at": "2027-01-15T07:00:00Z",
          "payload": {"metadata": {"memsyncd_packet": "p-1", "memsyncd_batch": 0}}, "error": "failed: @PLANTED@ x"}  # fmt: skip
_SAID = {"memories": [{"text": "The web client uses pnpm.", "category": "workflows", "lane": "project"}]}
BODIES: dict[str, list[Any]] = {
    "mem0 ping": [{"status": "ok", "org_id": "o", "project_id": "p", "user_email": "ada@example.org"}],
    "mem0 add": [{"event_id": "e-1", "status": "PENDING"}, {"results": [{"event_id": "e-1", "status": "PENDING"}]}, {"results": [_MEMORY]}],
    "mem0 extraction": [_EVENT, _EVENT | {"status": "FAILED"}, _EVENT | {"results": {"results": [_MEMORY]}}],
    "mem0 extractions": [{"results": [_EVENT, _EVENT], "next": "/v1/events/?page=2&page_size=100"}, [_EVENT]],
    "mem0 find": [{"results": [_EVENT]}, {"results": [_MEMORY]}],
    "mem0 search": [{"results": [_MEMORY, _MEMORY | {"id": "m-2"}]}, [_MEMORY]],
    "mem0 delete": [{"message": "Memory deleted"}, None],
    "mem0 memories": [{"results": [_MEMORY | {"session_id": "s"}], "next": "http://memory.example.org/v3/memories/?page=2"}],
    "server ping": [{"results": []}],
    "server add": [{"results": [{"id": "m-1", "memory": "a", "event": "ADD"}, {"id": "m-2", "event": "NONE"}]}],
    "server find": [{"results": [_MEMORY]}],
    "server search": [{"results": [_MEMORY]}],
    "server delete": [{"message": "ok"}],
    "server memories": [{"results": [_MEMORY]}],
    "model ping": [{"data": []}],
    "model memories": [{"choices": [{"message": {"content": json.dumps(_SAID)}}], "usage": {"total_tokens": 9}},
                       {"choices": [{"message": {"content": [{"type": "text", "text": "<think>a</think>```json\n" + json.dumps(_SAID) + "```"}]}}]}],
}  # fmt: skip
REFUSALS: tuple[tuple[str, Any], ...] = (
    ("400 Bad Request", {"error": "no @PLANTED@ here"}),
    ("401 Unauthorized", {"detail": "Invalid API key @PLANTED@"}),
    ("402 Payment Required", {"details": {"message": "quota exceeded"}}),
    ("422 Unprocessable", {"detail": [{"loc": ["body", "user_id"], "msg": "bad", "input": "@PLANTED@"}]}),
    ("429 Too Many\r\nRetry-After: 7", {"message": "rate limit"}),
    ("503 Away\r\nRetry-After: Fri, 15 Jan 2027 07:00:00 GMT\r\nDate: Fri, 15 Jan 2027 06:59:00 GMT", None),
    ("302 Found\r\nLocation: http://elsewhere.example/", None),
)


def inputs() -> Iterator[bytes]:
    """Yield a good answer to each call, and refusals."""
    for name, documents in BODIES.items():
        for document in documents:
            yield _answer(name, "200 OK", document)
    for number, (status, document) in enumerate(REFUSALS):
        yield _answer(list(BODIES)[number], status, document)
        yield _answer(list(BODIES)[-1 - number], status, document)
    yield b"mem0 ping" + BREAK + b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>portal"
    yield b"mem0 search" + BREAK + b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    yield b"mem0 search" + BREAK + b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03"


def _answer(name: str, status: str, document: Any) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: ".encode() + LENGTH
    return name.encode() + BREAK + head + b"\r\n\r\n" + (b"" if document is None else seeds.line(document))


WORDS = (
    *(name.encode() for name in BODIES),
    *b"results event_id status PENDING FAILED next metadata memsyncd_packet memsyncd_batch memory id score".split(),
    *b"choices message content usage total_tokens error detail details loc msg categories created_at quota".split(),
    *b"HTTP/1.1 200 204 404 429 500 599 99999 gzip deflate br chunked Content-Encoding: Retry-After: text/html".split(),
    *b"X-RateLimit-Reset: Transfer-Encoding: Location: 1e999 9999999999 Connection: close".split(),
    *(b"\r\n", b"\r\n\r\n", LENGTH),
)
TARGET = Target("platform_answers", opened, inputs, WORDS, share=4)
