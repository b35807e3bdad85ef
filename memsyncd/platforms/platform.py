"""The protocol every platform keeps, its values, and the whole tree of its errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One line of dialogue; `role` is `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A part of a packet small enough for one request, with everything the request needs (facts 2.30, 2.31).

    `metadata` carries `memsyncd_packet` and `memsyncd_batch`, by which a batch is found again after an answer that
    never came.
    """

    packet_id: str
    number: int
    messages: Sequence[Message]
    user_id: str
    app_id: str
    agent_id: str
    run_id: str
    metadata: Mapping[str, Any]


class ExtractionState(StrEnum):
    """Where the platform's own job stands. Any word we do not know counts as still RUNNING (never-again 107)."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    MISSING = "MISSING"

    @property
    def is_terminal(self) -> bool:
        """Whether no further asking changes it."""
        return self in (ExtractionState.SUCCEEDED, ExtractionState.FAILED, ExtractionState.MISSING)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as found. `score` is the platform's, higher is better, None where it gave none."""

    id: str
    memory: str
    category: str = ""
    score: float | None = None
    created_at: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Extraction:
    """An extraction event as the platform tells it. `memories` is how many it made; `told` are those of them that the
    event shows; `created_at` RFC 3339 or empty."""

    event_id: str
    state: ExtractionState
    memories: int = 0
    error: str = ""
    created_at: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    told: Sequence[Memory] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to an add. `event_id` is empty when the platform named none (facts 2.23: that counts as missing)
    unless `finished`, which says the work was done before the answer; then `told` are the memories it shows."""

    event_id: str
    finished: bool = False
    memories: int = 0
    told: Sequence[Memory] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A batch found on the platform: its extraction event, or memories that carry its metadata (`event_id` empty)."""

    event_id: str = ""
    memories: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """A search. `filters` is the platform's own grammar (hooks-and-apis 3A); `category` one of facts 2.36."""

    text: str
    user_id: str
    app_id: str
    agent_ids: Sequence[str] = ()
    top_k: int = 5
    category: str = ""
    run_id: str = ""
    directory: str = ""
    scope: str = "repo"


@dataclass(frozen=True, slots=True)
class Account:
    """Who a key belongs to, as the platform's ping tells."""

    email: str = ""
    org_id: str = ""
    project_id: str = ""


class Platform(Protocol):
    """A place where memories live. Methods block, are safe from any thread, and raise only PlatformError."""

    kind: str
    url: str

    @property
    def destination(self) -> str:
        """The name under which this platform cools as a whole."""

    @property
    def longest_call_seconds(self) -> float:
        """How long one call may take before it is given up; a job in the midst of it is not stuck."""

    def add(self, batch: Batch) -> Accepted:
        """Send one batch."""

    def extraction(self, event_id: str) -> Extraction:
        """Ask for one extraction event; an id the platform does not know is MISSING, not an error."""

    def extractions(self) -> Iterator[Sequence[Extraction]]:
        """List recent extraction events, newest first, a page at a time; lazily, so the caller stops when it may."""

    def find(
        self, packet_id: str, batch: int, *, user_id: str, app_id: str, posted_at: float | None = None
    ) -> Found | None:
        """Look for a batch that may have arrived: in the event listing, then by its metadata among the memories.

        `posted_at`, Unix seconds, is when it was sent: nothing older is of interest.
        """

    def search(self, query: Query) -> Sequence[Memory]:
        """Find memories."""

    def delete(self, memory_id: str) -> bool:
        """Delete one memory; False when there was none."""

    def ping(self) -> Account:
        """Make the cheapest authenticated round trip."""

    def drop_connections(self) -> None:
        """Use none of the open connections again: the machine slept, or changed its network. A call whose own address
        is gone with that ends in NoAnswer."""

    def cancel(self) -> None:
        """End every call in the air now (they raise); further calls fail at once. For a stop within its deadline."""

    def close(self) -> None:
        """Release connections."""


# The tree of errors. Each class is one thing the delivery does next (DESIGN: retry policy).
#
#   PlatformError
#   ├── DestinationError          nothing wrong with the item: the destination cools, no attempt is used
#   │   ├── Unreachable           no connection was made: nothing was sent
#   │   ├── NoAnswer              sent, and no answer came: it may have arrived, look before sending again
#   │   ├── Busy                  408, 429, 5xx; `retry_after` seconds where the platform said so
#   │   └── NotUnderstood         an answer we cannot read (HTML of a captive page, a redirect, odd JSON)
#   │       └── PlaceTaken        asked without the key, such an answer came again: nothing was sent
#   ├── NeedsPerson               waits for someone; no attempt is used
#   │   ├── KeyRefused            401, 403
#   │   └── QuotaExceeded         402, or a body that says so
#   ├── Rejected                  400, 404, 409, 413, 422 and any other 4xx: this item's attempt failed
#   └── Cancelled                 we ended the call ourselves; treated as NoAnswer after the restart


class PlatformError(Exception):
    """Base of all. `message` is fit for a person and holds no key and no text of anybody's; `status` is the HTTP
    status or 0. `may_have_arrived` tells that the platform may have acted all the same."""

    may_have_arrived = False

    def __init__(self, message: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after


class DestinationError(PlatformError):
    """The destination, not the item, is at fault."""


class Unreachable(DestinationError):
    """No connection was made (refused, no route, DNS, TLS)."""


class NoAnswer(DestinationError):
    """The request went out and no whole answer came back."""

    may_have_arrived = True


class Busy(DestinationError):
    """408, 429 or 5xx. Only 429 says for certain that nothing was done."""

    @property
    def may_have_arrived(self) -> bool:  # type: ignore[override]
        """A gateway's 5xx or a 408 can hide a request that was carried out."""
        return self.status != 429  # noqa: PLR2004  (Too Many Requests)


class NotUnderstood(DestinationError):
    """An answer that is no answer of this platform. Never success."""

    may_have_arrived = True


class PlaceTaken(NotUnderstood):
    """Something else still answers in the platform's place: seen by a question without key and text, so the request
    itself was not sent."""

    may_have_arrived = False


class NeedsPerson(PlatformError):
    """Nothing helps until somebody acts."""


class KeyRefused(NeedsPerson):
    """401 or 403."""


class QuotaExceeded(NeedsPerson):
    """The account's limit is reached."""


class Rejected(PlatformError):
    """This one request is refused; another may be fine."""


class Cancelled(PlatformError):
    """The call was ended by our own stop."""

    may_have_arrived = True
