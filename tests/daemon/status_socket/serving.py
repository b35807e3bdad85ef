"""A status socket with an echo behind it, and raw clients for it."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from daemon.status_socket.http_connection import Limits
from daemon.status_socket.http_message import Request, Response, json_response
from daemon.status_socket.http_socket import HttpSocket
from memsyncd.counters import Counters

UID = os.geteuid()
SMALL = Limits(connections=8, body_bytes=1000, header_bytes=2000)
HASTY = Limits(request_seconds=0.3)
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
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

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

        self.run(asyncio.wait_for(look(), 60))


def connect(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
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
        more = client.recv(65536)
        if not more:
            raise EOFError(data)
        body += more
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
