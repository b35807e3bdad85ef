"""A memory in a row of JSON from elsewhere, checked and cleaned before anything of it is stored. Pure."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memsyncd.clock import from_rfc3339, rfc3339
from memsyncd.platforms.local.candidate import PERSONAL, PROJECT
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.local.scope_filter import CATEGORIES, require_identity
from memsyncd.platforms.platform import Rejected
from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.recall.cutting import repaired
from memsyncd.redaction import redact_value

MAX_ID_CHARS = 1_000
MAX_METADATA_DEPTH = 32
MAX_METADATA_CHARS = 64_000
"""As JSON. What is made here has a tenth of it, however deep a directory lies."""

MAX_TEXT_CHARS = 10_000
"""Of a memory: some ten times the longest that is made here."""


class RefusedMemory(Exception):
    """A row that is no memory; the message says why and holds none of its words."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A memory from elsewhere, checked and cleaned. `told_id` is its id over there; `made_at`: Unix seconds.
    `superseded_by`: the id of the memory that overrules it, or empty."""

    memory: NewMemory
    told_id: str
    made_at: float
    superseded_by: str = ""


def incoming(row: Mapping[str, Any], *, clean: Callable[[str], str], now: float) -> Incoming:
    """Return the memory in a row, whose words go through `clean`. Raises RefusedMemory with the reason.

    A row of a platform elsewhere tells no lane: what only a project owns is the project's. It gets an id of its own,
    for this file may know that memory already, as the other platform's.
    """
    told_id = _identity(row, "id")
    text = clean(_text(row, "memory")).strip()
    if not text or len(text) > MAX_TEXT_CHARS:
        raise RefusedMemory("memory is empty" if not text else f"memory is longer than {MAX_TEXT_CHARS:,} characters")
    made = from_rfc3339(_text(row, "created_at", "") or rfc3339(now))
    if made is None:
        raise RefusedMemory("created_at is not a time")
    ids = {name: _identity(row, name, "") for name in ("user_id", "app_id", "agent_id", "run_id")}
    if wild := next((name for name, given in ids.items() if is_wildcard(given)), None):
        raise RefusedMemory(f"{wild} is a wildcard")  # also where another of them owns the memory
    lane = row.get("lane") or (PROJECT if ids["agent_id"] and not ids["user_id"] else PERSONAL)
    if lane not in (PERSONAL, PROJECT):
        raise RefusedMemory("lane is none")
    try:
        owner = {"user_id": ids["user_id"]} if lane == PERSONAL else {"agent_id": ids["agent_id"]}
        require_identity(**owner, app_id=ids["app_id"])
    except Rejected as error:
        raise RefusedMemory(error.message) from error
    category = _text(row, "category", "")
    return Incoming(
        NewMemory(
            id=told_id if row.get("lane") else _id_here(told_id),
            text=text,
            category=category if category in CATEGORIES else "project_knowledge",
            lane=str(lane),
            packet_id="",
            batch=0,
            metadata=_metadata(row, clean),
            score=_score(row),
            context="",
            created_at=rfc3339(min(made, now)),
            **ids,
        ),
        told_id,
        made,
        _identity(row, "superseded_by", ""),
    )


def _id_here(told_id: str) -> str:
    return hashlib.blake2b(f"import\0{told_id}".encode(), digest_size=16).hexdigest()


def _identity(row: Mapping[str, Any], name: str, otherwise: str | None = None) -> str:
    found = _text(row, name, otherwise)
    if len(found) > MAX_ID_CHARS:
        raise RefusedMemory(f"{name} is longer than {MAX_ID_CHARS:,} characters")
    return found


def _text(row: Mapping[str, Any], name: str, otherwise: str | None = None) -> str:
    found = row.get(name, otherwise)
    if not isinstance(found, str) or (otherwise is None and not found):
        raise RefusedMemory(f"{name} is not text")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise RefusedMemory(f"{name} holds half a character") from None
    return found


def _metadata(row: Mapping[str, Any], clean: Callable[[str], str]) -> Mapping[str, Any]:
    """Return a row's metadata, cleaned at any depth; those that the index reads are of their type or are left out."""
    given = row.get("metadata", {})
    if not isinstance(given, dict):
        raise RefusedMemory("metadata is no object")
    if _is_deeper(given, MAX_METADATA_DEPTH):
        raise RefusedMemory("metadata is nested too deeply")
    try:
        is_too_long = len(json.dumps(given, allow_nan=False)) > MAX_METADATA_CHARS
    except ValueError:
        raise RefusedMemory("metadata holds what is no number to JSON") from None
    if is_too_long:
        raise RefusedMemory(f"metadata is longer than {MAX_METADATA_CHARS:,} characters")
    metadata: dict[str, Any] = redact_value(given, lambda text: repaired(clean(text)))
    of_type = {"branch": isinstance(metadata.get("branch"), str), "dirs": isinstance(metadata.get("dirs"), list)}
    return {name: value for name, value in metadata.items() if of_type.get(name, True)}


def _is_deeper(value: object, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth < 0 or any(_is_deeper(each, depth - 1) for each in inner)


def _score(row: Mapping[str, Any]) -> float:
    found = row.get("score", 1.0)
    try:
        score = float(found) if isinstance(found, int | float) and not isinstance(found, bool) else math.nan
    except OverflowError:
        score = math.nan
    if not math.isfinite(score):
        raise RefusedMemory("score is no number")
    return score
