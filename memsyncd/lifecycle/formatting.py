"""Memories in words, for tools' answers and for what people look at (facts 18.14 to 18.19). Pure.

`now` is Unix seconds. Texts of memories are redacted and stand on one line each.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from memsyncd.clock import from_rfc3339
from memsyncd.lifecycle.found import Item, memory_of
from memsyncd.platforms.platform import Memory
from memsyncd.recall.context import Line, words
from memsyncd.recall.cutting import whole

MAX_LINES = 200
MAX_CHARACTERS = 50_000
"""What a tool's answer may have (facts 18.18)."""

UNCATEGORIZED = "uncategorized"
NOTHING_FOUND = "No memories found."

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_KILO = 1_000
_PENDING = frozenset({"PENDING", "QUEUED", "RUNNING"})


def age(created_at: str, now: float) -> str:
    """Return how long ago, floored: `5m ago`, `3h ago`, `2d ago`; "" for no date. The future counts as now."""
    created = from_rfc3339(created_at)
    if created is None:
        return ""
    seconds = int(max(0.0, now - created))
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m ago"
    return f"{seconds // _HOUR}h ago" if seconds < _DAY else f"{seconds // _DAY}d ago"


def compact_line(memory: Memory, now: float) -> Line:
    """Return the parts of the compact form: category before, age and id behind, which a cut leaves whole."""
    since = age(memory.created_at, now)
    identity = words(memory.id)
    label = (f" ({since})" if since else "") + (f" [mem0:{identity}]" if identity else "")
    return Line(words(memory.memory), label=label, lead=f"[{words(memory.category) or UNCATEGORIZED}] ")


def compact(item: Item, now: float) -> str:
    """Return `[category] text (age) [mem0:id]`, without an age or an id where there is none (facts 18.15)."""
    line = compact_line(memory_of(item), now)
    return f"{line.lead}{line.words or '(empty)'}{line.label}"


def listed(items: Iterable[Item], now: float) -> str:
    """Return the compact forms, numbered from 1, one a line, or NOTHING_FOUND (facts 18.16)."""
    return "\n".join(f"{number}. {compact(item, now)}" for number, item in enumerate(items, 1)) or NOTHING_FOUND


def grouped(items: Iterable[Item]) -> dict[str, list[Memory]]:
    """Return memories by their first category, categories in the order they come up (facts 18.19)."""
    groups: dict[str, list[Memory]] = {}
    for memory in map(memory_of, items):
        groups.setdefault(memory.category or UNCATEGORIZED, []).append(memory)
    return groups


def add_result(answer: object, now: float) -> str:
    """Return what an add did, in words, from a list, an object with `results`, or one item (facts 18.17)."""
    items = _added(answer)
    rows = [row for row in (answer, *items) if isinstance(row, Mapping)]
    if any(str(row.get("status") or "").upper() in _PENDING for row in rows):
        return f"Memory queued for background extraction{_event(rows)}."
    if not items:
        return "Memory stored."
    return f"Stored {len(items)} {'memory' if len(items) == 1 else 'memories'}:\n{listed(items, now)}"


def _added(answer: object) -> list[Item]:
    if isinstance(answer, Mapping):
        if "results" not in answer:
            return [answer] if memory_of(answer).id or memory_of(answer).memory else []
        answer = answer["results"]
    return [item for item in answer if isinstance(item, Memory | Mapping)] if isinstance(answer, list | tuple) else []


def _event(rows: Iterable[Mapping[str, Any]]) -> str:
    for row in rows:
        event = row.get("event_id") or row.get("eventId")
        if isinstance(event, str) and event.strip():
            return f" ({words(event)})"
    return ""


def truncated(
    text: str, *, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS, max_bytes: int | None = None
) -> str:
    """Return `text` cut to so many lines, then so many characters, and a note of what was done (facts 18.18).

    `max_bytes`, for a host that counts UTF-8, is a further limit. The cut halves no character. Within the limits the
    text is unchanged; otherwise the note comes on top of them, after a blank line. A final line break begins no line.
    """
    lines = text.split("\n")
    total = len(lines) - (lines[-1] == "" and len(lines) > 1)
    notes: list[str] = []
    kept = text
    if total > max_lines:
        kept = "\n".join(lines[:max_lines])
        notes.append(f"showing {max_lines} of {total} lines")
    if len(kept) > max_characters:
        kept = kept[: whole(kept, max_characters)]
        notes.append(f"cut at {max_characters // _KILO}KB")
    if max_bytes is not None and (end := _end_within(kept, max_bytes)) < len(kept):
        kept = kept[: whole(kept, end)]
        notes = [note for note in notes if not note.startswith("cut")] + [f"cut at {max_bytes // _KILO}KB"]
    return f"{kept}\n\n[{', '.join(notes)}]" if notes else text


def _end_within(text: str, max_bytes: int) -> int:
    """Return how many characters of `text` fit into `max_bytes` of UTF-8."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= max_bytes:
        return len(text)
    end = max(0, max_bytes)
    while end and encoded[end] & 0xC0 == 0x80:  # noqa: PLR2004  (a byte that continues a character)
        end -= 1
    return len(encoded[:end].decode("utf-8", "surrogatepass"))
