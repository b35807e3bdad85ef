"""What a note's names and value pass before they are stored. Pure.

A value is cleaned: private spans go, secrets are replaced, half characters too; what was done is told. A name is kept
as given or refused: a name that was changed would not be found again, and two of them could become one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.limits import MAX_GIVEN_CHARS, MAX_KEY_CHARS, MAX_NAMESPACE_CHARS, MAX_VALUE_CHARS
from memsyncd.recall.cutting import repaired
from memsyncd.redaction import REPLACEMENT, redact, redact_value
from memsyncd.redaction.private_spans import without_private

PRIVATE_REMOVED = "what stood in <private> tags was left out"
SECRET_REDACTED = f"what looks like a secret was replaced by {REPLACEMENT}"
REPAIRED = "half characters were replaced by \ufffd"


@dataclass(frozen=True, slots=True)
class CleanValue:
    """A value fit to be stored, and what was changed, one sentence each."""

    text: str
    changes: Sequence[str]


def checked_namespace(name: str) -> str:
    """Return `name` as it is. Raises NoteRefused."""
    return _checked("namespace", name, MAX_NAMESPACE_CHARS)


def checked_key(name: str) -> str:
    """Return `name` as it is. Raises NoteRefused."""
    return _checked("key", name, MAX_KEY_CHARS)


def clean_value(key: str, value: str) -> CleanValue:
    """Return `value` as it may be stored under `key`: a key such as `db_password` makes any value a secret.

    Raises NoteRefused where nothing would be left, or too much.
    """
    if len(value) > MAX_GIVEN_CHARS:
        raise _too_long(value)
    changes: list[str] = []
    whole = repaired(value)
    if whole != value:
        changes.append(REPAIRED)
    if not whole.strip():
        raise NoteRefused("value must not be blank")
    public = without_private(whole)
    if public != whole:
        changes.append(PRIVATE_REMOVED)
    if not public.strip():
        raise NoteRefused("all of value stood in <private> tags: nothing was stored")
    if len(public) > MAX_VALUE_CHARS:
        raise _too_long(public)
    redacted = str(redact_value({key: redact(public)})[key])
    if redacted != public:
        changes.append(SECRET_REDACTED)
    return CleanValue(redacted, changes)


def _too_long(value: str) -> NoteRefused:
    return NoteRefused(
        f"value has {len(value):,} characters, more than {MAX_VALUE_CHARS:,}: keep what matters, or split it over"
        " several keys"
    )


def _checked(what: str, name: str, limit: int) -> str:
    if not name.strip():
        raise NoteRefused(f"{what} must not be blank")
    if len(name) > limit:
        raise NoteRefused(f"{what} has {len(name):,} characters, more than {limit:,}: choose a shorter one")
    if repaired(name) != name:
        raise NoteRefused(f"{what} holds half a character (a surrogate alone), which cannot be stored")
    if without_private(name) != name:
        raise NoteRefused(f"{what} holds a <private> tag: choose one that may be stored")
    if redact(name) != name:
        raise NoteRefused(f"{what} looks as if it held a secret, and names are stored as given: choose one without it")
    return name
