"""Copies of what an import could not read, kept private and once each, beside the source that stays as it is."""

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from memsyncd.recall.cutting import repaired
from memsyncd.redaction import redact, redact_value
from memsyncd.redaction.private_spans import without_private

MOST_ENTRIES = 10_000
MOST_ENTRY_BYTES = 64 * 1024 * 1024
"""Of one source, kept beside it; the source itself stays as it is."""

LEFT_SECONDS = 86_400.0
"""A file so old that it is under no name was left by an import that was killed."""

_HASH_CHARS = 12
_STEM_BYTES = 100


class Entries:
    """Copies of what could not be read of one file (`name`), as JSON lines, written as they come, so that no number of
    them takes memory. Secrets and private spans are taken out. Until `keep` they are under a name that nobody looks at;
    `close` without it leaves nothing. Raises OSError.
    """

    def __init__(
        self, directory: Path, name: str, *, most: int = MOST_ENTRIES, most_bytes: int = MOST_ENTRY_BYTES
    ) -> None:
        self.number = 0
        self.not_kept = 0
        self._directory = directory
        self._name = name
        self._most = most
        self._left = most_bytes
        self._file: _Writing | None = None

    def add(self, place: int, reason: str, entry: Any) -> None:
        """Keep the entry at `place`; one for which there is no room is only counted, as `not_kept`."""
        self.number += 1
        if self.number > self._most or self._left <= 0:
            self.not_kept += 1
            return
        told = json.dumps({"file": repaired(self._name), "place": place, "reason": reason})
        line = f'{told[:-1]}, "entry": {_entry(entry)}}}\n'
        if self._file is None:
            self._file = _Writing(self._directory)
        self._left -= len(line)
        self._file.write(line.encode())

    def keep(self) -> Path | None:
        """Give them their name, which follows from the content; return it, or None where nothing was refused."""
        if self._file is None:
            return None
        file, self._file = self._file, None
        return file.keep(Path(self._name).stem, "entries.jsonl")

    def close(self) -> None:
        """Drop what is not kept."""
        if self._file is not None:
            self._file.drop()
            self._file = None


def keep_file(directory: Path, name: str, content: bytes) -> Path:
    """Keep a file whole: what cannot be parsed cannot be cleaned either. Return where. Raises OSError."""
    writing = _Writing(directory)
    writing.write(content)
    return writing.keep(Path(name).stem, "json")


class _Writing:
    """A file on its way to a name that follows from its content, so that the next import finds it there."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = directory / f".{os.getpid()}.{secrets.token_hex(4)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = open(os.open(self._path, flags, 0o600), "wb")  # noqa: SIM115  (keep or drop closes it)
        self._digest = hashlib.sha256()
        _sweep(directory, os.fstat(self._file.fileno()).st_mtime)

    def write(self, content: bytes) -> None:
        try:
            self._file.write(content)
        except BaseException:
            self.drop()
            raise
        self._digest.update(content)

    def keep(self, stem: str, suffix: str) -> Path:
        short = stem.encode("utf-8", "replace")[:_STEM_BYTES].decode("utf-8", "ignore")
        target = self._path.with_name(f"{short}.{self._digest.hexdigest()[:_HASH_CHARS]}.{suffix}")
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._path.rename(target)
        except BaseException:
            self.drop()
            raise
        return target

    def drop(self) -> None:
        with suppress(OSError):  # what is buffered has no room
            self._file.close()
        self._path.unlink(missing_ok=True)


def _sweep(directory: Path, now: float) -> None:
    """Delete what imports left that were killed; `now` is the time of that file system, Unix seconds."""
    for path in directory.glob(".*.tmp"):
        with suppress(OSError):
            if now - path.stat().st_mtime > LEFT_SECONDS:
                path.unlink()


def _entry(given: Any) -> str:
    """Return an entry as JSON, without what is not to be kept."""
    try:
        return json.dumps(redact_value(given, lambda text: redact(without_private(text))))
    except RecursionError:
        return json.dumps("nested too deeply to be kept")
