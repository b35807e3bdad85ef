"""Setting a file aside, whole: under a free name, with its reason beside it (CONTRACT "A spool").

No name that is taken is used again, so that what was kept once stays as it was; every name that belongs to it, its
reason's and that of a reason being written, fits into what a file system allows.
"""

import contextlib
import hashlib
import itertools
import json
import os
from pathlib import Path

from daemon import private_directory

LETTER = ".json"
REASON = ".reason.json"
WRITING = ".tmp"

MAX_NAME = 255
"""Bytes of a file's name on Linux's and macOS's file systems (limits.h: NAME_MAX)."""

_NUMBER = len(".999999")
_MAX_STEM = MAX_NAME - len(REASON) - _NUMBER
_HEAD, _TAIL = 140, 60
"""Bytes kept of each end of a longer stem; between them stands a hash, so that two long names stay two."""

_PRIVATE_FILE = 0o600


def fitting(stem: str) -> str:
    """Return the stem under which a handoff is set aside: its own, unless its reason's name would not fit, or it would
    pass for a reason itself. The same each time, and its own fitting stem."""
    raw = os.fsencode(stem)
    if len(raw) > _MAX_STEM:
        raw = raw[:_HEAD] + b"~" + hashlib.sha256(raw).hexdigest()[:16].encode() + b"~" + raw[-_TAIL:]
    return os.fsdecode(raw) + ("~" if (os.fsdecode(raw) + LETTER).endswith(REASON) else "")


def set_aside(source: str, directory: Path, stem: str, reason: str, detail: str) -> bool:
    """Move `source` into `directory`, its reason there first, so that no file there lacks one; False where the source
    was gone, and then no reason stays either. Raises OSError; the source is then where it was."""
    make_private(directory)
    free = _free(directory, fitting(stem))
    note = directory / (free + REASON)
    _write_private(note, json.dumps({"reason": reason, "detail": detail, "file": stem + LETTER}, ensure_ascii=True))
    try:
        os.rename(source, directory / (free + LETTER))
    except OSError as error:
        with contextlib.suppress(OSError):
            note.unlink()
        if isinstance(error, FileNotFoundError):
            return False
        raise
    return True


def make_private(directory: Path) -> None:
    """Create a directory and its parents where it is missing, readable by nobody else."""
    private_directory.create(directory)


def _free(directory: Path, stem: str) -> str:
    """Return the stem, or the first of `stem.1`, `stem.2`, … that is free. One thread sets aside, so it stays free."""
    numbered = (f"{stem}.{number}" for number in itertools.count(1))
    return next(name for name in itertools.chain((stem,), numbered) if not os.path.lexists(directory / (name + LETTER)))


def _write_private(path: Path, text: str) -> None:
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    temporary = path.with_name(f"{name}.{os.getpid()}{WRITING}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, _PRIVATE_FILE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)
