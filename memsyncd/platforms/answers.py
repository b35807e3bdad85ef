"""Mem0's answers, hosted and self-hosted, as our values: decoded leniently, never success unless they say so. Pure.

Every reader raises NotUnderstood for JSON of another shape. Shapes: hooks-and-apis 3A and 3B.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.platforms import refusals
from memsyncd.platforms.platform import Accepted, Account, Extraction, ExtractionState, Memory, NotUnderstood

EPISODE = "task_episode"
"""A `type` in metadata: records of plugins' own, no memory for anybody (facts 7.13)."""

MOST_TOLD = 100
"""Memories read from one extraction; they wait in memory until its packet is delivered."""

MAX_ID = 1_000
"""Characters of an id; what is longer is none, for an id is kept, and sent back as part of an address."""

MAX_MEMORY = 16_000
"""Characters read of a memory that was found: several times what anybody is shown of one."""

_STATES = {state.value: state for state in ExtractionState if state is not ExtractionState.MISSING}
_LARGEST = 1e300  # leaves out NaN, infinity and whole numbers that no float holds

_NOTHING_MADE = frozenset({"NONE", "DELETE"})
_OPEN_WORDS = frozenset({"PENDING", "RUNNING", "QUEUED", "PROCESSING"})


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing: its objects, and the next page's address as the platform gave it, or empty."""

    items: Sequence[Mapping[str, Any]]
    next: str = ""


def document(body: bytes, content_type: str) -> Any:
    """Return the JSON value of a 2xx answer."""
    if refusals.is_html(content_type, body):
        raise NotUnderstood("a page for people came back in place of an answer")
    value = refusals.decode(body)
    if value is None:
        raise NotUnderstood("the answer is no JSON" if body.strip() else "the answer is empty")
    return value


def accepted(value: Any) -> Accepted:
    """Read the answer to an add.

    With an event id, wherever the platform puts it, the extraction is to be asked for; `results` of a finished work
    count as finished; an object with neither has no event id, which counts as missing (facts 2.23).
    """
    answer = _object(value)
    if event_id := _id(answer.get("event_id")):
        return Accepted(event_id)
    results = answer.get("results")
    if results is None:
        if any(answer.get(key) for key in ("error", "detail", "details")):
            raise NotUnderstood("an error came back as if it were an answer")
        return Accepted("")
    if not isinstance(results, list) or not all(isinstance(item, Mapping) for item in results):
        raise NotUnderstood("the answer's results are no list of objects")
    if event_id := next(filter(None, (_id(item.get("event_id")) for item in results)), ""):
        return Accepted(event_id)  # an older form: one result that says the work is queued
    if any(_text(item.get("status")).upper() in _OPEN_WORDS for item in results):
        return Accepted("")
    return Accepted("", finished=True, memories=len(results))


def stored(value: Any) -> Accepted:
    """Read the answer to an add that was carried out before it was answered (hooks-and-apis 3B).

    No results is success with nothing new (never-again 106); what was looked at and left, or deleted, made no memory.
    """
    results = _object(value).get("results")
    if not isinstance(results, list) or not all(isinstance(item, Mapping) for item in results):
        raise NotUnderstood("the answer to an add has no results")
    made = [item for item in results if _text(item.get("event")).upper() not in _NOTHING_MADE]
    told = tuple(memory for item in made[:MOST_TOLD] if (memory := _told(item, {})) is not None)
    return Accepted("", finished=True, memories=len(made), told=told)


def extraction(value: Any, event_id: str, redact: Callable[[str], str]) -> Extraction:
    """Read an extraction event asked for as `event_id`. A state we do not know is still running (never-again 107)."""
    event = _object(value)
    if not isinstance(event.get("status"), str):
        raise NotUnderstood("an extraction event without a status")
    told = _text(event.get("id")) or _text(event.get("event_id"))
    if told and told != event_id:
        raise NotUnderstood("another extraction event than the one asked for")
    return _extraction(event, event_id, redact)


def extractions(page: Page, redact: Callable[[str], str]) -> list[Extraction]:
    """Read a page of the event listing; items without an id or a status are left out."""
    return [
        _extraction(item, told, redact)
        for item in page.items
        if (told := _id(item.get("id")) or _id(item.get("event_id"))) and isinstance(item.get("status"), str)
    ]


def page(value: Any) -> Page:
    """Read a listing: an object with `results`, or a bare list; items that are no objects are left out."""
    if isinstance(value, list):
        return Page(_objects(value))
    answer = _object(value)
    if not isinstance(answer.get("results"), list):
        raise NotUnderstood("a listing without results")
    return Page(_objects(answer["results"]), _text(answer.get("next")))


def memories(value: Any, *, top_k: int, category: str = "") -> list[Memory]:
    """Read found memories in the platform's order, episodes removed before the cut to `top_k` (facts 7.12, 7.13)."""
    found = (_memory(item, category) for item in page(value).items if _metadata(item).get("type") != EPISODE)
    return [memory for memory in found if memory is not None][:top_k]


def account(value: Any) -> Account:
    """Read the answer to a ping."""
    answer = _object(value)
    if not any(isinstance(answer.get(key), str) for key in ("status", "org_id", "project_id", "user_email")):
        raise NotUnderstood("an answer to a ping that names no account")
    return Account(
        email=_text(answer.get("user_email")),
        org_id=_text(answer.get("org_id")),
        project_id=_text(answer.get("project_id")),
    )


def metadata_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a listed item's metadata: its own, and its payload's where it repeats the request."""
    payload = item.get("payload")
    return {**(_metadata(payload) if isinstance(payload, Mapping) else {}), **_metadata(item)}


def belongs(metadata: Mapping[str, Any], packet_id: str, batch: int) -> bool:
    """Return whether metadata is that of one batch of a packet."""
    number = metadata.get("memsyncd_batch")
    return metadata.get("memsyncd_packet") == packet_id and str(number) == str(batch)


def _extraction(event: Mapping[str, Any], event_id: str, redact: Callable[[str], str]) -> Extraction:
    state = _STATES.get(event["status"].strip().upper(), ExtractionState.RUNNING)
    results = event.get("results")
    if isinstance(results, Mapping):
        results = results.get("results")
    words = refusals.words(event.get("error"))
    made = _objects(results) if isinstance(results, list) else []
    return Extraction(
        event_id=event_id,
        state=state,
        memories=len(made),
        error=refusals.cut(redact(words)) if words else "",  # most have none, and redaction is not free
        created_at=_text(event.get("created_at")),
        metadata=metadata_of(event),
        told=tuple(memory for item in made[:MOST_TOLD] if (memory := _told(item, event)) is not None),
    )


def _memory(item: Mapping[str, Any], wanted: str) -> Memory | None:
    identity, text = _id(item.get("id")), item.get("memory")
    if not identity or not isinstance(text, str):
        return None
    metadata = {**_owners(item), **_metadata(item)}
    listed = item.get("categories")
    categories = [name for name in listed if _id(name)] if isinstance(listed, list) else []
    own = _id(metadata.get("category"))
    return Memory(
        id=identity,
        memory=text[:MAX_MEMORY],
        category=wanted if wanted in categories else (categories[0] if categories else own),
        score=_number(item.get("score")),
        created_at=_text(item.get("created_at")),
        metadata=metadata,
    )


def _owners(item: Mapping[str, Any]) -> Mapping[str, str]:
    """Return whose a memory is, as far as the platform says so."""
    return {name: value for name in ("user_id", "agent_id", "app_id", "run_id") if (value := _text(item.get(name)))}


def _told(item: Mapping[str, Any], event: Mapping[str, Any]) -> Memory | None:
    """Read a memory that an extraction made: its text may stand in `data`, what is known of all in the event."""
    data = item.get("data")
    text = item.get("memory") or (data.get("memory") if isinstance(data, Mapping) else None)
    if _text(item.get("event")).upper() in _NOTHING_MADE:
        return None
    created_at = item.get("created_at") or event.get("created_at")
    metadata = {**metadata_of(event), **_metadata(item)}
    return _memory({**item, "memory": text, "created_at": created_at, "metadata": metadata}, "")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NotUnderstood("the answer is JSON of another shape")
    return value


def _objects(values: list[Any]) -> list[Mapping[str, Any]]:
    return [item for item in values if isinstance(item, Mapping)]


def _metadata(item: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = item.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _id(value: object) -> str:
    """Return an id, empty for what is none."""
    return value if isinstance(value, str) and len(value) <= MAX_ID else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
