"""The lines of an export on their way in: one store for memories and one for notes, open until the last line."""

import codecs
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from daemon.exchange.form import HEADER, MAX_LINE_BYTES, VERSION
from daemon.forgetting.tombstones import Tombstones
from daemon.places import Places
from memsyncd.clock import Clock
from memsyncd.notes import exchange as notes
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.note import IncomingNote
from memsyncd.notes.setting_aside import Entries
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local import exchange as memories
from memsyncd.platforms.local.incoming import Incoming, RefusedMemory, incoming
from memsyncd.redaction import redact
from memsyncd.redaction.private_spans import without_private

ASIDE = "import-refused"
"""The directory, below the data directory, in which lines are kept that could not be read."""

MAX_NAMED = 100
"""Lines told by number and reason; all are counted, and all that Entries has room for are kept."""

OnProgress = Callable[[int, int], None]
"""Hears often how much is done, and of how much: bytes of a file (of 0, where a pipe does not tell), or files."""


class ImportFailed(Exception):
    """The message is a sentence for a person; what was brought by then stays, and a second time brings the rest."""


class Lines:
    """The lines of one file. `is_local` tells whether memories are kept on this machine.

    What came in is on the disk some hundred rows at a time. Cut off anywhere, a second time passes over it and brings
    the rest, and names again what cannot be read.
    """

    def __init__(self, places: Places, store: NoteStore, on_progress: OnProgress, *, is_local: bool) -> None:
        self._store = store
        self._is_local = is_local
        self._on_progress = on_progress
        self._tombstones = Tombstones(places.data)
        self._now = Clock().wall()
        self._intake = memories.Intake(places.memory_file, is_forgotten=self._is_forgotten)
        self._aside = places.data / ASIDE
        self._memories: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()
        self._named: list[tuple[int, str]] = []
        self._waiting_memories: list[Incoming] = []
        self._waiting_notes: list[IncomingNote] = []

    def take_in(self, source: Path) -> dict[str, Any]:
        """Bring them in; return what became of them. Raises ImportFailed, OSError, NoteError and PlatformError."""
        if self._is_local:
            self._tombstones.unfinished()  # raises where nobody knows what must not come back
        self._refused = Entries(self._aside, source.name)
        with closing(self._intake), closing(self._refused), source.open("rb") as file:
            size, read = os.fstat(file.fileno()).st_size, 0
            for number, line in enumerate(_lines(file), start=1):
                read += len(line)
                self._on_progress(read, size)
                self._line(number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)
                self._settle(at_least=memories.ROWS_AT_ONCE)
            self._settle(at_least=1)
            kept_in = self._aside if self._keep() else ""
        return {
            "memories": dict(self._memories),
            "notes": dict(self._notes),
            "refused": self._refused.number,
            "not_read": [{"file": source.name, "line": number, "reason": reason} for number, reason in self._named],
            "kept_in": str(kept_in),
            "not_kept": self._refused.not_kept,
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
            _check_header(row)
        elif row.get("type") == memories.ROW_TYPE:
            self._memory(number, row)
        else:
            self._note(number, row)

    def _memory(self, number: int, row: Mapping[str, Any]) -> None:
        if not self._is_local:
            self._refuse(number, "memories are taken in by the embedded platform (platform.kind = local) only", row)
            return
        try:
            self._waiting_memories.append(incoming(row, clean=_clean, now=self._now))
        except RefusedMemory as error:
            self._refuse(number, str(error), row)

    def _note(self, number: int, row: Mapping[str, Any]) -> None:
        try:
            self._waiting_notes.append(notes.from_row(row)[0])
        except NoteRefused as error:
            self._refuse(number, str(error), row)

    def _refuse(self, number: int, reason: str, entry: Any) -> None:
        try:
            self._refused.add(number, reason, entry)
        except OSError as error:
            raise self._no_room(error) from error
        if len(self._named) < MAX_NAMED:
            self._named.append((number, reason))

    def _keep(self) -> Path | None:
        try:
            return self._refused.keep()
        except OSError as error:
            raise self._no_room(error) from error

    def _no_room(self, error: OSError) -> ImportFailed:
        why = error.strerror or error
        return ImportFailed(f"The import was cut off: what cannot be read is kept in {self._aside}: {why}.")

    def _settle(self, *, at_least: int) -> None:
        if len(self._waiting_memories) >= at_least:
            self._memories.update(each.value for each in self._intake.take_in(self._waiting_memories))
            self._waiting_memories.clear()
        if len(self._waiting_notes) >= at_least:
            self._notes.update(each.value for each in self._store.take_in(self._waiting_notes))
            self._waiting_notes.clear()

    def _is_forgotten(self, given: Incoming) -> bool:
        if self._tombstones.covers_memory(given.told_id):
            return True
        memory = given.memory
        return self._tombstones.covers_made(
            session_id=memory.run_id, app_id=memory.app_id, project_id=memory.agent_id, made_at=given.made_at
        )


def _check_header(row: Mapping[str, Any]) -> None:
    version = row.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ImportFailed(f"This export is of form {version!r}, and this program reads {VERSION}: update memsyncd.")


def _lines(file: BinaryIO) -> Iterator[bytes]:
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
