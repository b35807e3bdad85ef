"""Bringing the notes of the old server over: `~/.agent-memory`, or another directory of its kind, is only read."""

import os
import stat
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsyncd.notes import old_entries, setting_aside
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.limits import MAX_OLD_FILE_BYTES, ROWS_AT_ONCE
from memsyncd.notes.note import Arrival, IncomingNote
from memsyncd.notes.store import NoteStore

MAX_NAMED = 1_000
"""Of what could not be read, told one by one; all are counted."""


@dataclass(frozen=True, slots=True)
class NotRead:
    """A file, or the entry of one at `place` (from 1), that could not be read, and where its copy lies: None where not
    even that could be made, and the source alone has it."""

    file: str
    place: int | None
    reason: str
    copy: Path | None


@dataclass(frozen=True, slots=True)
class ImportedFiles:
    """What an import brought. `files` were read; `ignored` are no files of notes. `cleaned`: notes out of which secrets
    or private spans were taken; `converted`: values that were no text and are now JSON. `not_read` counts all, `named`
    are the first MAX_NAMED of them."""

    files: int
    ignored: Sequence[str]
    arrivals: Mapping[Arrival, int]
    cleaned: int
    converted: int
    not_read: int
    named: Sequence[NotRead]


@dataclass(slots=True)
class _Tally:
    store: NoteStore
    files: int = 0
    ignored: list[str] = field(default_factory=list)
    arrivals: Counter[Arrival] = field(default_factory=Counter)
    cleaned: int = 0
    converted: int = 0
    not_read: int = 0
    named: list[NotRead] = field(default_factory=list)

    def name(self, found: NotRead) -> None:
        self.not_read += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(found)

    def take_in(self, notes: Sequence[IncomingNote]) -> None:
        for start in range(0, len(notes), ROWS_AT_ONCE):
            self.arrivals.update(self.store.take_in(notes[start : start + ROWS_AT_ONCE]))


def import_old_notes(
    store: NoteStore, source: Path, aside: Path, on_progress: Callable[[int, int], None] = lambda *_: None
) -> ImportedFiles:
    """Bring the notes of a directory (or of one file) of the old server over, and keep copies of what cannot be read
    in the directory `aside`. `on_progress` hears how many files are done, and how many there are.

    Repeated, it brings nothing twice; what was changed, forgotten or has expired here since stays so. One bad entry
    costs no other, one bad file neither. Raises OSError where the source is not there or cannot be listed, NoteError
    where the store cannot be written; what was brought by then stays.
    """
    tally = _Tally(store)
    paths = sorted(source.iterdir()) if stat.S_ISDIR(source.stat().st_mode) else [source]
    for number, path in enumerate(paths):
        on_progress(number, len(paths))
        if path.name.endswith(old_entries.SUFFIX):
            _import_file(tally, path, aside)
        else:
            tally.ignored.append(path.name)
    return ImportedFiles(
        tally.files,
        tally.ignored,
        tally.arrivals,
        tally.cleaned,
        tally.converted,
        tally.not_read,
        tally.named,
    )


def _import_file(tally: _Tally, path: Path, aside: Path) -> None:
    try:
        content, written_by = _read(path)
    except (OSError, NoteRefused) as error:
        reason = str(error) if isinstance(error, NoteRefused) else f"cannot be read: {error.strerror}"
        tally.name(NotRead(path.name, None, reason, None))
        return
    tally.files += 1
    try:
        found = old_entries.entries(content, path.name)
    except NoteRefused as error:
        tally.name(NotRead(path.name, None, str(error), setting_aside.keep_file(aside, path.name, content)))
        return
    _import_entries(tally, path, found, written_by, aside)


def _import_entries(tally: _Tally, path: Path, found: Sequence[Any], written_by: int, aside: Path) -> None:
    notes: list[IncomingNote] = []
    named: list[tuple[int, str]] = []
    with closing(setting_aside.Entries(aside, path.name)) as refused:
        for place, entry in enumerate(found, start=1):
            try:
                old = old_entries.old_note(entry, path.name.removesuffix(old_entries.SUFFIX), written_by=written_by)
            except NoteRefused as error:
                refused.add(place, str(error), entry)
                named.append((place, str(error)))
                continue
            tally.cleaned += old.cleaned
            tally.converted += old.converted
            notes.append(old.note)
        copy = refused.keep()
    for place, reason in named:
        tally.name(NotRead(path.name, place, reason, copy))
    tally.take_in(notes)


def _read(path: Path) -> tuple[bytes, int]:
    """Return a file's bytes and when it was last written, in Unix milliseconds. A pipe is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise NoteRefused("is no file")
        if state.st_size > MAX_OLD_FILE_BYTES:
            raise NoteRefused(f"is larger than {MAX_OLD_FILE_BYTES:,} bytes")
        return file.read(), state.st_mtime_ns // 1_000_000
