"""Unit and agent files on disk: replaced whole, readable, and nobody's to write but their owner's."""

import contextlib
import os
from pathlib import Path

from daemon import private_directory

MODE, DIRECTORY_MODE = 0o644, 0o755
"""A manager's file holds no secret; launchd refuses one that others can write (launchctl(1))."""


def replace(path: Path, content: bytes) -> bool:
    """Write a file in one step; False where it was so already."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == content and not path.is_symlink():
            return False
    private_directory.create(path.parent, DIRECTORY_MODE)
    new = path.with_name(f".{path.name}.new")
    with open(new, "wb", opener=_opener) as file:
        file.write(content)
        os.fchmod(file.fileno(), MODE)
        os.fsync(file.fileno())
    new.replace(path)
    return True


def remove(path: Path) -> bool:
    """Remove a file; False where there was none."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, MODE)
