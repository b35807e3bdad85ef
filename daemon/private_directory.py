"""Directories that are their owner's alone from the moment they exist."""

import errno
import os
import stat
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from daemon.unmade_directory import REMEDY, hindrance

PRIVATE = 0o700

_WRITABLE_BY_OTHERS = 0o022
_NEEDS_A_PERSON = frozenset(
    {
        errno.EACCES,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,  # a link into nothing
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)


def make_private(directory: Path, *, uid: int | None = None) -> None:
    """Make `directory`, and what is missing above it, with mode 0700 whatever the umask.

    One that is there already is taken if `uid` (this process's, if none is named) owns it and nobody else can write
    to it, and then closed to 0700. Raises ConfigurationError with what to change otherwise; OSError only for what may
    pass (a full disk).
    """
    uid = os.geteuid() if uid is None else uid
    if why := hindrance(directory, uid):
        raise ConfigurationError(f"{directory} cannot be made: {why}. {REMEDY}")
    try:
        create(directory)
        _check(directory, uid)
    except OSError as error:
        if error.errno in _NEEDS_A_PERSON:
            raise ConfigurationError(f"{directory} cannot be made or entered: {error.strerror}.") from error
        raise


def create(directory: Path, mode: int = PRIVATE) -> None:
    """Make what is missing of `directory` and of what is above it, each with `mode` at most, whatever the umask: of
    several, `mkdir` gives only the last one the mode it is asked for. Raises OSError."""
    missing = []
    step = directory
    while not os.path.lexists(step):
        missing.append(step)
        step = step.parent
    for step in reversed(missing):
        try:
            step.mkdir(mode=mode)
        except FileExistsError:
            continue  # another process was first; _check judges what it made
        if step.stat().st_mode & PRIVATE != PRIVATE:
            step.chmod(PRIVATE)  # a umask that takes even the owner's bits


def _check(directory: Path, uid: int) -> None:
    link = directory.lstat()
    if stat.S_ISLNK(link.st_mode) and link.st_uid not in (uid, 0):
        raise ConfigurationError(f"{directory} is a link that user {link.st_uid} made: remove it.")
    found = directory.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise ConfigurationError(f"{directory} is in the way, for it is no directory: move it elsewhere.")
    if found.st_uid != uid:
        raise ConfigurationError(
            f"{directory} belongs to user {found.st_uid}, not to {uid}: run as its owner, or `chown {uid} {directory}`."
        )
    if found.st_mode & _WRITABLE_BY_OTHERS:
        raise ConfigurationError(f"{directory} can be written by other users: `chmod 700 {directory}`.")
    if stat.S_IMODE(found.st_mode) & 0o777 != PRIVATE:
        directory.chmod(stat.S_IMODE(found.st_mode) & 0o7000 | PRIVATE)
