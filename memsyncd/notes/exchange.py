"""Notes as rows of JSON: what `export` writes and `import` reads."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memsyncd.clock import from_rfc3339, rfc3339
from memsyncd.notes import cleaning
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.limits import ROWS_AT_ONCE
from memsyncd.notes.note import Arrival, IncomingNote, Note

ROW_TYPE = "note"
"""A row's `type`, which tells it from rows of other kinds in the same file."""

MAX_NAMED = 100
"""Refused rows told by number and reason; all are counted."""

MAX_COUNT = 2**53 - 1
"""The largest whole number that every program reads alike from JSON."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that is no note, by its place from 1, and why."""

    place: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedRows:
    """What became of the rows: `arrivals` by outcome, `refused` in all and the first MAX_NAMED of them, `cleaned`:
    secrets, private spans or half characters were taken out."""

    arrivals: Mapping[Arrival, int]
    refused: int
    named: Sequence[RefusedRow]
    cleaned: int


def to_row(note: Note) -> dict[str, object]:
    """Return a note as a JSON object. Times are RFC 3339 with milliseconds."""
    return {
        "type": ROW_TYPE,
        "namespace": note.namespace,
        "key": note.key,
        "value": note.value,
        "created_at": rfc3339(note.created_at / 1000),
        "updated_at": rfc3339(note.updated_at / 1000),
        "accessed_at": rfc3339(note.accessed_at / 1000),
        "expires_at": None if note.expires_at is None else rfc3339(note.expires_at / 1000),
        "access_count": note.access_count,
    }


def from_row(row: Mapping[str, object]) -> tuple[IncomingNote, bool]:
    """Return the note of a row, cleaned, and whether cleaning changed it. Raises NoteRefused with the reason."""
    if row.get("type") != ROW_TYPE:
        raise NoteRefused('type is not "note"')
    key = cleaning.checked_key(_text(row, "key"))
    value = cleaning.clean_value(key, _text(row, "value"))
    created = _time(row, "created_at")
    note = IncomingNote(
        cleaning.checked_namespace(_text(row, "namespace")),
        key,
        value.text,
        created,
        _time(row, "updated_at"),
        _time(row, "accessed_at") if "accessed_at" in row else created,
        None if row.get("expires_at") is None else _time(row, "expires_at"),
        _count(row),
    )
    return note, bool(value.changes)


def import_rows(
    given: Iterable[Mapping[str, object]], take_in: Callable[[Sequence[IncomingNote]], Sequence[Arrival]]
) -> ImportedRows:
    """Hand the notes of `given` to `take_in`, ROWS_AT_ONCE at a time."""
    arrivals: Counter[Arrival] = Counter()
    named: list[RefusedRow] = []
    refused = cleaned = 0
    waiting: list[IncomingNote] = []
    for place, row in enumerate(given, start=1):
        try:
            note, changed = from_row(row)
        except NoteRefused as error:
            refused += 1
            if len(named) < MAX_NAMED:
                named.append(RefusedRow(place, str(error)))
            continue
        cleaned += changed
        waiting.append(note)
        if len(waiting) == ROWS_AT_ONCE:
            arrivals.update(take_in(waiting))
            waiting = []
    if waiting:
        arrivals.update(take_in(waiting))
    return ImportedRows(arrivals, refused, named, cleaned)


def _text(row: Mapping[str, object], name: str) -> str:
    found = row.get(name)
    if not isinstance(found, str):
        raise NoteRefused(f"{name} is not text")
    return found


def _time(row: Mapping[str, object], name: str) -> int:
    seconds = from_rfc3339(_text(row, name))
    if seconds is None:
        raise NoteRefused(f"{name} is not a time")
    return round(seconds * 1000)


def _count(row: Mapping[str, object]) -> int:
    found = row.get("access_count", 0)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= MAX_COUNT:
        raise NoteRefused("access_count is not a count")
    return found
