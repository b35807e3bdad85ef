"""Small files of their owner alone, published or replaced as a whole: no reader sees half of one (facts 16.3)."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

MAX_BYTES = 64 * 1024

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})
"""How file systems say that they have no hard links."""


def read(path: Path) -> bytes | None:
    """Return the content, or None where there is no file.

    Raises OSError for what cannot be read, PermissionError for what is no regular file of this user; never waits.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        file = os.open(path, flags)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "no file of ours", str(path))
        if found.st_mode & 0o077:
            os.fchmod(file, 0o600)
        return os.read(file, MAX_BYTES)
    finally:
        os.close(file)


def publish(path: Path, content: bytes) -> bool:
    """Make the file with `content` unless it is there; tell whether this call made it. Raises OSError.

    By hard link, so that it appears whole; where links fail, created exclusively (facts 12.7): a reader may then
    find it unfinished for a moment.
    """
    temporary = _written(path, content)
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _create(path, content)
    finally:
        os.unlink(temporary)
    _sync_directory(path)
    return True


def replace(path: Path, content: bytes) -> None:
    """Put `content` in the place of whatever is there, as a whole. Raises OSError; the old content then stays."""
    temporary = _written(path, content)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_directory(path)


def _written(path: Path, content: bytes) -> str:
    temporary = f"{path}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    _create(Path(temporary), content)
    return temporary


def _create(path: Path, content: bytes) -> bool:
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    try:
        os.fchmod(file, 0o600)  # a umask may take even the owner's bits
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(file)
    return True


def _sync_directory(path: Path) -> None:
    with contextlib.suppress(OSError):  # durability of a small state, not worth a failure
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
