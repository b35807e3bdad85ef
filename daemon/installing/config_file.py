"""One file of another program's: read with care for whose it is, and replaced in one step, or not at all.

A link is followed and stays a link: the file behind it is replaced. Mode and owner are kept; a new file is private in
a home and ordinary in a project, where others may be meant to read it.
"""

import contextlib
import fcntl
import grp
import os
import pwd
import secrets
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from daemon import abandoned_writes
from daemon.installing import made_directory
from daemon.installing.errors import NotParsable, Unreachable, Unsafe, Unwritten

MAX_BYTES = 32 * 1024 * 1024
"""The largest such files, with a client's histories in them, are a few MB."""

BACKUP = ".before-memsyncd"
"""Behind a file's name: the file as it was before the first entry of ours. No harness reads a file named so."""

LOCK_SECONDS = 10.0
LOOK_SECONDS = 0.02
"""How long a change by another process is waited for, which takes milliseconds, and how often it is looked for."""

_PRIVATE = (0o700, 0o600)
_ORDINARY = (0o755, 0o644)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read. `path` is as the harness names it, `real` behind its links; `content` is None where there
    is none. `mode` is for the file that replaces it, `directory_mode` for directories that are missing."""

    path: Path
    real: Path
    content: bytes | None
    mode: int
    directory_mode: int

    @property
    def text(self) -> str:
        """The content, "" where there is none. Raises NotParsable where it is not UTF-8."""
        content = self.content or b""
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            before = content[: error.start]
            line = before.count(b"\n") + 1
            column = error.start - (before.rfind(b"\n") + 1) + 1
            raise NotParsable("not UTF-8", line, column) from error


def read(path: Path, uid: int, *, is_private: bool) -> ConfigFile:
    """Return the file at `path`. Raises Unsafe where another user has a hand in it, Unreachable where it cannot be
    read."""
    with _reached(path, "be read"):
        real = Path(os.path.realpath(path, strict=False))
        directory_mode, mode = _PRIVATE if is_private else _ORDINARY
        for place in (path, real):
            _check_directory(place.parent, uid)
        if path.is_symlink() and path.lstat().st_uid not in (uid, 0):
            raise Unsafe(f"{path} is a link that user {path.lstat().st_uid} made")
        try:
            descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return ConfigFile(path, real, None, mode, directory_mode)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise Unsafe(f"{real} is no ordinary file")
            if found.st_uid != uid:
                raise Unsafe(f"{real} belongs to user {found.st_uid}, not to {uid}: run this as its owner")
            if found.st_size > MAX_BYTES:
                raise Unsafe(f"{real} is over {MAX_BYTES >> 20} MB, which no configuration is")
            with open(descriptor, "rb", closefd=False) as file:
                return ConfigFile(path, real, file.read(), stat.S_IMODE(found.st_mode), directory_mode)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def alone(path: Path, uid: int, *, is_private: bool) -> Iterator[ConfigFile]:
    """Give the file at `path` as it is while no other process of ours changes one in its directory, which is made.

    Raises as `read` does, and Unwritten where another process takes over LOCK_SECONDS. What is no program of ours
    knows no such lock: `write` looks for its changes.
    """
    found = read(path, uid, is_private=is_private)
    until = time.monotonic() + LOCK_SECONDS
    with contextlib.ExitStack() as stack, _reached(path, "be changed"):
        while True:
            try:
                made_directory.make(found.real.parent, found.directory_mode)
                directory = os.open(found.real.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                stack.callback(os.close, directory)
                _lock(directory, path, until)
                if os.path.samestat(os.fstat(directory), found.real.parent.stat()):
                    break
            except FileNotFoundError:  # another process took its own out, and the directory with it
                if time.monotonic() > until:
                    raise
        held = stack.pop_all()
    with held:
        yield read(path, uid, is_private=is_private)


def _lock(directory: int, path: Path, until: float) -> None:
    while True:
        try:
            return fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Unwritten(f"another process is changing {path}: try again") from None
            time.sleep(LOOK_SECONDS)
        except OSError:  # some network file systems lock no directory
            return None


def content_of(path: Path) -> bytes | None:
    """Return what a file holds, None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def write(file: ConfigFile, content: bytes, *, look: Callable[[Path], bytes | None] = content_of) -> None:
    """Put `content` in the file's place, `look` at it, and put the old content back where it reads otherwise.

    Raises Unwritten, also where the file changed since it was read, and Unreachable; the file is then as it was.
    """
    with _reached(file.path, "be changed"):
        made_directory.make(file.real.parent, file.directory_mode)
        _replace(file.real, content, file.mode, expected=file.content)
        if look(file.real) == content:
            return
        if file.content is None:
            file.real.unlink(missing_ok=True)
        else:
            _replace(file.real, file.content, file.mode)
        raise Unwritten(f"{file.real} did not read as it was written, and was put back")


def delete(file: ConfigFile) -> None:
    """Remove the file; a link that leads to it was there before it and stays. Raises Unwritten where it has changed,
    and Unreachable."""
    with _reached(file.path, "be removed"):
        _check_unchanged(file.real, file.content)
        file.real.unlink()
        _sync_directory(file.real.parent)


def backup_path(file: ConfigFile) -> Path:
    """Return where the file's backup is: beside it, under the name the harness knows."""
    return file.path.with_name(file.path.name + BACKUP)


def back_up(file: ConfigFile) -> Path:
    """Keep the file's content beside it, readable by nobody who could not read the file. Raises Unreachable."""
    path = backup_path(file)
    with _reached(file.path, "be kept beside itself"):
        _replace(path, file.content or b"", file.mode)
    return path


def backed_up(file: ConfigFile, uid: int) -> str | None:
    """Return the backup's text, None where there is none to be trusted."""
    try:
        return read(backup_path(file), uid, is_private=True).text if backup_path(file).exists() else None
    except (NotParsable, Unsafe, Unreachable):
        return None


def drop_backup(file: ConfigFile) -> None:
    """Remove the backup, where the file is again, or still, what it holds."""
    with contextlib.suppress(OSError):
        backup_path(file).unlink()


@contextlib.contextmanager
def _reached(path: Path, done: str) -> Iterator[None]:
    """Say of which file, and what could not `done`, whatever name the system has for what is in the way."""
    try:
        yield
    except OSError as error:
        raise Unreachable(f"{path} cannot {done}: {error.strerror or error}. It was left as it is.") from error


def _check_directory(directory: Path, uid: int) -> None:
    """Raise Unsafe where another user could put a file of his own in a file's place."""
    while (found := _looked_at(directory)) is None:
        directory = directory.parent
    if found.st_uid not in (uid, 0):
        raise Unsafe(f"{directory} belongs to user {found.st_uid}: what hooks run must be your own choice")
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid, uid)):
        raise Unsafe(f"{directory} can be written by other users: `chmod go-w {shlex.quote(str(directory))}` first")


def _looked_at(directory: Path) -> os.stat_result | None:
    try:
        return directory.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_own_group(gid: int, uid: int) -> bool:
    """Tell whether a group is a user's private one, as many systems make them, and their umask lets it write."""
    try:
        user, group = pwd.getpwuid(uid), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _replace(path: Path, content: bytes, mode: int, *, expected: object = ...) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode & 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            abandoned_writes.sweep_beside(path, os.fstat(descriptor).st_mtime)
        if expected is not ...:
            _check_unchanged(path, expected)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(path.parent)


def _check_unchanged(path: Path, expected: object) -> None:
    if content_of(path) != expected:
        raise Unwritten(f"{path} was changed by another program just now: try again")


def _sync_directory(directory: Path) -> None:
    """Make a rename last. The file is in its place by now, and some file systems cannot do this to a directory."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
