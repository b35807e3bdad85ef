"""One connection of the status socket: HTTP/1.1 by h11, one request after another, each within its bounds."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

import h11
import structlog

from daemon.status_socket.http_message import PROTOCOL, PROTOCOL_HEADER, Handler, Request, Response, refusal
from memsyncd.counters import Counters

_WATCH_AFTER_SECONDS = 0.05
"""A handler that takes longer is a wait (`/events`, `/flush`): from then on a client that goes away ends it."""

_DRAIN_SECONDS = 1.0

STATUS_SOCKET = {PROTOCOL_HEADER: str(PROTOCOL)}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may use. `request_seconds` is for a whole request to come in, from the connection or its first
    byte on, and for a response to go out; `idle_seconds` is between two requests.
    `header_bytes` is also how much is read at once, so that a request's head is certainly refused at twice of it."""

    connections: int = 64
    request_seconds: float = 10.0
    idle_seconds: float = 10.0
    body_bytes: int = 1_000_000
    header_bytes: int = 16_384


class _Refused(Exception):
    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class HttpConnection:
    """Serves one accepted, non-blocking socket until either side ends it. `is_crowded` tells that others wait for a
    place, so that answers end with the connection instead of keeping it. `headers` stand on every response."""

    def __init__(
        self,
        accepted: socket.socket,
        handler: Handler,
        limits: Limits,
        counters: Counters,
        is_crowded: Callable[[], bool] = lambda: False,
        *,
        headers: Mapping[str, str] = STATUS_SOCKET,
    ) -> None:
        self._socket = accepted
        self._handler = handler
        self._limits = limits
        self._counters = counters
        self._is_crowded = is_crowded
        self._headers = headers
        self._takes_body = True
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.header_bytes)

    def start(self, name: str) -> asyncio.Task[None]:
        """Answer requests in a task of this name until the connection ends. The socket is closed whatever happens, also
        where the task is cancelled before its first step."""
        task = asyncio.create_task(self._serve(), name=name)
        task.add_done_callback(lambda _: self._socket.close())
        return task

    async def _serve(self) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            while await self._exchange():
                self._parser.start_next_cycle()

    async def _exchange(self) -> bool:
        """Take one request and answer it; tell whether another may follow."""
        request = await self._take() if await self._first_byte() else None
        response = await self._answer(request) if request is not None else None
        if request is None or response is None:
            return False
        await self._respond(response, close=self._is_crowded())
        return self._parser.our_state is h11.DONE and self._parser.their_state is h11.DONE

    async def _take(self) -> Request | None:
        """Return a request that came in whole and in time, or None, refused if there was one."""
        self._takes_body = True
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                return await self._request()
        except TimeoutError:
            self._counters.add("socket_requests_too_slow")
            return None
        except _Refused as refused:
            await self._refuse(refused.response)
        except h11.RemoteProtocolError as error:
            status = HTTPStatus(error.error_status_hint)
            await self._refuse(refusal(status, f"{status.phrase}: {error}."[:200]))
        return None

    async def _first_byte(self) -> bool:
        """Wait for a request to begin; a connection that stays silent ends without a word."""
        if self._parser.trailing_data[0]:
            return True
        async with asyncio.timeout(self._limits.idle_seconds):
            return await self._receive()

    async def _receive(self) -> bool:
        data = await asyncio.get_running_loop().sock_recv(self._socket, self._limits.header_bytes)
        self._parser.receive_data(data)
        return bool(data)

    async def _request(self) -> Request | None:
        """Return a whole request, or None where the client ended before one. Raises _Refused, RemoteProtocolError."""
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._parser.next_event()
            if event is h11.NEED_DATA:
                if self._parser.they_are_waiting_for_100_continue:
                    await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                await self._receive()
            elif isinstance(event, h11.Request):
                head = event
                self._takes_body = head.method != b"HEAD"
                _check_head(event, self._limits.body_bytes)
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > self._limits.body_bytes:
                    raise _Refused(_too_large(self._limits.body_bytes))
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                path, _, query = head.target.decode("ascii").partition("?")
                return Request(head.method.decode("ascii"), path, query, bytes(body), _joined(head.headers))
            else:
                return None

    async def _answer(self, request: Request) -> Response | None:
        """Return the answer, or None where the client went away before there was one."""
        answering = asyncio.ensure_future(self._handler(request))
        gone: asyncio.Future[None] | None = None
        try:
            await asyncio.wait({answering}, timeout=_WATCH_AFTER_SECONDS)
            if not answering.done():
                gone = asyncio.ensure_future(self._until_gone())
                await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
            return answering.result() if answering.done() else None
        except Exception as error:
            self._counters.add("socket_faults")
            log.exception("socket-fault", error=type(error).__name__)
            return refusal(500, "The daemon failed at this; its log says where.")
        finally:
            tasks = [task for task in (answering, gone) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_gone(self) -> None:
        """Return when the client has gone. What it sends meanwhile is kept for the next request, up to a header;
        with more than that nothing is read any more, and its going is not seen."""
        while await self._receive():
            if len(self._parser.trailing_data[0]) > self._limits.header_bytes:
                await asyncio.get_running_loop().create_future()

    async def _refuse(self, response: Response) -> None:
        """Answer a request that was not taken, and read on for a moment: closing over what the client still sends
        would cost it the answer."""
        self._counters.add("socket_requests_refused")
        await self._respond(response, close=True)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(_DRAIN_SECONDS):
            while await asyncio.get_running_loop().sock_recv(self._socket, self._limits.header_bytes):
                pass

    async def _respond(self, response: Response, *, close: bool) -> None:
        if self._parser.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        headers = [
            ("Content-Type", response.content_type),
            ("Content-Length", str(len(response.body))),
            ("Cache-Control", "no-store"),
            *self._headers.items(),
            *response.headers.items(),
        ]
        if close:
            headers.append(("Connection", "close"))
        phrase = HTTPStatus(response.status).phrase
        head = h11.Response(status_code=response.status, headers=headers, reason=phrase)
        data = [h11.Data(data=response.body)] if self._takes_body else []
        async with asyncio.timeout(self._limits.request_seconds):
            await self._send(head, *data, h11.EndOfMessage())

    async def _send(self, *events: h11.Event) -> None:
        parts = [self._parser.send(event) or b"" for event in events]
        await asyncio.get_running_loop().sock_sendall(self._socket, b"".join(parts))


def _check_head(head: h11.Request, most: int) -> None:
    if not head.target.startswith(b"/"):
        raise _Refused(refusal(400, "This is no proxy: ask for a path, like /status."))
    for name, value in head.headers:
        if name == b"content-length" and int(value) > most:
            raise _Refused(_too_large(most))


def _too_large(most: int) -> Response:
    return refusal(413, f"A body has at most {most} bytes here.")


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for raw, value in headers:
        name, text = raw.decode("ascii"), value.decode("latin-1")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found
