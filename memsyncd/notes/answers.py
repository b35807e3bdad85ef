"""What the tools answer, as JSON documents with the keys of the old server (hooks-and-apis.md section 6). Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memsyncd.notes.arguments import shown
from memsyncd.notes.note import Found, Hit, NamespaceCount, Note, Remembered, Stats

Document = Mapping[str, Any]

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
_STEP = 1024


def remembered(outcome: Remembered, ttl_seconds: int | None) -> Document:
    """Say that a note was stored, and what was left out of it."""
    note = outcome.note
    done = "Remembered" if outcome.created else "Updated"
    message = f"{done} {shown(note.key)} in {shown(note.namespace)}."
    if outcome.changes:
        message += f" Not all was stored: {'; '.join(outcome.changes)}."
    return {
        "message": message,
        "key": note.key,
        "namespace": note.namespace,
        "expires_in": "never" if ttl_seconds is None else f"{ttl_seconds}s",
        "expires_at": _seconds(note.expires_at),
        **({"changes": list(outcome.changes)} if outcome.changes else {}),
        "status": "success",
    }


def recalled(note: Note, shown_chars: int) -> Document:
    """Return a note with the first `shown_chars` of its value."""
    cut = shown_chars < len(note.value)
    return {
        "key": note.key,
        "namespace": note.namespace,
        "value": note.value[:shown_chars],
        **({"truncated": True, "notice": _cut_notice(note.value, shown_chars)} if cut else {}),
        "created_at": moment(note.created_at),
        "updated_at": moment(note.updated_at),
        "accessed_at": moment(note.accessed_at),
        "expires_at": _seconds(note.expires_at),
        "access_count": note.access_count,
        "status": "success",
    }


def forgotten(namespace: str, key: str) -> Document:
    """Say that a note is gone."""
    message = f"Forgot {shown(key)} in {shown(namespace)}."
    return {"message": message, "key": key, "namespace": namespace, "status": "success"}


def found(query: str, outcome: Found, hits: Sequence[Hit], shown_chars: int) -> Document:
    """Return the `hits` that are shown of a search, each with the first `shown_chars` of its value."""
    left_out = len(outcome.hits) - len(hits)
    return {
        "query": query,
        "total_matches": outcome.total,
        **({"total_is_at_least": True} if outcome.at_least else {}),
        "returned": len(hits),
        "results": [_result(hit, shown_chars) for hit in hits],
        **({"notice": f"{left_out} more found, left out for their size: ask for fewer with limit"} if left_out else {}),
        "status": "success",
    }


def listed(counts: Sequence[NamespaceCount], shown_count: int) -> Document:
    """Return the first `shown_count` namespaces."""
    left_out = len(counts) - shown_count
    return {
        "namespace_count": len(counts),
        "namespaces": [
            {
                "namespace": each.namespace,
                "total_entries": each.total,
                "active_entries": each.active,
                "expired_entries": each.expired,
            }
            for each in counts[:shown_count]
        ],
        **({"notice": f"{left_out} more namespaces, left out for their size"} if left_out else {}),
        "status": "success",
    }


def cleared(namespace: str, deleted: int) -> Document:
    """Say how many notes are gone."""
    message = f"Deleted {_notes(deleted)} of {shown(namespace)}." if deleted else f"{shown(namespace)} had no notes."
    return {"message": message, "namespace": namespace, "deleted_count": deleted, "status": "success"}


def figures(stats: Stats, storage_path: str) -> Document:
    """Return the store's figures. There are no tiers, so their limits are null (defect 17)."""
    return {
        "total_entries": stats.total,
        "active_entries": stats.total - stats.expired,
        "expired_entries": stats.expired,
        "total_size_bytes": stats.size_bytes,
        "total_size_human": human_size(stats.size_bytes),
        "namespace_count": stats.namespaces,
        "oldest_entry": None if stats.oldest is None else moment(stats.oldest),
        "newest_entry": None if stats.newest is None else moment(stats.newest),
        "storage_path": storage_path,
        "free_tier_limit": None,
        "pro_tier_limit": None,
        "status": "success",
    }


def failed(message: str) -> Document:
    """Say what went wrong."""
    return {"status": "error", "error": message, "isError": True}


def missing(namespace: str, key: str, elsewhere: Sequence[str]) -> str:
    """Say that there is no such note, and where there is one of its name."""
    message = f"There is no note {shown(key)} in {shown(namespace)}, or it has expired."
    if elsewhere:
        return f"{message} There is one of this key in {', '.join(map(shown, elsewhere))}."
    return f"{message} memory_search finds notes by their words."


def moment(milliseconds: int) -> str:
    """Return a time as the old server wrote it: ISO 8601 in UTC, whole seconds, `Z`."""
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")


def human_size(size: int) -> str:
    """Return bytes in the largest unit of which there is at least one."""
    amount = float(size)
    for unit in _UNITS[:-1]:
        if amount < _STEP:
            return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _STEP
    return f"{amount:.1f} {_UNITS[-1]}"


def _result(hit: Hit, shown_chars: int) -> Document:
    value = hit.value[:shown_chars]
    return {
        "namespace": hit.namespace,
        "key": hit.key,
        "value": value,
        **({"truncated": True} if len(value) < hit.value_chars else {}),
        "created_at": moment(hit.created_at),
        "access_count": hit.access_count,
    }


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _cut_notice(value: str, shown_chars: int) -> str:
    return f"the first {shown_chars:,} of {len(value):,} characters"


def _notes(count: int) -> str:
    return "1 note" if count == 1 else f"{count:,} notes"
