"""Small files of their owner alone, each written as a whole: no reader acts on half of one (facts 16.3).

`publish` and `swap` agree between processes without a lock file: a file is changed only by who holds `flock` on the
very inode that has the name, and each holder looks again before it writes.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 64 * 1024

_PAUSE_SECONDS = 0.01
"""Between two looks at a lock; it is held for one small write and its sync."""

_NO_LINKS = frozenset({errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""How file systems say that they have no hard links (link(2))."""


def read(path: Path) -> bytes | None:
    """Return the content, or None where there is no file. Never waits.

    Raises OSError for what cannot be read, of which PermissionError for what is no regular file of this user.
    """
    try:
        with _opened(path) as file:
            return os.read(file, MAX_BYTES)
    except FileNotFoundError:
        return None


def publish(path: Path, content: bytes) -> bool:
    """Make the file with `content` unless it is there; tell whether this call did. Raises OSError.

    By hard link, so that it appears whole; where links fail, created exclusively (facts 12.7), so that a crash can
    leave it empty: whoever finds it so puts its own content in by `swap`.
    """
    with _written(path, content) as temporary:
        try:
            os.link(temporary, path, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _create_and_fill(path, content)
    _sync_directory(path)
    return True


def swap(path: Path, expected: bytes, content: bytes, *, patience: float = 0.0) -> bool:
    """Put `content` in the place of `expected`; False where the file holds something else by now, or another process
    is still changing it after `patience` seconds. Raises OSError; the old content then stays."""
    try:
        with _opened(path) as file:
            if not _is_mine_to_change(file, path, patience) or os.read(file, MAX_BYTES) != expected:
                return False
            with _written(path, content) as temporary:
                os.rename(temporary, path)
    except FileNotFoundError:
        return False
    _sync_directory(path)
    return True


def remove(path: Path, expected: bytes, *, patience: float = 0.0) -> bool:
    """Remove the file if it holds `expected`; False as in `swap`. Raises OSError."""
    try:
        with _opened(path) as file:
            if not _is_mine_to_change(file, path, patience) or os.read(file, MAX_BYTES) != expected:
                return False
            os.unlink(path)
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "no file of ours", str(path))
        if found.st_mode & 0o077:
            os.fchmod(file, 0o600)
        yield file
    finally:
        os.close(file)


def _is_mine_to_change(file: int, path: Path, patience: float) -> bool:
    """Lock the open file, and tell whether it still has the name."""
    for attempt in range(1 + round(patience / _PAUSE_SECONDS)):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    return False


@contextlib.contextmanager
def _written(path: Path, content: bytes) -> Iterator[str]:
    """Write a file beside `path`, synced, and remove it afterwards where it still has its name."""
    temporary = f"{path}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        file = _create(temporary)
        try:
            _fill(file, content)
        finally:
            os.close(file)
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _create_and_fill(path: Path, content: bytes) -> bool:
    try:
        file = _create(path)
    except FileExistsError:
        return False
    try:
        if not _is_mine_to_change(file, path, 0.0):
            return False  # another process took the empty file for a crash's, and filled it
        _fill(file, content)
    finally:
        os.close(file)
    return True


def _create(path: str | Path) -> int:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(file, 0o600)  # a umask may take even the owner's bits
    return file


def _fill(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
    os.fsync(file)


def _sync_directory(path: Path) -> None:
    with contextlib.suppress(OSError):  # only the durability of a small state
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
