"""The page's life: a port of the system's choice on loopback, until Ctrl-C, the terminal's end, or nobody looks."""

import asyncio
import contextlib
import errno
import os
import secrets
import signal
import socket
from collections.abc import Callable, Sequence
from functools import partial

from daemon.status_socket.http_connection import HttpConnection, Limits
from daemon.ui.asking import Asking
from daemon.ui.guard import Guard, Secrets
from daemon.ui.page import HEADERS, Page
from memsyncd.clock import Clock
from memsyncd.counters import Counters

IDLE_SECONDS = 900.0
"""After so long without a request of the page (docs/ui.md). The page itself stops asking while nobody looks at it."""

LOOK_SECONDS = 1.0
"""How often it is looked whether it is over."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LIMITS = Limits(connections=32, body_bytes=1_000_000)
PORTS_TRIED = 20
TOKEN_BYTES = 32


def serve(
    asking: Asking,
    *,
    clock: Clock,
    on_ready: Callable[[str], None],
    tell: Callable[[str], None],
    idle_seconds: float = IDLE_SECONDS,
) -> bool:
    """Serve until it is over. `on_ready` gets the URL with the token, `tell` sentences for the terminal.

    Return whether no call to the daemon is left; one that waits long would hold up the end of this process.
    """
    serving = Serving(asking, clock, tell, idle_seconds)
    asyncio.run(serving.until_over(on_ready))
    return not serving.page.calls


class Serving:
    """One run of the page, in one event loop. `signals` are what ends it; `stopped` does so too, from that loop."""

    def __init__(
        self,
        asking: Asking,
        clock: Clock,
        tell: Callable[[str], None],
        idle_seconds: float,
        *,
        signals: Sequence[signal.Signals] = SIGNALS,
    ) -> None:
        self._signals = signals
        self._clock = clock
        self._tell = tell
        self._idle_seconds = idle_seconds
        self._asked_at = clock.monotonic()
        self.listeners = listeners()
        port = int(self.listeners[0].getsockname()[1])
        self._secrets = Secrets.made(partial(secrets.token_urlsafe, TOKEN_BYTES))
        self._guard = Guard(self._secrets, port, clock.monotonic)
        self.page = Page(self._guard, self._secrets.acting, asking, self._asked)
        self._url = f"http://127.0.0.1:{port}/?token={self._secrets.token}"
        self._counters = Counters()
        self._connections: set[asyncio.Task[None]] = set()
        self.stopped = asyncio.Event()
        self._told = (0, 0)

    async def until_over(self, on_ready: Callable[[str], None]) -> None:
        """Accept and answer until a signal, the parent's end, or too long without a request."""
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.add_signal_handler(number, self.stopped.set)
        parent = os.getppid()
        for listener in self.listeners:
            loop.add_reader(listener, self._take, listener)
        try:
            on_ready(self._url)
            while not self.stopped.is_set() and os.getppid() == parent:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stopped.wait(), LOOK_SECONDS)
                self.tell_of_tokens()
                if self._clock.monotonic() - self._asked_at >= self._idle_seconds:
                    self._tell(f"Nobody has looked for {self._idle_seconds / 60:g} minutes: the page has ended.")
                    return
        finally:
            await self._close()

    def _asked(self) -> None:
        self._asked_at = self._clock.monotonic()

    def _take(self, listener: socket.socket) -> None:
        try:
            accepted, _ = listener.accept()
        except OSError:  # it went away again, or no descriptor is left for it: it may come again
            return
        if len(self._connections) >= LIMITS.connections:
            accepted.close()
            return
        accepted.settimeout(0)
        connection = HttpConnection(accepted, self.page, LIMITS, self._counters, headers=HEADERS)
        task = connection.start("ui connection")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    def tell_of_tokens(self) -> None:
        """Say at the terminal what may be somebody else's doing, once for each time it was noticed."""
        seen = (self._guard.used_again, self._guard.wrong_tokens)
        if seen[0] > self._told[0]:
            self._tell("The link was opened again and refused: it is good once. If that was not you, end this.")
        if seen[1] > self._told[1]:
            self._tell("Somebody tries wrong tokens; they get nothing.")
        self._told = seen

    async def _close(self) -> None:
        for listener in self.listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self.page.close()


def listeners() -> Sequence[socket.socket]:
    """Return listening sockets on 127.0.0.1 and, where there is one, ::1, both at the same free port.

    Nobody else then answers where `localhost` leads a browser. Raises OSError.
    """
    for _ in range(PORTS_TRIED):
        first = socket.create_server(("127.0.0.1", 0), backlog=LIMITS.connections)
        first.settimeout(0)
        try:
            second = socket.create_server(
                ("::1", first.getsockname()[1]), family=socket.AF_INET6, backlog=LIMITS.connections
            )
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return [first]  # no such address here
            first.close()
        else:
            second.settimeout(0)
            return [first, second]
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
