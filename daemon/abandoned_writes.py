"""Temporary files whose writer died between making one and giving it its name: nobody else would ever remove them."""

import contextlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from daemon.intake.set_aside import WRITING

ABANDONED_WRITE_SECONDS = 24 * 3600.0
"""A `.tmp` older than this has no writer any more (CONTRACT "A spool")."""

_OURS = re.compile(r".+\.\d+([.-][0-9a-f]+)?" + re.escape(WRITING))
"""How ours are named: after the file, the process, and a thread or chance."""


def sweep(directory: Path, age: Callable[[float], float], *, is_shared: bool = True) -> int:
    """Delete them in a directory, which need not be there; return how many. `age` tells for how many seconds a file has
    been there by its mtime. In one that is not `is_shared` with people every `.tmp` is such a file, whatever its name.

    One that cannot be deleted is left, and so is what is no regular file.
    """
    swept = 0
    with contextlib.suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if not entry.name.endswith(WRITING) or (is_shared and not _OURS.fullmatch(entry.name)):
                continue
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and age(status.st_mtime) > ABANDONED_WRITE_SECONDS:
                    os.unlink(entry.path)
                    swept += 1
    return swept


def sweep_beside(path: Path, now: float) -> None:
    """Delete what writers of a file elsewhere left beside it, `.name.<8 hex digits>.tmp`: the next one calls this, for
    nobody else looks there. `now` is the time of that file system, Unix seconds."""
    left = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{8}" + re.escape(WRITING))
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if (
                left.fullmatch(entry.name)
                and now - entry.stat(follow_symlinks=False).st_mtime > ABANDONED_WRITE_SECONDS
            ):
                os.unlink(entry.path)
