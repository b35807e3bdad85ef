"""Import: the lines of an export, and the notes of the old server's directory. A second time brings nothing."""

import codecs
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daemon.exchange.form import HEADER, MAX_LINE_BYTES, VERSION
from daemon.forgetting.tombstones import Tombstones
from daemon.places import Places
from daemon.private_directory import make_private
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.notes import exchange as notes
from memsyncd.notes import setting_aside
from memsyncd.notes.errors import NoteError, NoteRefused
from memsyncd.notes.importing import import_old_notes
from memsyncd.notes.note import Arrival, IncomingNote
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local import exchange as memories
from memsyncd.platforms.local.exchange import Incoming, RefusedMemory
from memsyncd.platforms.local.memories import NewMemory
from memsyncd.platforms.platform import PlatformError
from memsyncd.redaction import redact
from memsyncd.redaction.private_spans import without_private

ASIDE = "import-refused"
"""The directory, below the data directory, in which lines are kept that could not be read."""

MAX_NAMED = 100
"""Lines told by number and reason; all are counted and kept."""

MAX_KEPT = 10_000

MAX_HEADER_BYTES = 1_000
"""An export's first line is a fifth of it."""

_OLD = ".json"

OnProgress = Callable[[int, int], None]
"""Hears often how much is done, and of how much: bytes of a file (of 0, where a pipe does not tell), or files."""


class ImportFailed(Exception):
    """The message is a sentence for a person; what was brought by then stays, and a second time brings the rest."""


def import_from(
    source: Path,
    places: Places,
    settings: Settings,
    environ: Mapping[str, str],  # noqa: ARG001
    on_progress: OnProgress = lambda *_: None,
) -> dict[str, Any]:
    """Bring in what `source` holds, a pipe too; return what became of it. Raises ImportFailed."""
    make_private(places.data)
    try:
        with closing(NoteStore(places.memory_file, Clock())) as store:
            if source.is_dir() or (source.suffix == _OLD and not _is_export(source)):
                return _old_notes(source, store, places.data / ASIDE, on_progress)
            is_local = settings.platform.kind == "local"
            return _Lines(places, store, is_local, on_progress).take_in(source)
    except FileNotFoundError as error:
        raise ImportFailed(f"There is no {source}.") from error
    except OSError as error:
        raise ImportFailed(f"{source} cannot be read: {error.strerror or error}.") from error
    except (NoteError, PlatformError) as error:
        raise ImportFailed(f"The import was cut off: {error}.") from error


def _old_notes(source: Path, store: NoteStore, aside: Path, on_progress: OnProgress) -> dict[str, Any]:
    found = import_old_notes(store, source, aside, on_progress)
    return {
        "memories": {},
        "notes": {arrival.value: number for arrival, number in found.arrivals.items()},
        "refused": found.not_read,
        "not_read": [{"file": each.file, "line": each.place, "reason": each.reason} for each in found.named],
        "kept_in": str(aside) if found.not_read else "",
    }


@dataclass
class _Lines:
    """The lines of one file on their way in. `is_local` tells whether memories are kept on this machine."""

    places: Places
    store: NoteStore
    is_local: bool
    on_progress: OnProgress
    memories: "Counter[str]" = field(default_factory=Counter)
    notes: "Counter[str]" = field(default_factory=Counter)
    refused: list[tuple[int, str, Any]] = field(default_factory=list)
    number_refused: int = 0
    _waiting_memories: list[Incoming] = field(default_factory=list)
    _waiting_notes: list[IncomingNote] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tombstones = Tombstones(self.places.data)
        self._now = Clock().wall()

    def take_in(self, source: Path) -> dict[str, Any]:
        with source.open("rb") as file:
            size, read = os.fstat(file.fileno()).st_size, 0
            for number, line in enumerate(_lines(file), start=1):
                read += len(line)
                self.on_progress(read, size)
                self._line(number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)
        self._store(at_least=1)
        aside = self.places.data / ASIDE
        if self.refused:
            setting_aside.keep_entries(aside, source.name, self.refused)
        return {
            "memories": dict(self.memories),
            "notes": dict(self.notes),
            "refused": self.number_refused,
            "not_read": [
                {"file": source.name, "line": number, "reason": reason}
                for number, reason, _ in self.refused[:MAX_NAMED]
            ],
            "kept_in": str(aside) if self.refused else "",
        }

    def _line(self, number: int, line: bytes) -> None:
        if not line.strip():
            return
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        try:
            row = json.loads(text) if len(line) <= MAX_LINE_BYTES else None
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            self._refuse(number, "no JSON object" if len(line) <= MAX_LINE_BYTES else "longer than any line", text)
        elif row.get("type") == HEADER:
            self._header(row)
        elif row.get("type") == memories.ROW_TYPE:
            self._memory(number, row)
        else:
            self._note(number, row)
        self._store(at_least=memories.ROWS_AT_ONCE)

    def _header(self, row: Mapping[str, Any]) -> None:
        version = row.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise ImportFailed(
                f"This export is of form {version!r}, and this program reads {VERSION}: update memsyncd."
            )

    def _memory(self, number: int, row: Mapping[str, Any]) -> None:
        if not self.is_local:
            self._refuse(number, "memories are taken in by the embedded platform (platform.kind = local) only", row)
            return
        try:
            self._waiting_memories.append(memories.incoming(row, clean=_clean, now=self._now))
        except RefusedMemory as error:
            self._refuse(number, str(error), row)

    def _note(self, number: int, row: Mapping[str, Any]) -> None:
        try:
            self._waiting_notes.append(notes.from_row(row)[0])
        except NoteRefused as error:
            self._refuse(number, str(error), row)

    def _refuse(self, number: int, reason: str, entry: Any) -> None:
        self.number_refused += 1
        if len(self.refused) < MAX_KEPT:
            self.refused.append((number, reason, entry))

    def _store(self, *, at_least: int) -> None:
        if len(self._waiting_memories) >= at_least:
            path = self.places.memory_file
            became = memories.take_in(path, self._waiting_memories, is_forgotten=self._is_forgotten)
            self.memories.update(each.value for each in became)
            self._waiting_memories.clear()
        if len(self._waiting_notes) >= at_least:
            arrivals: list[Arrival] = list(self.store.take_in(self._waiting_notes))
            self.notes.update(each.value for each in arrivals)
            self._waiting_notes.clear()

    def _is_forgotten(self, memory: NewMemory, made_at: float) -> bool:
        if self._tombstones.covers_memory(memory.id):
            return True
        return self._tombstones.covers_made(
            session_id=memory.run_id, app_id=memory.app_id, project_id=memory.agent_id, made_at=made_at
        )


def _is_export(source: Path) -> bool:
    """Tell whether a file is an export of ours, whatever people named it. Raises OSError."""
    with source.open("rb") as file:
        return f'"{HEADER}"'.encode() in file.readline(MAX_HEADER_BYTES)


def _lines(file: Any) -> Iterator[bytes]:
    """Yield lines; of one that is too long so much that it shows, and the rest is passed over."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        whole = line
        while not whole.endswith(b"\n") and len(whole) > MAX_LINE_BYTES:
            whole = file.readline(MAX_LINE_BYTES + 1)
            if not whole:
                break
        yield line


def _clean(text: str) -> str:
    return redact(without_private(text))
