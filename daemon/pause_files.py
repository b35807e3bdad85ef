"""The files of pauses, each whole or not there."""

import contextlib
import os
import threading
from pathlib import Path

from daemon.pause_state import Pause
from memsyncd import regular_file
from memsyncd.clock import rfc3339


def mark(marker: Path, pause: Pause | None) -> None:
    """Make a marker: empty without an end, else with a line, its mtime being the end."""
    until = None if pause is None else pause.until
    if until is None:
        if not marker.exists() or marker.stat().st_size:
            write_private(marker, b"")
        return
    content = f"until {rfc3339(until)}\n".encode()
    if not marker.exists() or regular_file.content(marker, len(content) + 1) != content:
        write_private(marker, content, touched_at=until)


def write_private(path: Path, content: bytes, touched_at: float | None = None) -> None:
    """Write a file of mode 0600 in one step, durable; `touched_at` becomes its mtime. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            if touched_at is not None:
                os.utime(file.fileno(), (touched_at, touched_at))
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
