"""The status socket: any bytes a client sends, answered by the real routes over the composed daemon."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import h11

from daemon.acting import Acts
from daemon.status_socket.http_connection import HttpConnection, Limits
from daemon.status_socket.http_message import Request, Response
from daemon.status_socket.routes import Routes, routes
from memsyncd.counters import Counters
from tests.daemon.composed import Composed, composed
from tests.fuzz import logs, planted, seeds
from tests.fuzz.logs import Logs
from tests.fuzz.target import Target, TryOne
from tests.memsyncd.platforms.grounds import BATCH

LIMITS = Limits(request_seconds=5.0, idle_seconds=5.0, body_bytes=20_000, header_bytes=4_096)
"""Smaller than the daemon's, so that inputs reach them."""

LENGTH = b"@LENGTH@"
"""Stands for the true length of the body behind it, which changes with every mutation."""

BUFFER = 1 << 21
LONGEST = 48_000


class _Handler:
    """The routes, and what they failed at."""

    def __init__(self, inner: Routes) -> None:
        self.inner = inner
        self.fault: Exception | None = None

    async def __call__(self, request: Request) -> Response:
        try:
            return await self.inner(request)
        except Exception as fault:
            self.fault = fault
            raise

    def close(self) -> None:
        self.inner.close()


class _Server:
    """Serves one connection after another, each of which has sent all it will send."""

    def __init__(self, home: Composed, lines: Logs) -> None:
        self.lines = lines
        home.parts.served.refresh(home.parts.findings)
        acts = Acts(home.parts, home.upkeep, home.view.ingest_thread)
        self.handler = _Handler(routes(home.view, acts))
        self.counters = Counters()
        self.loop = asyncio.new_event_loop()

    def close(self) -> None:
        self.handler.close()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def try_one(self, content: bytes) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for end in (ours, theirs):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
            theirs.sendall(_measured(content if _names_something(content) else planted.into(content)))
            theirs.shutdown(socket.SHUT_WR)
            ours.settimeout(0)
            self.loop.run_until_complete(self._serve(ours))
            if self.handler.fault is not None:
                fault, self.handler.fault = self.handler.fault, None
                raise fault
            answers = _all_of(theirs)
        self.lines.assert_clean()
        for head, body in _responses(answers):
            if head.status_code < 400:
                planted.assert_absent(body.decode("utf-8", "replace"))

    async def _serve(self, ours: socket.socket) -> None:
        await HttpConnection(ours, self.handler, LIMITS, self.counters).start("fuzzed")


def _all_of(client: socket.socket) -> bytes:
    """Return what the client gets; one that sent more than was read is told so by a reset, behind its answers."""
    answers = b""
    with suppress(ConnectionResetError):
        while more := client.recv(1 << 16):
            answers += more
    return answers


def _names_something(content: bytes) -> bool:
    """Whether this names a directory or an id that the answer has to name again, secret or not: none is planted."""
    return any(route in content for route in (b"/pause", b"/resume", b"/forget"))


def _measured(content: bytes) -> bytes:
    head, mark, rest = content.rpartition(LENGTH)
    body = rest.partition(b"\r\n\r\n")[2]
    return head + (b"%d" % len(body) if mark else b"") + rest


def _responses(answers: bytes) -> Iterator[tuple[h11.Response, bytes]]:
    """Yield the responses in what was answered; all of it is HTTP. To HEAD only a head is answered, so a body may be
    missing at the end."""
    if not answers:
        return
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "localhost")]))
    client.send(h11.EndOfMessage())
    client.receive_data(answers)
    head: h11.Response | None = None
    body = b""
    while True:
        event = client.next_event()
        if isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) or event is h11.NEED_DATA or event is h11.PAUSED:
            break
    if head is not None:
        yield head, body


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    with logs.watched() as lines, composed(place) as home:
        home.spool()
        server = _Server(home, lines)
        home.record("s1", "we use pnpm for the web client")
        home.parts.platform.add(BATCH)
        try:
            yield server.try_one
        finally:
            server.close()


GETS = (
    "/healthz", "/status", "/metrics", "/jobs?state=dead&kind=flush&limit=5", "/jobs/flush:claude-code:abc", "/events?since=0&wait=0", "/events?since=7", "/sessions?limit=3",
    "/history?minutes=5", "/notes", "/nothing", "//jobs/%00/retry", "/jobs/a%2Fb?x=1",
)  # fmt: skip
POSTS = {
    "/jobs/a:b/retry": {}, "/jobs/a:b/discard": {}, "/flush": {"session": "s1", "cwd": "/w/tool", "wait": False, "wait_seconds": 0}, "/pause": {"project": "/w/other", "for": "15m"},
    "/resume": {"project": "/w/other"}, "/forget": {"session": "s9", "remote": False, "yes": False}, "/notes": {"namespace": "n", "key": "k", "value": "v @PLANTED@", "ttl_seconds": 60},
    "/search": {"query": "what does the web client use?", "cwd": "/w/tool", "top_k": 3, "category": "", "scope": "repo", "run_id": ""},
    "/recall?until=1800000000": {"harness": "claude-code", "hook_input": {"session_id": "s1", "cwd": "/w/tool", "prompt": "what does the web client use? @PLANTED@"}},
}  # fmt: skip


def inputs() -> Iterator[bytes]:
    """Yield a request to every route, two on one connection, and one in chunks."""
    for target in GETS:
        yield f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    for target, document in POSTS.items():
        body = seeds.line(document)
        head = f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        yield head.encode() + b"Content-Length: " + LENGTH + b"\r\n\r\n" + body
        yield f"{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    yield b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nHEAD /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    yield b"GET /a HTTP/1.0\r\n\r\n"
    yield b"POST /flush HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"


WORDS = (
    *b"GET POST HEAD PUT /status /jobs /jobs/ /retry /discard /notes /flush /pause /forget /recall /search".split(),
    *b"/events ?since= &wait= ?limit= HTTP/1.1 HTTP/1.0 Host: Content-Length: Transfer-Encoding: chunked".split(),
    *b"Connection: close upgrade Expect: 100-continue wait_seconds ttl_seconds yes cwd session memory for".split(),
    *b"project namespace key value 1e400 inf nan %2F %00".split(),
    *(b"\r\n", b"\r\n\r\n", b": ", LENGTH),
)
TARGET = Target("socket_requests", opened, inputs, WORDS, longest=LONGEST, share=3)
