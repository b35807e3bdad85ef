"""The status socket's server: who may connect, how many at once, and that the socket stays where clients look."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from daemon.status_socket import socket_file
from daemon.status_socket.http_connection import HttpConnection, Limits
from daemon.status_socket.http_message import Handler
from memsyncd.counters import Counters

PLACE_SECONDS = 1.0
"""How long a connection over the bound waits for a place before it is turned away."""

NEXT_SECONDS = 0.05
"""Between one that was turned away and the next."""

ACCEPT_AGAIN_SECONDS = 0.5
"""After the system had no descriptor left for a connection."""

_NO_PLACE = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


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
        self._connections: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._reserve: int | None = None
        """A descriptor to give up for a connection when there is no other: somebody has to be told of that."""

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
        self._keep_reserve()
        asyncio.get_running_loop().add_reader(self._listener, self._take, self._listener)

    def still_ours(self) -> bool:
        """Whether clients that look at `path` find this server; asked at every tick (never-again 62)."""
        in_place = self._inherited is not None or socket_file.identity(self.path) == self._identity
        return self._listener is not None and in_place

    async def restart(self) -> str:
        """Listen anew where `still_ours` said no; open connections go on. Return a sentence where it failed.

        What else lies at the path by now is not removed; the work goes on unseen until the next tick tries again.
        """
        if self._listener is not None:
            self._take(self._listener)  # who found the old one in time
        self._end_accepting()
        try:
            await self.start()
        except ConfigurationError as error:
            return str(error)
        self._counters.add("socket_recreated")
        return ""

    async def stop(self) -> None:
        """End every connection, cancel what they wait for, and remove the socket if it is still ours."""
        self._end_accepting()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._identity is not None and socket_file.identity(self.path) == self._identity:
            self.path.unlink()
        self._identity = None
        self._give_up_reserve()
        self._handler.close()

    def _end_accepting(self) -> None:
        self._end_pause()
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            if self._listener is not self._inherited:
                self._listener.close()
            self._listener = None

    def _take(self, listener: socket.socket) -> None:
        """Accept whoever waits. When all places are taken the kernel holds them for a moment."""
        self._keep_reserve()
        if len(self._connections) >= self._limits.connections:
            self._pause_accepting(listener, PLACE_SECONDS, self._turn_away)
        while len(self._connections) < self._limits.connections:
            try:
                accepted, _ = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError:
                if self._give_up_reserve():
                    continue
                self._counters.add("socket_connections_refused")
                self._pause_accepting(listener, ACCEPT_AGAIN_SECONDS, self._resume)
                return
            self._serve(accepted)

    def _keep_reserve(self) -> None:
        if self._reserve is None:
            with contextlib.suppress(OSError):
                self._reserve = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _give_up_reserve(self) -> bool:
        reserve, self._reserve = self._reserve, None
        if reserve is not None:
            os.close(reserve)
        return reserve is not None

    def _pause_accepting(self, listener: socket.socket, seconds: float, then: Callable[[socket.socket], None]) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(listener)
        self._end_pause()
        self._pause = loop.call_later(seconds, then, listener)

    def _end_pause(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def _resume(self, listener: socket.socket) -> None:
        self._end_pause()
        if listener is self._listener:
            asyncio.get_running_loop().add_reader(listener, self._take, listener)

    def _turn_away(self, listener: socket.socket) -> None:
        """Say to one that waited in vain that there is no place, as well as can be without waiting for its request,
        and to the next a moment later, so that a place that comes free meanwhile is seen."""
        try:
            accepted, _ = listener.accept()
        except OSError:
            self._resume(listener)
            return
        self._counters.add("socket_connections_refused")
        with accepted, contextlib.suppress(OSError):
            accepted.settimeout(0)
            accepted.send(_NO_PLACE)
        self._pause_accepting(listener, NEXT_SECONDS, self._turn_away)

    def _serve(self, accepted: socket.socket) -> None:
        if socket_file.peer_uid(accepted) != self._uid:
            self._counters.add("socket_peers_refused")
            accepted.close()
            return
        accepted.settimeout(0)
        connection = HttpConnection(accepted, self._handler, self._limits, self._counters, self._is_crowded)
        task = connection.start("status socket connection")
        self._connections.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._connections.discard(task)
        self._keep_reserve()
        if self._pause is not None and self._listener is not None:
            self._resume(self._listener)
        if not task.cancelled() and task.exception() is not None:
            self._counters.add("socket_faults")

    def _is_crowded(self) -> bool:
        return len(self._connections) * 2 > self._limits.connections
