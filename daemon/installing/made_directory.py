"""Directories that we made for a harness's file: known by a mark, and removed when nothing is left in them.

The mark is an extended attribute (xattr(7)): no program lists it, and a directory that somebody else made has none.
Where there are none, as on macOS, a directory of ours is not known and stays.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from daemon import private_directory

MARK = "user.memsyncd.made"


def make(directory: Path, mode: int) -> None:
    """Make what is missing of a directory, with `mode`, and mark it. Raises OSError where it cannot be made."""
    missing = [each for each in (directory, *directory.parents) if not os.path.lexists(each)]
    private_directory.create(directory, mode)
    if sys.platform == "linux":
        for each in missing:
            with suppress(OSError):
                os.setxattr(each, MARK, b"")


def remove(directory: Path) -> None:
    """Remove the directory, and those above it, as far as they are empty and we made them. Raises nothing."""
    with suppress(OSError):
        while _is_ours(directory):
            directory.rmdir()
            directory = directory.parent


def _is_ours(directory: Path) -> bool:
    return sys.platform == "linux" and MARK in os.listxattr(directory)
