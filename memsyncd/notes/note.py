"""What the notes are made of. Times are Unix milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is stored. `created_at` outlives a new value; `expires_at` None is never.

    `accessed_at` and `access_count` are what an import brought: recalling writes nothing, so it counts nothing.
    """

    namespace: str
    key: str
    value: str
    created_at: int
    updated_at: int
    accessed_at: int
    expires_at: int | None = None
    access_count: int = 0


@dataclass(frozen=True, slots=True)
class IncomingNote:
    """A note from elsewhere. `updated_at` None: when it was written is not known, so it never replaces one here."""

    namespace: str
    key: str
    value: str
    created_at: int
    updated_at: int | None
    accessed_at: int
    expires_at: int | None = None
    access_count: int = 0


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a note that was to be remembered. `created`: there was none of that name. `changes`: what was
    taken out of the value on its way in, one sentence each."""

    note: Note
    created: bool
    changes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A note found: its names, the beginning of its value, how long the whole is, in characters, and how well it fits
    (only to be compared within one search)."""

    namespace: str
    key: str
    value: str
    value_chars: int
    created_at: int
    updated_at: int
    access_count: int
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """A search's outcome, the best hit first. `total` counts all notes that match, or with `at_least` the first of
    them that were counted."""

    total: int
    hits: Sequence[Hit]
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class NamespaceCount:
    """How many notes a namespace holds; the expired ones wait to be swept."""

    namespace: str
    total: int
    expired: int

    @property
    def active(self) -> int:
        """Those that can be recalled."""
        return self.total - self.expired


@dataclass(frozen=True, slots=True)
class Stats:
    """The whole store. `size_bytes` counts keys and values as UTF-8; `oldest` and `newest` are times of creation."""

    total: int
    expired: int
    size_bytes: int
    namespaces: int
    oldest: int | None
    newest: int | None
    tombstones: int


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep removed. `more`: it stopped at its limit."""

    notes: int
    tombstones: int
    more: bool


class Arrival(Enum):
    """What became of a note from elsewhere."""

    BROUGHT = "brought"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OLDER = "older"
    """A note of that name here is as new or newer: it stays."""
    FORGOTTEN = "forgotten"
    """It was forgotten here since: it stays so."""
    EXPIRED = "expired"
