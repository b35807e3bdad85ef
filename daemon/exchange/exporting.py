"""Export: every memory and note, line by line, into a private file that is whole or not there."""

import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

from daemon.api_key.source import KeySource
from daemon.compose import platform_of, whose_memories
from daemon.exchange.form import header
from daemon.places import Places
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.notes.errors import NoteError
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local import exchange
from memsyncd.platforms.owned import Lists, OwnedMemory, Owner
from memsyncd.platforms.platform import PlatformError

ALL_PAGES = 100_000


class ExportFailed(Exception):
    """The message is a sentence for a person; no file was left."""


def export_to(
    target: Path | None,
    places: Places,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    write: Callable[[str], None],
) -> dict[str, int]:
    """Write every memory and note into `target` (0600, renamed into place when it is whole), or give each line to
    `write`; return how many of each. Raises ExportFailed."""
    counts = {"memories": 0, "notes": 0}

    def lines() -> Iterator[str]:
        yield json.dumps(header(settings.platform.kind, Clock().wall()))
        for row in _memories(places, settings, environ):
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
            _write_private(target, lines())
    except (PlatformError, NoteError) as error:
        raise ExportFailed(f"Nothing was exported: {error}.") from error
    except OSError as error:
        raise ExportFailed(f"{target} cannot be written: {error.strerror or error}.") from error
    return counts


def _memories(places: Places, settings: Settings, environ: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    if settings.platform.kind == "local":
        yield from exchange.rows(places.memory_file)
        return
    clock = Clock()
    keys = KeySource.from_settings(settings, environ, clock)
    with closing(platform_of(places, settings, keys, clock)) as platform:
        owner = Owner(user_id=whose_memories(settings, environ))
        for page in cast("Lists", platform).memories_of(owner, pages=ALL_PAGES):
            yield from (_row(memory) for memory in page)


def _notes(places: Places) -> Iterator[dict[str, object]]:
    if not places.memory_file.exists():
        return
    with closing(NoteStore(places.memory_file, Clock())) as store:
        yield from store.export_rows()


def _row(memory: OwnedMemory) -> dict[str, Any]:
    return {
        "type": exchange.ROW_TYPE,
        "id": memory.id,
        "memory": memory.memory,
        "category": memory.categories[0] if memory.categories else "",
        "user_id": memory.user_id,
        "app_id": memory.app_id,
        "agent_id": memory.agent_id,
        "run_id": memory.run_id,
        "metadata": dict(memory.metadata),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def _write_private(target: Path, lines: Iterator[str]) -> None:
    writing = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(writing, flags, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii", newline="\n") as file:
            file.writelines(line + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.rename(writing, target)
    except BaseException:
        with suppress(OSError):
            writing.unlink()
        raise
