"""How many bytes of the disk are in use, by what they are for (never-again 115)."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from daemon.intake.spool import Spool
from daemon.places import Places

_COMPANIONS = ("", "-wal", "-shm")


def sizes(places: Places, spools: Sequence[Spool]) -> Mapping[str, int]:
    """Return the bytes of `evidence`, `queue`, `memory`, `telemetry` and `dead`: what was given up or is damaged.

    Databases count with their logs. What cannot be looked at counts nothing; a spool that cannot be read is a problem
    of its own.
    """
    return {
        "evidence": sum(_database(spool.evidence) for spool in spools),
        "queue": _database(places.queue_file),
        "memory": _database(places.memory_file),
        "telemetry": sum(_total(_named(spool.path, "telemetry")) for spool in spools),
        "dead": sum(_dead(spool) for spool in spools),
    }


def _database(path: Path) -> int:
    return _total(f"{path}{suffix}" for suffix in _COMPANIONS)


def _dead(spool: Spool) -> int:
    copies = _named(spool.path, f"{spool.evidence.name}.corrupt-")
    return _total(_named(spool.dead, "")) + _total(_named(spool.corrupt, "")) + _total(copies)


def _named(directory: Path, prefix: str) -> Sequence[str]:
    try:
        return [f"{directory}{os.sep}{name}" for name in os.listdir(directory) if name.startswith(prefix)]
    except OSError:
        return []


def _total(paths: Iterable[str]) -> int:
    return sum(map(_size, paths))


def _size(path: str) -> int:
    try:
        found = os.lstat(path)
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
