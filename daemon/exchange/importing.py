"""Import: the lines of an export, and the notes of the old server's directory. A second time brings nothing."""

from contextlib import closing
from pathlib import Path
from typing import Any

from daemon.exchange.form import HEADER
from daemon.exchange.lines import ASIDE, ImportFailed, Lines, OnProgress
from daemon.forgetting.tombstones import UnreadableTombstones
from daemon.places import Places
from daemon.private_directory import make_private
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.notes.errors import NoteError
from memsyncd.notes.importing import import_old_notes
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.platform import PlatformError

MAX_HEADER_BYTES = 1_000
"""An export's first line is a fifth of it."""

_OLD = ".json"


def import_from(
    source: Path,
    places: Places,
    settings: Settings,
    on_progress: OnProgress = lambda *_: None,
) -> dict[str, Any]:
    """Bring in what `source` holds, a pipe too; return what became of it. Raises ImportFailed."""
    make_private(places.data)
    try:
        with closing(NoteStore(places.memory_file, Clock())) as store:
            if source.is_dir() or (source.suffix == _OLD and not _is_export(source)):
                return _old_notes(source, store, places.data / ASIDE, on_progress)
            is_local = settings.platform.kind == "local"
            return Lines(places, store, on_progress, is_local=is_local).take_in(source)
    except UnreadableTombstones as error:
        raise ImportFailed(f"Nothing is brought in: {error}.") from error
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
        "not_kept": sum(each.copy is None for each in found.named),
    }


def _is_export(source: Path) -> bool:
    """Tell whether a file is an export of ours, whatever people named it. Raises OSError."""
    with source.open("rb") as file:
        return f'"{HEADER}"'.encode() in file.readline(MAX_HEADER_BYTES)
