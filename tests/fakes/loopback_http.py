"""A real HTTP/1.1 server on loopback, in a thread of its own, that can misbehave on demand."""

import asyncio
import contextlib
import json
import math
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

MAX_BODY = 64 * 1024 * 1024


@dataclass(frozen=True)
class Request:
    """A request as it came in whole. `at` is Unix seconds; `headers` have lower-case names and no key."""

    number: int
    at: float
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""

    @cached_property
    def json(self) -> Any:
        """The body as JSON, or None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(frozen=True)
class Reply:
    """What goes back and how: `wait` seconds first (infinity: never), then either a cut connection or the answer,
    whole, cut after `cut_after` bytes of its body, or a byte each `drip` seconds (head and all)."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: bool = False
    cut_after: int | None = None
    drip: float = 0.0

    def encoded(self) -> bytes:
        """Return the answer's bytes."""
        headers = {"Content-Type": "application/json", "Content-Length": str(len(self.body)), **self.headers}
        head = f"HTTP/1.1 {self.status} Fake\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        whole = head.encode("latin-1") + b"\r\n" + self.body
        return whole if self.cut_after is None else whole[: len(whole) - len(self.body) + self.cut_after]


class LoopbackServer:
    """Serves `handle(request, authorization)` on 127.0.0.1. `handle` runs in the server's thread and must be quick."""

    def __init__(self, handle: Callable[[Request, str], Reply], port: int = 0) -> None:
        self._handle = handle
        self.port = port
        self.connections = 0
        self._requests = 0
        self._connected: dict[asyncio.Task[None], socket.socket] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address of the server, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen; returns when connections are taken."""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), name="fake-http", daemon=True)
        self._thread.start()
        assert ready.wait(60), "the fake server did not start"

    def stop(self) -> None:
        """Cut every connection and end the thread."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(60)
            assert not self._thread.is_alive(), "the fake server did not stop"
            self._thread = None

    def refuse_connections(self) -> None:
        """Stop listening and cut what is connected, as a machine does that is switched off."""
        self._run(self._close())

    def accept_connections(self) -> None:
        """Listen again, on the same port."""
        self._run(self._listen())

    def _run(self, act: Any) -> None:
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(act, self._loop).result(60)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        await self._listen()
        ready.set()
        await self._stopped.wait()
        await self._close()

    async def _listen(self) -> None:
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port), backlog=256)
            self._listener.settimeout(0)
            self.port = self._listener.getsockname()[1]
            asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    async def _close(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        tasks = [*self._connected]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, listener: socket.socket) -> None:
        """Take a connection and know of it at once: none that has only just come may outlive a close."""
        with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
            accepted, _ = listener.accept()
            self.connections += 1
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.get_running_loop().create_task(self._connection(accepted))
            self._connected[task] = accepted
            task.add_done_callback(lambda task: self._connected.pop(task).close())

    async def _connection(self, accepted: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=accepted, limit=MAX_BODY)
        try:
            while await self._exchange(reader, writer):
                pass
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # a client that went away: the connection is over either way
        finally:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {}
        for line in head[1:-2]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        path, _, query = target.partition("?")
        authorization = headers.pop("authorization", "")
        self._requests += 1
        request = Request(self._requests, time.time(), method, path, dict(urllib.parse.parse_qsl(query)), headers, body)
        reply = self._handle(request, authorization)
        if reply.wait:
            await (asyncio.Event().wait() if math.isinf(reply.wait) else asyncio.sleep(reply.wait))
        if reply.cut:
            return False
        if reply.drip:
            for byte in reply.encoded():
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(reply.drip)
            return True
        writer.write(reply.encoded())
        await writer.drain()
        return reply.cut_after is None and headers.get("connection", "").lower() != "close"
