"""Events, sessions and packets as the evidence store gives them out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

NO_BRANCH = "detached"
"""What is kept for a branch where none is known (facts 5.23)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a session belongs; pinned by its first event (facts 5.30).

    `repo_id` is the repository's identity (a normalised remote, or `local:` and a path), `app_id` the short name a
    platform shows, `project_id` the identity shared between people (app id and a hash), `root` the working tree,
    `directory` the session's place below it with forward slashes, empty at the root. `branch` is `detached` and
    `head_sha` empty when unknown.
    """

    repo_id: str
    app_id: str
    project_id: str = ""
    root: str = ""
    branch: str = NO_BRANCH
    head_sha: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event about to be stored: redacted already, `payload` JSON values only.

    `handoff_id` makes storing it twice a no-op (a crash between commit and unlink); `duplicate_key` is the same for
    two deliveries of one event (CONTRACT: same harness, session, action and turn or event id). `created_at` is
    RFC 3339, UTC.
    """

    session_id: str
    kind: str
    payload: Mapping[str, Any]
    created_at: str
    handoff_id: str
    scope: Scope
    harness: str = ""
    duplicate_key: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A stored event; `id` rises in the order of recording."""

    id: int
    session_id: str
    kind: str
    payload: Mapping[str, Any]
    created_at: str
    repo_id: str = ""
    app_id: str = ""
    flush_id: str | None = None


class PacketStatus(StrEnum):
    """The states of a packet, as existing plugins store them (facts 2.1); `SHARED`, in a store of ours alone, while it
    is in a queue that several machines share, which delivers it from then on."""

    PREPARED = "prepared"
    QUEUED = "semantic-queued"
    SUCCEEDED = "semantic-succeeded"
    FAILED = "semantic-failed"
    TIMEOUT = "semantic-timeout"
    MISSING = "semantic-missing"
    ERROR = "error"
    EXPLICITLY_STORED = "explicitly-stored"
    GAVE_UP = "gave-up"
    SHARED = "shared"


IN_FLIGHT = frozenset({PacketStatus.PREPARED, PacketStatus.QUEUED})
"""Facts 2.3."""

CLOSED = frozenset({PacketStatus.SUCCEEDED, PacketStatus.EXPLICITLY_STORED, PacketStatus.GAVE_UP})
"""Facts 2.4: any other status is open and is resumed before anything new."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A reserved block of evidence and how far its delivery has come.

    `status` is a PacketStatus value, kept as text because another version may have written one we do not know.
    `slots` has one extraction event id per batch, empty where none is known yet. `attempts` counts failed tries
    (facts 2.9), at most 5. `bare_slot` marks a row of an old plugin: its one slot stands for the whole packet,
    however many batches that makes now (facts 2.24).
    """

    packet_id: str
    repo_id: str
    app_id: str
    session_id: str
    reason: str
    event_start: int
    event_end: int
    status: str
    slots: tuple[str, ...] = ()
    attempts: int = 0
    error: str = ""
    created_at: str = ""
    updated_at: str = ""
    bare_slot: bool = False

    @property
    def is_open(self) -> bool:
        """Whether delivery is not over."""
        return self.status not in CLOSED and self.status != PacketStatus.SHARED


@dataclass(frozen=True, slots=True)
class Post:
    """One batch's request, written down before it is sent (acknowledge last).

    `started_at` is set before the request leaves; `event_id` once the platform answered with one. A post that has a
    start and no event id may or may not have arrived: it is looked for before it is sent again. `waiting_since` is
    when the present wait for its extraction began. All times are Unix seconds.
    """

    packet_id: str
    batch: int
    started_at: float
    event_id: str = ""
    waiting_since: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionActivity:
    """A session with evidence that is in no packet yet."""

    session_id: str
    first_event_id: int
    last_event_id: int
    last_event_at: str
    events: int
    in_flight: bool = False
    harness: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a batch of events. `duplicates` were known already, by handoff, by event or as the same answer.

    `sessions` are those that got an event, `answered` those of them that got an answer.
    """

    inserted: int
    duplicates: int
    sessions: frozenset[str]
    answered: frozenset[str]
