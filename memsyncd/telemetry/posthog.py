"""A PostHog-compatible endpoint's batch route (hooks-and-apis 4)."""

import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import httpx

from memsyncd.clock import Clock
from memsyncd.platforms.addresses import Resolve, system_resolver
from memsyncd.platforms.network import Network
from memsyncd.platforms.transport import HttpSettings


class Unsendable(StrEnum):
    """Why a line of a spool is never sent."""

    CORRUPT = "corrupt"
    INCOMPLETE = "incomplete"
    TOO_LARGE = "too-large"


@dataclass(frozen=True, slots=True)
class Sender:
    """As whom events go that do not say so themselves. `is_account`: the user allowed to be known by it."""

    distinct_id: str
    is_account: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """One event as it is sent: its UUID, the same at every try, and its JSON."""

    uuid: str
    json: bytes

    def document(self) -> Mapping[str, Any]:
        """Return the event as a value, for `telemetry show`."""
        raise NotImplementedError


def wire(line: bytes, sender: Sender) -> Wire | Unsendable:
    """Return what is sent for a line of a spool, or why it never is. Pure."""
    raise NotImplementedError


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
        proxies: Callable[[], Mapping[str, str]] = urllib.request.getproxies,
        resolve: Resolve = system_resolver,
        open_connection: Callable[[Network], httpx.BaseTransport] | None = None,
    ) -> None:
        self.destination = f"telemetry:{endpoint.rstrip('/')}"

    def send(self, batch: Sequence[Wire]) -> None:
        """Send one batch. Raises PlatformError; Rejected is this batch's own."""
        raise NotImplementedError

    def drop_connections(self) -> None:
        """Use new connections from now on."""

    def cancel(self) -> None:
        """End the call in the air."""

    def close(self) -> None:
        """Release connections."""
