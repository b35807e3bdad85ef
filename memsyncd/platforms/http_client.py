"""The one HTTP client of a platform, for the daemon's life and all its threads.

It answers with a whole answer or raises a PlatformError; this is the boundary at which httpx's and httpcore's errors
become ours.
"""

import contextlib
import functools
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpcore
import httpx

from memsyncd.clock import Clock
from memsyncd.platforms import http_answer, http_errors, transport
from memsyncd.platforms.addresses import IsHere, Resolve, system_resolver
from memsyncd.platforms.network import Call, CallEndedError, Network
from memsyncd.platforms.platform import Cancelled, Unreachable
from memsyncd.version import __version__

CONNECT_SECONDS = 5.0
"""For a connection, and for a place among the parallel calls; never more than the call's own time."""

POOL_TIMEOUTS = 2
"""So many waits in the pool without an answer between them, and the client is built anew (never-again 153)."""

PATHS_KEPT = 16
"""Whole URLs kept by their path: those without an id are few, and putting one together is a tenth of a request."""

OpenTransport = Callable[[Network], httpx.BaseTransport]


_HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"memsyncd/{__version__}"}


@dataclass(eq=False, slots=True)
class _Client:
    """A transport and the calls that use it; one that is out of use is closed by the last of them.

    httpx's Client above it would bring cookies, redirects, logins and proxies of the environment, none of which are
    wanted here, at a fifth of a request's processor time.
    """

    http: httpx.BaseTransport
    calls: int = 0
    retired: bool = False


class HttpClient:
    """Calls to one base `url`. Safe from any thread.

    `open_transport` makes the transport anew whenever connections were dropped; `is_here` tells whether an address is
    the machine's, and is a seam for tests. Raises ValueError for a `url` that is no http or https URL.
    """

    def __init__(
        self,
        url: str,
        open_transport: OpenTransport,
        clock: Clock,
        *,
        parallel: int = transport.PARALLEL_CALLS,
        resolve: Resolve = system_resolver,
        is_here: IsHere | None = None,
    ) -> None:
        self.base = base_url(url)
        self._url = functools.lru_cache(PATHS_KEPT)(self._url_of)
        self._open_transport = open_transport
        self._network = Network(clock.up, resolve, is_here)
        self._free = threading.Condition()
        self._places = parallel
        self._places_taken = 0
        self._client: _Client | None = None
        self._pool_timeouts = 0
        self._cancelled = False

    def call(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        seconds: float,
        body: bytes | None = None,
        safe: bool = True,
    ) -> http_answer.Answer:
        """Send a request to `path` (percent-encoded, with its query) below the base URL and return the answer.

        The call takes at most `seconds`, to the last byte. A `safe` call changes nothing on the platform, so it is
        sent again at once when a kept connection turns out to be dead. Raises Unreachable, NoAnswer, NotUnderstood
        (too long, an encoding nobody asked for) or Cancelled; any status is an answer.
        """
        connect = min(CONNECT_SECONDS, seconds)
        timeout = httpx.Timeout(connect=connect, read=seconds, write=seconds, pool=connect)
        with self._place(seconds) as client, self._network.call(seconds) as call:
            try:
                request = httpx.Request(
                    method,
                    self._url(path),
                    headers={**_HEADERS, **({} if body is None else {"Content-Type": "application/json"}), **headers},
                    content=body,
                    extensions={"timeout": timeout.as_dict()},
                )
                answer = _answer(client.http, request, call, safe=safe)
            except http_errors.LOWER_ERRORS as failure:
                self._count(failure)
                error = _cancelled() if self._cancelled else http_errors.platform_error(failure, self.base.host)
                raise error from None  # the lower error may quote headers
        self._count(None)
        return answer

    def _url_of(self, path: str) -> httpx.URL:
        return self.base.copy_with(raw_path=self.base.raw_path.rstrip(b"/") + path.encode("ascii"))

    def pause(self, seconds: float) -> None:
        """Wait `seconds`; raise Cancelled if `cancel` is called meanwhile."""
        try:
            self._network.pause(seconds)
        except CallEndedError:
            raise _cancelled() from None

    def drop_connections(self) -> None:
        """Use new connections from now on (after sleep, or a change of network).

        Of the calls in the air those end at once, in NoAnswer, that were begun from an address which the machine no
        longer has; one that changes nothing goes out anew where its connection was a kept one. The others go on.
        """
        with self._free:
            self._retire()
        self._network.connections.end_stranded()

    def cancel(self) -> None:
        """End every call in the air; it and all later ones raise Cancelled."""
        with self._free:
            self._cancelled = True
            self._free.notify_all()
        self._network.end_calls()

    def close(self) -> None:
        """End what is in the air, wait up to a second for it, and release connections and descriptors."""
        self.cancel()
        with self._free:
            self._retire()
            if self._free.wait_for(lambda: self._places_taken == 0, 1.0):
                self._network.close()

    @contextlib.contextmanager
    def _place(self, seconds: float) -> Iterator[_Client]:
        with self._free:
            waited = self._free.wait_for(
                lambda: self._cancelled or self._places_taken < self._places, min(CONNECT_SECONDS, seconds)
            )
            if self._cancelled:
                raise _cancelled()
            if not waited:
                raise Unreachable(f"{self._places} calls to {self.base.host} are waiting for their answers already")
            client = self._use_client()
            self._places_taken += 1
        try:
            yield client
        finally:
            with self._free:
                self._places_taken -= 1
                client.calls -= 1
                if client.retired and not client.calls:
                    client.http.close()
                self._free.notify()
                if self._cancelled:
                    self._free.notify_all()

    def _use_client(self) -> _Client:
        if self._client is None:
            try:
                opened = self._open_transport(self._network)
            except (httpcore.ConnectError, httpcore.ProxyError) as failure:
                raise http_errors.platform_error(failure, self.base.host) from None
            self._client = _Client(opened)
        self._client.calls += 1
        return self._client

    def _retire(self) -> None:
        client, self._client = self._client, None
        self._pool_timeouts = 0
        if client is not None:
            client.retired = True
            if not client.calls:
                client.http.close()

    def _count(self, failure: Exception | None) -> None:
        with self._free:
            self._pool_timeouts = self._pool_timeouts + 1 if isinstance(failure, http_errors.POOL_TIMEOUTS) else 0
            if self._pool_timeouts >= POOL_TIMEOUTS:
                self._retire()


def _answer(http: httpx.BaseTransport, request: httpx.Request, call: Call, *, safe: bool) -> http_answer.Answer:
    """Send until there is an answer; each time that a kept connection turns out to be dead, there is one less."""
    while True:
        try:
            return _send(http, request)
        except http_errors.LOST_CONNECTION:
            if not safe or call.connected or not call.sent:
                raise


def _send(http: httpx.BaseTransport, request: httpx.Request) -> http_answer.Answer:
    response = http.handle_request(request)
    try:
        return http_answer.Answer(response.status_code, response.headers, http_answer.read(response))
    finally:
        response.close()


def _cancelled() -> Cancelled:
    return Cancelled("ended by our own stop")


def base_url(url: str) -> httpx.URL:
    """Return `url` without user, query and fragment. Raises ValueError unless it is an http or https URL."""
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError) as failure:
        raise ValueError("not a URL") from failure
    if parsed.scheme not in ("http", "https") or not re.fullmatch(rb"[0-9A-Za-z._:-]+", parsed.raw_host):
        raise ValueError("not an http or https URL")
    return httpx.URL(scheme=parsed.scheme, host=parsed.host, port=parsed.port, path=parsed.path)
