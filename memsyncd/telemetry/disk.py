"""The few things that are done to telemetry files, each one call of the system: the door for the tests' own disk.

Every method raises OSError as the system does.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass

_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link is followed, no FIFO waited for
_PIECE = 1 << 16
"""Bytes read at once: room for all that a file may hold would be asked of the system for each small one."""

_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


@dataclass(frozen=True, slots=True)
class FileState:
    """What the system knows of a file: which one it is, its bytes, and its mtime in Unix seconds."""

    identity: tuple[int, int]
    size: int
    touched_at: float
    is_regular: bool


class Disk:
    """The real one."""

    def names(self, directory: str) -> Sequence[str]:
        """Return the names in a directory."""
        return os.listdir(directory)

    def state(self, path: str) -> FileState:
        """Return a file's state; of a link, the link's own."""
        return _state(os.lstat(path))

    def state_of(self, descriptor: int) -> FileState:
        """Return the state of an open file, whatever its name is now."""
        return _state(os.fstat(descriptor))

    def open(self, path: str) -> int:
        """Open a file to read and lock it."""
        return os.open(path, os.O_RDWR | _OPEN)

    def create(self, path: str) -> int:
        """Make a file that must not be there yet."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)

    def open_end(self, path: str) -> int:
        """Open a file, or make it, to write at its end."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _OPEN, 0o600)

    def close(self, descriptor: int) -> None:
        """Close a file, which gives its lock back."""
        os.close(descriptor)

    def lock(self, descriptor: int) -> bool:
        """Take a file for this open file alone; False while another one has it, or a recorder writes."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as failure:
            if failure.errno in _HELD:
                return False
            raise
        return True

    def pause(self) -> None:
        """Wait a hundredth of a second, which is longer than a recorder takes to write its line."""
        time.sleep(0.01)

    def read(self, descriptor: int, size: int) -> bytes:
        """Return the first `size` bytes, or what there is."""
        parts: list[bytes] = []
        have = 0
        while have < size and (part := os.pread(descriptor, min(size - have, _PIECE), have)):
            parts.append(part)
            have += len(part)
        return b"".join(parts)

    def write(self, descriptor: int, content: bytes) -> None:
        """Write all of it."""
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]

    def sync(self, descriptor: int) -> None:
        """Have the content on the disk."""
        os.fsync(descriptor)

    def sync_directory(self, directory: str) -> None:
        """Have the names on the disk."""
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def touch(self, path: str, seconds: float) -> None:
        """Set a file's mtime by its name."""
        os.utime(path, (seconds, seconds), follow_symlinks=False)

    def touch_open(self, descriptor: int, seconds: float) -> None:
        """Set an open file's mtime, whatever its name is now."""
        os.utime(descriptor, (seconds, seconds))

    def rename(self, old: str, new: str) -> None:
        """Rename, over whatever has the new name."""
        os.rename(old, new)

    def unlink(self, path: str) -> None:
        """Remove."""
        os.unlink(path)


def _state(found: os.stat_result) -> FileState:
    return FileState((found.st_dev, found.st_ino), found.st_size, found.st_mtime, stat.S_ISREG(found.st_mode))
