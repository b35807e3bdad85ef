"""Export: every memory and note, line by line, into a private file that is whole or not there."""

import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from daemon import abandoned_writes
from daemon.exchange.elsewhere import Elsewhere
from daemon.exchange.form import header
from daemon.places import Places
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.notes.errors import NoteError
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local import exchange
from memsyncd.platforms.platform import PlatformError


class ExportFailed(Exception):
    """The message is a sentence for a person; no file was left."""


def export_to(
    target: Path | None,
    places: Places,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    write: Callable[[str], None],
) -> dict[str, Any]:
    """Write every memory and note into `target` (0600, renamed into place when it is whole), or give each line to
    `write`; return how many of each. Raises ExportFailed.

    Of a platform elsewhere the answer also tells whose they are (`own`, `shared` in `projects`), whether the platform
    lists only a part of what it has (`is_cut`), and the files whose projects are not known (`unread`).
    """
    is_elsewhere = settings.platform.kind != "local"
    elsewhere = Elsewhere(places, settings, environ)
    counts = {"memories": 0, "notes": 0}

    def lines() -> Iterator[str]:
        yield json.dumps(header(settings.platform.kind, Clock().wall()))
        for row in elsewhere.rows() if is_elsewhere else exchange.rows(places.memory_file):
            counts["memories"] += 1
            yield json.dumps(row)
        for row in _notes(places):
            counts["notes"] += 1
            yield json.dumps(row)

    try:
        if target is None:
            for line in lines():
                write(line)
        else:
            _write_file(target, lines())
    except (PlatformError, NoteError) as error:
        raise ExportFailed(f"Nothing was exported: {error}.") from error
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise  # who reads has read enough
        where = target or "Standard output"
        raise ExportFailed(f"{where} cannot be written: {error.strerror or error}.") from error
    return counts | (_told(elsewhere) if is_elsewhere else {})


def _told(elsewhere: Elsewhere) -> dict[str, Any]:
    known = elsewhere.known
    return {
        "own": elsewhere.own,
        "shared": elsewhere.shared,
        "projects": known.projects,
        "is_cut": elsewhere.is_cut,
        "unread": list(known.unread),
    }


def _notes(places: Places) -> Iterator[dict[str, object]]:
    with closing(NoteStore(places.memory_file, Clock())) as store:
        yield from store.export_rows()


def _write_file(target: Path, lines: Iterator[str]) -> None:
    """Write a private file, whole or not at all. A device or a pipe is written to as it is: a file renamed onto
    /dev/null would be there in its place, for everybody."""
    try:
        is_file = stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        is_file = True
    if is_file:
        return _write_private(target, lines)
    with open(os.open(target, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC), "w", encoding="ascii", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
    return None


def _write_private(target: Path, lines: Iterator[str]) -> None:
    named = target.with_name(target.name[:200])
    writing = named.with_name(f".{named.name}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(writing, flags, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii", newline="\n") as file:
            file.writelines(line + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
            abandoned_writes.sweep_beside(named, os.fstat(descriptor).st_mtime)
        os.rename(writing, target)
    except BaseException:
        with suppress(OSError):
            writing.unlink()
        raise
