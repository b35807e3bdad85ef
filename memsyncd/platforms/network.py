"""Sockets for httpcore that know the time limit of the whole call and can all be ended at once.

httpcore's own time-outs start anew with every byte, so a server that drips could hold a worker for ever; and a
thread inside `recv` or a name lookup cannot be told to stop. Here each wait is one `poll` on the socket and on a
wake-up pipe, bounded by the call's deadline.
"""

import contextlib
import fcntl
import math
import os
import select
import socket
import ssl
import struct
import termios
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpcore

from memsyncd import turn
from memsyncd.platforms import addresses, tls_stream
from memsyncd.platforms.connections import Connections

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


UNACKNOWLEDGED_MS = 30_000
"""So long the kernel sends again what the other side's does not acknowledge, then it breaks the connection. Less than a
claim lasts: of a process that stands still nothing may arrive when another has the job (Linux, TCP_USER_TIMEOUT)."""

ABORTED, ORDERLY = struct.pack("ii", 1, 0), struct.pack("ii", 0, 0)
"""What `close`, or the end of the process, does with bytes that are not delivered: SO_LINGER for none and for all."""


class CallEndedError(Exception):
    """The call was ended by `Network.end_calls`."""


class NameNotFoundError(httpcore.ConnectError):
    """The host's name has no address, or no name server answered."""


@dataclass(slots=True)
class Call:
    """What became of one call on the wire: whether it opened a connection, and whether it wrote anything."""

    deadline: float
    connected: bool = False
    sent: bool = False


class Network(httpcore.NetworkBackend):
    """Opens connections. One of it serves all threads; a call is bound to the thread that makes it.

    `up` gives seconds, those that the system sleeps included: after its sleep a call's time is over, and nothing of it
    may leave any more.
    """

    def __init__(
        self,
        up: Callable[[], float],
        resolve: addresses.Resolve = addresses.system_resolver,
        is_here: addresses.IsHere | None = None,
    ) -> None:
        self._up = up
        self.connections = Connections(is_here)
        self._calls = threading.local()
        self._changed = threading.Condition()
        self._lookups = addresses.Lookups(self._changed, resolve)
        self._wake_read, self._wake_write = os.pipe()
        self.ended = False

    @contextlib.contextmanager
    def call(self, seconds: float) -> Iterator[Call]:
        """Bind a call of at most `seconds` in all to this thread while the block runs."""
        call = Call(self._up() + seconds)
        self._calls.now = call
        try:
            yield call
        finally:
            self._calls.now = None

    def end_calls(self) -> None:
        """Wake every thread that waits here; it and all later ones raise CallEndedError."""
        with self._changed:
            if not self.ended:
                self.ended = True
                os.write(self._wake_write, b"x")  # never read: the pipe stays readable for every poll
            self._changed.notify_all()

    def close(self) -> None:
        """Give the pipe back. Only when no call is in the air."""
        with self._changed:
            self.ended = True
            for descriptor in (self._wake_read, self._wake_write):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            self._wake_read = self._wake_write = -1

    def pause(self, seconds: float) -> None:
        """Wait `seconds` or to the call's deadline; raise CallEndedError if the calls are ended meanwhile."""
        with turn.away(), self._changed:
            self._changed.wait_for(lambda: self.ended, self.remaining(seconds))
            self._raise_if_ended()

    def remaining(self, timeout: float | None) -> float:
        """Return the seconds left of `timeout` and of the present call, whichever is less; infinity for neither."""
        call: Call | None = getattr(self._calls, "now", None)
        left = math.inf if call is None else call.deadline - self._up()
        return left if timeout is None else min(left, timeout)

    def note_sent(self) -> None:
        """Remember that the present call wrote something."""
        call: Call | None = getattr(self._calls, "now", None)
        if call is not None:
            call.sent = True

    def wait(self, waiting: socket.socket, event: int, seconds: float) -> bool:
        """Wait until `waiting` is ready for the poll `event`; False when `seconds` passed first."""
        self._raise_if_ended()
        if seconds <= 0:
            return False
        poll = select.poll()
        poll.register(waiting, event)
        poll.register(self._wake_read, select.POLLIN)
        with turn.away():
            ready = poll.poll(None if math.isinf(seconds) else math.ceil(seconds * 1000))
        self._raise_if_ended()
        return bool(ready)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002  (httpcore's signature)
        socket_options: Iterable[SocketOption] | None = None,  # noqa: ARG002  (httpcore's signature)
    ) -> httpcore.NetworkStream:
        """Connect to the first address of `host` that answers; each gets its share of the time left."""
        ends = self._up() + self.remaining(timeout)
        found = self._addresses(host, port, ends)
        error: Exception = NameNotFoundError(f"{host} has no address")
        for position, (family, address) in enumerate(found):
            share = (ends - self._up()) / (len(found) - position)
            try:
                opened = self._connect(family, address, share)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failure:
                error = failure
                continue
            call: Call | None = getattr(self._calls, "now", None)
            if call is not None:
                call.connected = True
            self.connections.add(opened)
            return SocketStream(opened, self)
        raise error

    def _connect(self, family: int, address: Any, seconds: float) -> socket.socket:
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            opened.setblocking(False)  # noqa: FBT003  (the standard library's own signature)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORTED)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)
            with contextlib.suppress(BlockingIOError):
                opened.connect(address)
            in_time = self.wait(opened, select.POLLOUT, seconds)
            refused = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        except OSError as failure:
            opened.close()
            raise httpcore.ConnectError(failure.strerror or type(failure).__name__) from failure
        except BaseException:
            opened.close()
            raise
        if in_time and not refused:
            return opened
        opened.close()
        raise (
            httpcore.ConnectError(os.strerror(refused)) if refused else httpcore.ConnectTimeout("no connection in time")
        )

    def _addresses(self, host: str, port: int, ends: float) -> tuple[addresses.Address, ...]:
        if own := addresses.literal(host, port):
            return (own,)
        with turn.away(), self._changed:
            lookup = self._lookups.start(host, port)
            self._changed.wait_for(lambda: lookup.done or self.ended, max(0.0, ends - self._up()))
            self._raise_if_ended()
        if not lookup.done:
            raise httpcore.ConnectTimeout(f"no name server told the address of {host} in time")
        if lookup.error:
            raise NameNotFoundError(lookup.error)
        return lookup.addresses

    def _raise_if_ended(self) -> None:
        if self.ended:
            raise CallEndedError


class SocketStream(httpcore.NetworkStream):
    """One connected, non-blocking socket."""

    def __init__(self, connected: socket.socket, network: Network) -> None:
        self._socket = connected
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what is there, at most `max_bytes`; empty at the end."""
        try:
            while True:
                if not self._network.wait(self._socket, select.POLLIN, self._network.remaining(timeout)):
                    raise httpcore.ReadTimeout("no answer in time")
                with contextlib.suppress(BlockingIOError):
                    return self._socket.recv(max_bytes)
        except OSError as failure:
            raise httpcore.ReadError(failure.strerror or type(failure).__name__) from failure

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of `buffer`, and nothing of it once the time is over: this process may have stood still."""
        self._network.note_sent()
        view = memoryview(buffer)
        try:
            while view:
                if self._network.remaining(timeout) <= 0:
                    raise httpcore.WriteTimeout("the request could not be sent in time")
                try:
                    view = view[self._socket.send(view) :]
                except BlockingIOError:
                    if not self._network.wait(self._socket, select.POLLOUT, self._network.remaining(timeout)):
                        raise httpcore.WriteTimeout("the request could not be sent in time") from None
        except OSError as failure:
            raise httpcore.WriteError(failure.strerror or type(failure).__name__) from failure

    def close(self) -> None:
        """Close the socket. What the other side has not got by now does not come any more: whoever gave the call up
        looks whether it arrived, and sends it again."""
        with contextlib.suppress(OSError):
            if self._socket.fileno() >= 0 and not self._undelivered():
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ORDERLY)
        self._socket.close()

    def _undelivered(self) -> int:
        """Return how many bytes the other side's kernel has not acknowledged."""
        (waiting,) = struct.unpack("i", fcntl.ioctl(self._socket, termios.TIOCOUTQ, bytes(4)))
        return int(waiting)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Speak TLS from here on."""
        return tls_stream.start(self, ssl_context, server_hostname, timeout)

    def get_extra_info(self, info: str) -> Any:
        """Answer httpcore's questions about the connection."""
        if info == "socket":
            return self._socket
        if info == "is_readable":  # an idle connection that can be read was closed by the other side
            if self._socket.fileno() < 0:
                return True
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(0))
        return None
