"""A PostHog-compatible endpoint's batch route (hooks-and-apis 4), and an event as it is sent there."""

import json
import re
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import httpx

from memsyncd import redaction
from memsyncd.clock import Clock, from_rfc3339, rfc3339
from memsyncd.platforms import echoes, refusals
from memsyncd.platforms.addresses import Resolve, system_resolver
from memsyncd.platforms.http_client import HttpClient
from memsyncd.platforms.network import Network
from memsyncd.platforms.platform import NotUnderstood
from memsyncd.platforms.transport import DEFAULT_WRITE_SECONDS, HttpSettings, is_loopback, open_transport
from memsyncd.telemetry.cleaning import clean
from memsyncd.telemetry.event import TelemetryEvent
from memsyncd.version import __version__

MAX_BATCH_EVENTS = 100
"""Facts 12.12, and what the endpoint's own clients send at once (hooks-and-apis 4)."""

MAX_BATCH_BYTES = 5 * 1024 * 1024
MAX_EVENT_BYTES = 900 * 1024
"""Hooks-and-apis 4: the server drops events of about 1 MB, so what comes near is never sent."""

LONGEST_SECONDS = 10.0
"""Of one request, whatever `http.timeout_seconds` says: nobody waits for it, and it must end well within a claim's
lease."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)

_NOBODY = frozenset({"", "null", "none", "nil", "undefined", "nan", "true", "false", "0", "anonymous", "guest"})
"""Ids that name nobody; such events are dropped in silence or refused (hooks-and-apis 4)."""

_LONGEST_ID = 200


class Unsendable(StrEnum):
    """Why a line of a spool is never sent: not an event; without name, UUID or distinct id, which the endpoint would
    drop in silence; larger than the endpoint takes; or about an account that the user does not allow to tell."""

    CORRUPT = "corrupt"
    INCOMPLETE = "incomplete"
    TOO_LARGE = "too_large"
    NOT_ALLOWED = "not_allowed"


@dataclass(frozen=True, slots=True)
class Sender:
    """As whom events go that do not say so themselves. `is_account`: the user allowed to be known by it."""

    distinct_id: str
    is_account: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """One event as it is sent: its UUID, the same at every try, its own time (RFC 3339, or empty), and its JSON."""

    uuid: str
    timestamp: str
    json: bytes

    def document(self) -> Mapping[str, Any]:
        """Return the event as a value, for `telemetry show`."""
        document: Mapping[str, Any] = json.loads(self.json)
        return document


def wire(line: bytes, sender: Sender, redact: Callable[[str], str] = redaction.redact) -> Wire | Unsendable:
    """Return what is sent for a line of a spool, or why it never is. Pure.

    The properties are cleaned once more: a plugin's line was cleaned by whatever version of it wrote it.
    """
    if len(line) > MAX_EVENT_BYTES:
        return Unsendable.TOO_LARGE
    event = TelemetryEvent.from_line(line)
    if event is None:
        return Unsendable.CORRUPT
    own = event.extra.get("distinct_id")
    if isinstance(own, str) and "@" in own and not sender.is_account:
        if event.event.startswith("$"):  # an alias would join the account and the random id all the same
            return Unsendable.NOT_ALLOWED
        own = None
    distinct_id = own if isinstance(own, str) and _names_somebody(own) else sender.distinct_id
    if redact(distinct_id) != distinct_id:
        distinct_id = sender.distinct_id  # a secret is nobody's name
    if not event.event.strip() or not _UUID.fullmatch(event.uuid) or not _names_somebody(distinct_id):
        return Unsendable.INCOMPLETE
    timestamp = event.timestamp if from_rfc3339(event.timestamp) is not None else ""
    document = {
        "event": redact(event.event),
        "distinct_id": distinct_id,
        "properties": {
            **clean(event.properties, redact),
            "$lib": "memsyncd",
            "$lib_version": __version__,
            "$process_person_profile": sender.is_account,
        },
        **({"timestamp": timestamp} if timestamp else {}),
        "uuid": event.uuid,
    }
    encoded = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
    return Wire(event.uuid, timestamp, encoded) if len(encoded) <= MAX_EVENT_BYTES else Unsendable.TOO_LARGE


def body(batch: Sequence[Wire], api_key: str, sent_at: float) -> bytes:
    """Return the request's body. `sent_at` is Unix seconds. Pure."""
    head = json.dumps({"api_key": api_key, "historical_migration": False, "sent_at": rfc3339(sent_at)})
    return head[:-1].encode("ascii") + b', "batch": [' + b",".join(event.json for event in batch) + b"]}"


class PostHog:
    """One endpoint, one client for the daemon's life. Raises ValueError for an `endpoint` that is no http(s) URL.

    No connection and no thread before the first `send`. `open_connection` is the seam for tests.
    """

    def __init__(
        self,
        endpoint: str,
        api_key: str,
        http: HttpSettings,
        clock: Clock,
        *,
        redact: Callable[[str], str] = redaction.redact,
        proxies: Callable[[], Mapping[str, str]] = urllib.request.getproxies,
        resolve: Resolve = system_resolver,
        open_connection: Callable[[Network], httpx.BaseTransport] | None = None,
    ) -> None:
        def connect(network: Network) -> httpx.BaseTransport:
            return open_transport(self._client.base, http, network, proxies())

        self._client = HttpClient(endpoint, open_connection or connect, clock, parallel=1, resolve=resolve)
        self._api_key = api_key.strip()
        self._clock = clock
        self._redact = redact
        local = is_loopback(self._client.base.host)
        self._seconds = min(DEFAULT_WRITE_SECONDS if local else http.timeout_seconds, LONGEST_SECONDS)
        self.destination = f"telemetry:{str(self._client.base).rstrip('/')}"

    def send(self, batch: Sequence[Wire]) -> None:
        """Send one batch; returning means that the endpoint has it, and only status 200 says so (hooks-and-apis 4).

        Raises PlatformError; Rejected is this batch's own. The same batch may be sent again: its UUIDs tell.
        """
        sent = body(batch, self._api_key, self._clock.wall())
        answer = self._client.call("POST", "/batch/", headers={}, seconds=self._seconds, body=sent, safe=False)
        if answer.status != 200:  # noqa: PLR2004  (OK)
            refusal = refusals.refusal(
                answer.status,
                answer.headers,
                answer.body,
                now=self._clock.wall(),
                redact=lambda text: echoes.without_echo(self._without_key(text), json.loads(sent)),
            )
            if isinstance(refusal, NotUnderstood):  # its words are about the platform
                refusal = NotUnderstood(f"no batch route answers there ({answer.status})", status=answer.status)
            raise refusal
        if refusals.is_html(answer.headers.get("content-type", ""), answer.body):
            raise NotUnderstood("a page for people came back in place of an answer", status=answer.status)

    def drop_connections(self) -> None:
        """Use new connections from now on: the machine slept, or the network changed."""
        self._client.drop_connections()

    def cancel(self) -> None:
        """End the call in the air; it and all further ones raise Cancelled."""
        self._client.cancel()

    def close(self) -> None:
        """Release connections; what is in the air is ended."""
        self._client.close()

    def _without_key(self, text: str) -> str:
        return self._redact(text.replace(self._api_key, redaction.REPLACEMENT) if self._api_key else text)


def _names_somebody(distinct_id: str) -> bool:
    return distinct_id.strip().lower() not in _NOBODY and len(distinct_id) <= _LONGEST_ID
