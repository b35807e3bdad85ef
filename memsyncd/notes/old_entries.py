"""The old store's files: `<namespace>.json`, a list of entries (hooks-and-apis.md section 6). Parsing alone, pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.clock import from_rfc3339
from memsyncd.notes import cleaning
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.exchange import MAX_COUNT
from memsyncd.notes.note import IncomingNote

SUFFIX = ".json"
STATISTICS = "_meta.json"
"""The old server's own figures, unless it is a list: then a namespace of that name was stored over them (defect 6)."""

_YEAR_10000 = 253_402_300_800


@dataclass(frozen=True, slots=True)
class OldNote:
    """An entry as a note. `cleaned`: something was taken out; `converted`: its value was no text and is now JSON."""

    note: IncomingNote
    cleaned: bool
    converted: bool


def entries(content: bytes, name: str) -> Sequence[Any]:
    """Return a file's entries, not looked at yet. Raises NoteRefused where it is no list of them."""
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NoteRefused("is not text in UTF-8") from None
    except ValueError:
        raise NoteRefused("is not JSON" if content.strip(b"\0 \t\r\n") else "is empty") from None
    except RecursionError:
        raise NoteRefused("is nested too deeply") from None
    if name == STATISTICS and isinstance(found, dict):
        return ()
    if not isinstance(found, list):
        raise NoteRefused("is not a list of entries")
    return found


def old_note(entry: Any, namespace: str, *, written_by: int) -> OldNote:
    """Return an entry as a note, cleaned. Raises NoteRefused with the reason.

    The old server's `created_at` is when the entry was last written, for it began anew with each value (defect 11).
    Without one it was written by the time its file was (`written_by`, Unix milliseconds), and it is not known when.
    """
    if not isinstance(entry, Mapping):
        raise NoteRefused("is not an object")
    if not isinstance(entry.get("key"), str):
        raise NoteRefused("has no key that is text")
    key = cleaning.checked_key(entry["key"])
    given = entry.get("value")
    if given is None:
        raise NoteRefused("has no value")
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    value = cleaning.clean_value(key, text)
    written = _moment(entry.get("created_at"))
    created = written_by if written is None else written
    accessed = _moment(entry.get("accessed_at"))
    note = IncomingNote(
        cleaning.checked_namespace(namespace),
        key,
        value.text,
        created,
        written,
        created if accessed is None else accessed,
        _expiry(entry.get("expires_at")),
        _count(entry.get("access_count")),
    )
    return OldNote(note, cleaned=bool(value.changes), converted=not isinstance(given, str))


def _expiry(given: object) -> int | None:
    if given is None:
        return None
    moment = _moment(given)
    if moment is None:
        raise NoteRefused("has an expires_at that is not a time")
    return moment


def _moment(given: object) -> int | None:
    """Return Unix milliseconds of Unix seconds or of a text, which the old server's README has in one place and its
    code in another; None where it is neither."""
    seconds = from_rfc3339(given) if isinstance(given, str) else given
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not 0 <= seconds < _YEAR_10000:  # which NaN is not either
        return None
    return round(seconds * 1000)


def _count(given: object) -> int:
    """Return a count of accesses; a wrong one is no reason to lose the note."""
    known = isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= MAX_COUNT
    return int(given) if known and isinstance(given, int) else 0
