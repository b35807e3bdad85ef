"""Which of the files set aside have had their days. Their age counts from when they were set aside, not from when the
handoff was made: that is the time of the reason beside them.
"""

import contextlib
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from daemon.intake.set_aside import LETTER, REASON, WRITING
from memsyncd.damaged_file import COMPANIONS, MARK


def old_letters(directory: Path, before: float) -> Iterator[tuple[Path, ...]]:
    """Yield, as files to delete in this order, each letter set aside before that Unix time with its reason; also a
    reason that has lost its letter. What is no regular file is left. Raises OSError."""
    names = _names(directory)
    for name in names:
        if name.endswith(REASON):
            stem = name[: -len(REASON)]
            is_alone = stem + LETTER not in names
            if is_alone and _changed(directory / name) < before:
                yield (directory / name,)
        elif not name.endswith(WRITING):
            reason = directory / (name.removesuffix(LETTER) + REASON)
            told = reason.name in names
            since = max(_changed(directory / name), _changed(reason) if told else 0.0)
            if since < before:
                yield (directory / name, *((reason,) if told else ()))


def old_copies(store: Path, before: float) -> Iterator[tuple[Path, ...]]:
    """Yield each damaged copy of a database set aside before that time, with its companions. Raises OSError.

    The time it was set aside is in its name (facts 16.5).
    """
    for name in _names(store.parent):
        epoch = name.removeprefix(f"{store.name}{MARK}")
        if epoch != name and epoch.isdecimal() and int(epoch) < before:
            copy = store.with_name(name)
            yield (*(Path(f"{copy}{suffix}") for suffix in COMPANIONS), copy)


def _names(directory: Path) -> Collection[str]:
    try:
        return dict.fromkeys(sorted(os.listdir(directory)))
    except FileNotFoundError:
        return ()


def _changed(path: Path) -> float:
    """Return when a regular file was changed last; for ever young is what is none, or is gone."""
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode):
            return found.st_mtime
    return float("inf")
