"""Files that nobody but their owner reads and writes. Imports next to nothing, for every command loads it."""

import contextlib
import stat
from pathlib import Path

PRIVATE = 0o600


def open_to_owner(path: Path) -> None:
    """Let the owner, and nobody else, read and write a file or FIFO that may be there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)) and stat.S_IMODE(mode) != PRIVATE:
            path.chmod(PRIVATE)
