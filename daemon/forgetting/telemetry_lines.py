"""The lines of telemetry about a target, told by the salted hashes of its session or repository."""

import contextlib
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from memsyncd.telemetry.salt import NAME, Salt

_OURS = ("telemetry.jsonl", "telemetry-")
_NO_LINES = (NAME, "telemetry-dropped")


def hashes(data: Path, names: Sequence[str]) -> list[bytes]:
    """Return the hashes of ids as telemetry tells them; none where telemetry never was on."""
    if not (data / NAME).exists():
        return []
    salt = Salt(data / NAME)
    return [told.encode("ascii") for name in names if (told := salt.hash(name)) is not None]


def drop(directory: Path, told: Sequence[bytes], *, only_count: bool = False) -> int:
    """Drop the lines that hold one of the hashes from every telemetry file of a directory; return how many went.

    A file that is being sent at this moment is left: it is gone when it is sent.
    """
    dropped = 0
    for path in _files(directory) if told else []:
        with contextlib.suppress(OSError):
            dropped += _dropped(path, told, only_count=only_count)
    return dropped


def _dropped(path: Path, told: Sequence[bytes], *, only_count: bool) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lines = file.read().splitlines(keepends=True)
        left = [line for line in lines if not any(name in line for name in told)]
        if len(left) < len(lines) and not only_count:
            file.seek(0)
            file.writelines(left)
            file.truncate()
            file.flush()
            os.fsync(descriptor)
        return len(lines) - len(left)


def _files(directory: Path) -> list[Path]:
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return [directory / name for name in sorted(names) if name.startswith(_OURS) and name not in _NO_LINES]
