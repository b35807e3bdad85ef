"""A platform's JSON over HTTP: a request goes out with the key, and a value comes back or the error a refusal means."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import httpx

from memsyncd import redaction
from memsyncd.clock import Clock
from memsyncd.platforms import answers, authorization, echoes, mem0_requests, refusals
from memsyncd.platforms.addresses import Resolve
from memsyncd.platforms.http_answer import Answer
from memsyncd.platforms.http_client import HttpClient
from memsyncd.platforms.network import Network
from memsyncd.platforms.platform import NotUnderstood, PlaceTaken, PlatformError
from memsyncd.platforms.transport import DEFAULT_WRITE_SECONDS, HttpSettings, is_loopback, open_transport

PROBE_SECONDS = 5.0
"""Of the question whether the platform itself answers again: as of all that is small, and never more than the call's
own time."""

WITHHELD_SECONDS = 900.0
"""Where a page was met, key and text are withheld for so long; then one request goes out as ever, for a gateway may
show its page to all who bring no key, and would never be known for the platform's. Once in a quarter of an hour is as
often as a destination in lasting trouble is tried anyhow (`platform.max_cooldown_seconds`)."""


REQUESTS_KEPT = 8
"""Of the last requests with texts in them: an answer to a later one may repeat them too, as when an extraction is asked
for."""

_NO_TEXTS = frozenset({"filters"})


class Refusal(Protocol):
    """What an answer means that is not 2xx; see `refusals.refusal`."""

    def __call__(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now: float, redact: Callable[[str], str]
    ) -> PlatformError:
        """Return the error."""


class JsonApi:
    """One API for the daemon's life, safe from any thread. `base` and `url` are its address, without user and query.

    `write_seconds` is a write's time: `http.timeout_seconds`, except on loopback, to which no setting of `[http]`
    applies (CONTRACT). After an answer that is somebody else's (a login page, a broken proxy) no key and no text goes
    out until `probe_path`, asked without either, is answered as by an API. `redact` goes over whatever words of the
    platform end up in an error; what they repeat of the last requests is taken out. `proxies`, `resolve` and
    `open_connection` are the seams for tests. Raises ValueError for a bad `url`.
    """

    def __init__(
        self,
        url: str,
        key_source: authorization.KeySource,
        key_header: authorization.KeyHeader,
        http: HttpSettings,
        clock: Clock,
        *,
        probe_path: str,
        redact: Callable[[str], str],
        proxies: Callable[[], Mapping[str, str]],
        resolve: Resolve,
        open_connection: Callable[[Network], httpx.BaseTransport] | None,
        refusal: Refusal = refusals.refusal,
    ) -> None:
        def connect(network: Network) -> httpx.BaseTransport:
            return open_transport(self.base, http, network, proxies())

        self._client = HttpClient(url, open_connection or connect, clock, parallel=http.parallel, resolve=resolve)
        self._key_source = key_source
        self._key_header = key_header
        self._clock = clock
        self._probe_path = probe_path
        self._withheld_since: float | None = None
        self._redact = redact
        self._refusal = refusal
        self._sent: deque[Mapping[str, Any]] = deque(maxlen=REQUESTS_KEPT)
        self.base = self._client.base
        self.url = str(self.base).rstrip("/")
        self.write_seconds = DEFAULT_WRITE_SECONDS if is_loopback(self.base.host) else http.timeout_seconds

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        seconds: float,
        *,
        safe: bool = True,
        empty_is_fine: bool = False,
    ) -> Any:
        """Return the JSON value of a 2xx answer to a request that takes at most `seconds`; None for an empty one where
        that is fine. `path` and `safe` are as in `HttpClient.call`. Raises PlatformError, PlaceTaken before anything of
        the request is sent."""
        key = authorization.current_key(self._key_source, required=self._key_header.required)
        if body is not None and body.keys() - _NO_TEXTS:
            self._sent.append(body)
        answer = self._client.call(
            method,
            path,
            headers=self._key_header.headers(key),
            seconds=self._left_after_probe(seconds),
            body=None if body is None else mem0_requests.encode(body),
            safe=safe,
        )
        try:
            value = self._read(answer, key, empty_is_fine=empty_is_fine)
        except NotUnderstood as error:
            self._withheld_since = self._clock.monotonic()
            error.status = answer.status
            raise
        self._withheld_since = None
        return value

    def _read(self, answer: Answer, key: str, *, empty_is_fine: bool) -> Any:
        def fit(text: str) -> str:
            keyless = text.replace(key, redaction.REPLACEMENT) if key else text
            return self._redact(echoes.without_echo(keyless, list(self._sent)))

        if not 200 <= answer.status < 300:  # noqa: PLR2004  (success)
            raise self._refusal(answer.status, answer.headers, answer.body, now=self._clock.wall(), redact=fit)
        if empty_is_fine and not answer.body.strip():
            return None
        return answers.document(answer.body, answer.headers.get("content-type", ""))

    def _left_after_probe(self, seconds: float) -> float:
        """Return what is left of `seconds` after a question, where the last answer calls for one, that showed the
        platform to be there. Raises PlaceTaken where it is not, and what the question itself may raise."""
        begun = self._clock.monotonic()
        if self._withheld_since is None or begun - self._withheld_since >= WITHHELD_SECONDS:
            return seconds
        answer = self._client.call("GET", self._probe_path, headers={}, seconds=min(seconds, PROBE_SECONDS))
        if refusals.is_foreign(answer.status, answer.headers.get("content-type", ""), answer.body):
            raise PlaceTaken(
                f"something else answers in the place of {self.base.host} ({answer.status}); asked without the key, "
                "nothing was sent to it",
                status=answer.status,
            )
        return max(0.0, seconds - (self._clock.monotonic() - begun))

    def pause(self, seconds: float) -> None:
        """Wait `seconds`; raise Cancelled if `cancel` is called meanwhile."""
        self._client.pause(seconds)

    def drop_connections(self) -> None:
        """Use new connections from now on."""
        self._client.drop_connections()

    def cancel(self) -> None:
        """End every call in the air now; they and all further ones raise Cancelled."""
        self._client.cancel()

    def close(self) -> None:
        """Release connections; what is in the air is ended."""
        self._client.close()
