"""How many bytes of the disk are in use, by what they are for (never-again 115)."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from daemon.intake.spool import Spool
from daemon.places import Places
from memsyncd.damaged_file import COMPANIONS, MARK


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
        "dead": sum(_dead(spool) for spool in spools) + _copies(places.queue_file),
    }


def _database(path: Path) -> int:
    return _total(f"{path}{suffix}" for suffix in ("", *COMPANIONS))


def _dead(spool: Spool) -> int:
    return _total(_named(spool.dead, "")) + _total(_named(spool.corrupt, "")) + _copies(spool.evidence)


def _copies(store: Path) -> int:
    return _total(_named(store.parent, f"{store.name}{MARK}"))


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
