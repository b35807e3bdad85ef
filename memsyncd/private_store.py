"""A database that is its owner's alone from the moment it exists, with the files SQLite makes beside it."""

import contextlib
import os
from pathlib import Path

from memsyncd.damaged_file import COMPANIONS
from memsyncd.owner_only import PRIVATE, open_to_owner


def make_private(path: Path) -> None:
    """Make the file if there is none, and what is there its owner's to read and write, whatever a restore has left.

    SQLite gives its companions the file's mode when it makes them. What a link leads to keeps its mode. Raises OSError.
    """
    with contextlib.suppress(FileExistsError):  # only a new one: closing a file in use lets go of this process's locks
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))
    for name in (path, *(Path(f"{path}{suffix}") for suffix in COMPANIONS)):
        open_to_owner(name)
