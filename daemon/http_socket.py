"""The status socket's server: who may connect, how many at once, and that the socket stays where clients look."""

import asyncio
import contextlib
import os
import socket
from pathlib import Path

from daemon import socket_file
from daemon.configuration_error import ConfigurationError
from daemon.http_connection import HttpConnection, Limits
from daemon.http_message import Handler
from memsyncd.counters import Counters

PLACE_SECONDS = 1.0
"""How long a connection over the bound waits for a place before it is closed."""

_ACCEPT_AGAIN_SECONDS = 0.5
"""After the system had no descriptor left for a connection."""


class HttpSocket:
    """Serves `handler` at `path`. Started once, by the holder of the daemon's lock; only `uid` is answered.

    Counters: `socket_peers_refused` (another user), `socket_connections_refused` (over the bound),
    `socket_requests_refused`, `socket_requests_too_slow`, `socket_faults`, `socket_recreated`.
    """

    def __init__(
        self,
        path: Path,
        handler: Handler,
        *,
        limits: Limits | None = None,
        counters: Counters | None = None,
        uid: int | None = None,
        inherited: socket.socket | None = None,
    ) -> None:
        self.path = path
        self._handler = handler
        self._limits = limits or Limits()
        self._counters = counters or Counters()
        self._uid = os.geteuid() if uid is None else uid
        self._inherited = inherited
        self._listener: socket.socket | None = None
        self._identity: tuple[int, int] | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._place_free = asyncio.Event()

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._connections)

    async def start(self) -> None:
        """Listen and answer from now on. Raises ConfigurationError where the path is not to be had.

        An inherited listening socket (socket activation) is taken as it is and its file left to whoever made it.
        """
        if self._inherited is not None:
            self._inherited.settimeout(0)
            self._listener = self._inherited
        else:
            self._listener = socket_file.listen(self.path, uid=self._uid)
            self._identity = socket_file.identity(self.path)
        self._accepting = asyncio.create_task(self._accept(self._listener), name="status socket")

    def still_ours(self) -> bool:
        """Whether clients that look at `path` find this server; asked at every tick (never-again 62)."""
        is_accepting = self._accepting is not None and not self._accepting.done()
        in_place = self._inherited is not None or socket_file.identity(self.path) == self._identity
        return is_accepting and in_place

    async def restart(self) -> str:
        """Listen anew where `still_ours` said no; open connections go on. Return a sentence where it failed.

        What else lies at the path by now is not removed; the work goes on unseen until the next tick tries again.
        """
        await self._end_accepting()
        try:
            await self.start()
        except ConfigurationError as error:
            return str(error)
        self._counters.add("socket_recreated")
        return ""

    async def stop(self) -> None:
        """End every connection, cancel what they wait for, and remove the socket if it is still ours."""
        await self._end_accepting()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._identity is not None and socket_file.identity(self.path) == self._identity:
            self.path.unlink()
        self._identity = None
        self._handler.close()

    async def _end_accepting(self) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
            await asyncio.gather(self._accepting, return_exceptions=True)
            self._accepting = None
        if self._listener is not None and self._listener is not self._inherited:
            self._listener.close()
        self._listener = None

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError:
                self._counters.add("socket_connections_refused")
                await asyncio.sleep(_ACCEPT_AGAIN_SECONDS)
                continue
            if socket_file.peer_uid(accepted) != self._uid:
                self._counters.add("socket_peers_refused")
                accepted.close()
            elif await self._has_place():
                self._serve(accepted)
            else:
                self._counters.add("socket_connections_refused")
                _turn_away(accepted)

    async def _has_place(self) -> bool:
        """Wait a moment for one of the places; meanwhile the kernel holds those behind."""
        if len(self._connections) < self._limits.connections:
            return True
        self._place_free.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._place_free.wait(), PLACE_SECONDS)
        return len(self._connections) < self._limits.connections

    def _serve(self, accepted: socket.socket) -> None:
        accepted.settimeout(0)
        connection = HttpConnection(accepted, self._handler, self._limits, self._counters, self._is_crowded)
        task = asyncio.create_task(connection.serve(), name="status socket connection")
        self._connections.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._connections.discard(task)
        self._place_free.set()
        if not task.cancelled() and task.exception() is not None:
            self._counters.add("socket_faults")

    def _is_crowded(self) -> bool:
        return len(self._connections) * 2 > self._limits.connections


def _turn_away(accepted: socket.socket) -> None:
    """Say that there is no place, as well as can be without waiting for the request."""
    with accepted, contextlib.suppress(OSError):
        accepted.settimeout(0)
        accepted.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
