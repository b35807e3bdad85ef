"""Acting as a user whom modes keep out, root or not."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65_534


@contextmanager
def open_directory() -> Iterator[Path]:
    """Give a directory that such a user can enter."""
    made = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        made.chmod(0o755)
        yield made
    finally:
        shutil.rmtree(made)


@contextmanager
def unprivileged(*given: Path) -> Iterator[None]:
    """Be the owner of what is `given`, and not root."""
    if os.geteuid() != 0:
        yield
        return
    for path in given:
        os.chown(path, NOBODY, -1)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
