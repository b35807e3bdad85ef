"""Imports: files of the old notes' server and lines of an export, with any bytes in them and any name."""

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.exchange.form import header
from daemon.exchange.importing import import_from
from daemon.exchange.lines import ASIDE, ImportFailed
from daemon.places import resolve
from daemon.settings import load
from memsyncd.notes import exchange, old_entries
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.note import IncomingNote
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local.exchange import Intake
from memsyncd.platforms.local.incoming import RefusedMemory, incoming
from memsyncd.redaction import redact
from memsyncd.redaction.private_spans import without_private
from memsyncd.transcripts.lines import decoded
from tests.clocks import HandClock
from tests.fuzz import planted, seeds
from tests.fuzz.target import BREAK, Target, TryOne

WHOLE = 60
"""One input in so many goes through the command's own import, which opens its files anew."""

MOST_BYTES = 8 << 20
"""Of a store, which is then begun anew, so that it does not grow with the run."""

NOW = 1_800_000_000.0


class _Importer:
    """An input's parts: the file's name, and what it holds."""

    def __init__(self, place: Path) -> None:
        self.place = place
        environ = {"MEMSYNCD_HOME": str(place / "m"), "HOME": str(place), "USER": "ada"}
        self.places = resolve(environ, place, os.getuid(), "linux")
        self.settings = load(self.places, environ, {}).settings
        self._begin()

    def _begin(self) -> None:
        self.own = self.place / "own.sqlite3"
        self.notes = NoteStore(self.own, HandClock().clock())
        self.intake = Intake(self.own, is_forgotten=lambda given: given.told_id == "forgotten")

    def close(self) -> None:
        self.notes.close()
        self.intake.close()
        for path in (*self.place.glob("own.sqlite3*"), *self.places.data.glob("memory.sqlite3*")):
            path.unlink()

    def try_one(self, content: bytes) -> None:
        name, _, held = planted.into(content).partition(BREAK)
        if self.own.exists() and self.own.stat().st_size > MOST_BYTES:
            self.close()
            self._begin()
        stem = os.fsdecode(name.strip().replace(b"/", b"").replace(b"\0", b""))[:80] or "default.json"
        if zlib.crc32(content) % WHOLE == 0:
            self._as_the_command(stem, held)
        elif stem.endswith(old_entries.SUFFIX):
            self._old_file(stem, held)
        else:
            self._lines(held)

    def _old_file(self, name: str, held: bytes) -> None:
        notes: list[IncomingNote] = []
        try:
            found = old_entries.entries(held, name)
        except NoteRefused as error:
            planted.assert_absent(str(error))
            return
        for entry in found:
            try:
                old = old_entries.old_note(entry, name.removesuffix(old_entries.SUFFIX), written_by=1)
            except NoteRefused as error:
                planted.assert_absent(str(error))
            else:
                notes.append(old.note)
        self._keep(notes)

    def _lines(self, held: bytes) -> None:
        notes: list[IncomingNote] = []
        memories = []
        for line in held.split(b"\n"):
            row = decoded(line)
            try:
                if row is not None and row.get("type") == "memory":
                    memories.append(incoming(row, clean=lambda text: redact(without_private(text)), now=NOW))
                elif row is not None:
                    notes.append(exchange.from_row(row)[0])
            except (NoteRefused, RefusedMemory) as error:
                planted.assert_absent(str(error))
        self._keep(notes)
        for each in memories:
            planted.assert_absent(each.memory.text, json.dumps(each.memory.metadata, allow_nan=False))
        self.intake.take_in(memories[:500])

    def _keep(self, notes: list[IncomingNote]) -> None:
        for note in notes:
            planted.assert_absent(note.value, note.key)
        if notes:
            self.notes.take_in(notes[:500])

    def _as_the_command(self, name: str, held: bytes) -> None:
        source = self.place / "given" / f"x{name}"
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(held)
        try:
            answer = import_from(source, self.places, self.settings)
        except ImportFailed as error:
            planted.assert_absent(str(error))
        else:
            json.dumps(answer)
            if planted.TELLTALE not in name:
                planted.assert_absent(answer)
        aside = self.places.data / ASIDE
        for path in aside.glob("*") if aside.is_dir() else ():
            if path.name.endswith("entries.jsonl") and planted.TELLTALE not in name:
                planted.assert_absent(path.read_text(encoding="utf-8"))
            path.unlink()
        source.unlink()


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    importer = _Importer(place)
    try:
        yield importer.try_one
    finally:
        importer.close()


_OLD = {
    "key": "k",
    "value": "v w @PLANTED@",
    "created_at": "2026-11-30T10:00:00Z",
    "accessed_at": 1_796_032_800.5,
    "expires_at": None,
    "access_count": 2,
}
_NOTE = {
    "type": "note",
    "namespace": "n",
    "key": "k",
    "value": "v @PLANTED@",
    "created_at": "2026-11-30T10:00:00Z",
    "updated_at": "2026-11-30T10:00:00Z",
    "expires_at": None,
    "access_count": 1,
}
_MEMORY = {"type": "memory", "id": "m-1", "memory": "We use pnpm. @PLANTED@", "lane": "project", "app_id": "shop", "agent_id": "shop-1", "user_id": "", "run_id": "s", "category": "workflows",
           "score": 1.5, "created_at": "2026-11-30T21:48:43.866Z", "metadata": {"branch": "main", "dirs": ["a", "a/b"]}}  # fmt: skip


def inputs() -> Iterator[bytes]:
    """Yield files of both kinds."""
    for value in (_OLD, _OLD | {"value": {"a": [1, "@PLANTED@"]}}, _OLD | {"key": "db_password", "expires_at": 4e9}):
        yield b"default.json" + BREAK + seeds.line([value, _OLD | {"key": "other", "value": "<private>x</private>y"}])
    yield b"_meta.json" + BREAK + seeds.line({"total_entries": 3})
    yield b"shop.json" + BREAK + seeds.line([{"key": "k", "value": "v"}, 5, None, {"key": 5}])
    lines = [seeds.line(row) for row in (header("local", NOW), _MEMORY, _MEMORY | {"lane": None}, _NOTE)]
    yield b"export.jsonl" + BREAK + b"\n".join(lines)
    yield b"export.jsonl" + BREAK + b"\r\n".join([b"\xef\xbb\xbf" + lines[0], *lines[1:], b"no json", b"[]"])
    yield b"export.json" + BREAK + b"\n".join(lines)


WORDS = (
    *b"default.json _meta.json export.jsonl key value created_at accessed_at expires_at access_count type".split(),
    *b"note memory memsyncd-export version namespace updated_at id lane project personal user_id app_id".split(),
    *b"agent_id run_id category score metadata dirs branch 1e400 <private> </private> -1 253402300799.9999".split(),
)
TARGET = Target("imported_notes", opened, inputs, WORDS, share=4)
