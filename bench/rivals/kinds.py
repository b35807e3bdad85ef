"""The rivals by their names."""

from pathlib import Path

from bench.rivals.memsyncd_queue import MemsyncdQueue
from bench.rivals.rival import Rival

OURS, HUEY, PERSIST, PROCRASTINATE = "memsyncd", "huey", "persist-queue", "procrastinate"

URL_FILE = "url"
"""Holds the database's URL, for a rival that lives in one."""


def opened(kind: str, place: Path, *, is_new: bool = True) -> Rival:
    """Return a rival whose items are kept at `place`. Raises ModuleNotFoundError where it is not installed."""
    if kind == HUEY:
        from bench.rivals.plain_huey import PlainHuey

        return PlainHuey(place)
    if kind == PERSIST:
        from bench.rivals.persist_queue import PersistQueue

        return PersistQueue(place)
    if kind == PROCRASTINATE:
        from bench.rivals.procrastinate_queue import ProcrastinateQueue

        return ProcrastinateQueue((place / URL_FILE).read_text(), is_new=is_new)
    return MemsyncdQueue(place)
