"""Memories as a platform lists them for an owner: what export writes and forget deletes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

MAX_OWNED_PAGES = 50
"""Pages of 100 that are read of one owner's memories for a deletion (facts 14.8)."""

ENTITIES = ("user_id", "agent_id", "app_id", "run_id")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memories are listed: a person's, those that a project's people share, or with both what is a person's in a
    project. `run_id` and `app_id` narrow further; a platform that cannot tell by the app lists all."""

    user_id: str = ""
    project_id: str = ""
    run_id: str = ""
    app_id: str = ""


class ListingCut(Exception):
    """There are more memories than were listed: more than the platform lists, or than was asked for."""


@dataclass(frozen=True, slots=True)
class OwnedMemory:
    """A memory with the ids it was stored under; each is empty where the platform does not tell it."""

    id: str
    memory: str
    user_id: str = ""
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""
    categories: Sequence[str] = ()
    created_at: str = ""
    updated_at: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Lists(Protocol):
    """A platform elsewhere that lists an owner's memories, newest first, a page at a time and lazily. Raises
    PlatformError."""

    def memories_of(self, owner: Owner, *, pages: int = MAX_OWNED_PAGES) -> Iterator[Sequence[OwnedMemory]]:
        """List them, up to `pages`. Raises ListingCut after the last page if there are more."""

    def delete(self, memory_id: str) -> bool:
        """Delete one; False when there was none."""


def owned(item: Mapping[str, Any]) -> OwnedMemory | None:
    """Read one listed item; None for what is no memory. The hosted platform's listing calls the run `session_id`
    (hooks-and-apis 3A), and a self-hosted server keeps the app in the metadata."""
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    identity, text = item.get("id"), item.get("memory")
    if not isinstance(identity, str) or not identity or not isinstance(text, str):
        return None
    ids = {name: _text(item.get(name)) or _text(metadata.get(name)) for name in ENTITIES}
    ids["run_id"] = ids["run_id"] or _text(item.get("session_id"))
    listed = item.get("categories")
    categories = listed if isinstance(listed, list) else [metadata.get("category")]
    return OwnedMemory(
        id=identity,
        memory=text,
        categories=[name for name in categories if isinstance(name, str) and name],
        created_at=_text(item.get("created_at")),
        updated_at=_text(item.get("updated_at")),
        metadata=metadata,
        **ids,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
