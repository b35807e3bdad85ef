"""The socket's place on disk: private from its first moment, and nobody else's thing ever removed."""

import os
import socket
import stat
import struct
import sys
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from daemon.private_directory import make_private

BACKLOG = 512
"""Connections the kernel keeps waiting while all places are taken; beyond it a connect fails at once with EAGAIN."""

_TEMPORARY = ".status.new"
"""As long as `status.sock`, so that a path within the budget stays within it."""


def listen(path: Path, *, uid: int) -> socket.socket:
    """Return a non-blocking socket that listens at `path`, mode 0600, in place of a dead daemon's.

    The caller holds the daemon's lock: only the lock tells that the other is dead. Raises ConfigurationError where
    the directory cannot be made private, or something that is no socket of `uid` lies at `path`.
    """
    make_private(path.parent, uid=uid)
    check_place(path, uid=uid)
    temporary = path.with_name(_TEMPORARY)
    if temporary.is_socket():
        temporary.unlink()  # of a daemon that died between bind and rename
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if sys.platform == "linux":
            os.fchmod(listener.fileno(), 0o600)  # before bind: the file is then born so, whatever the umask
        listener.bind(str(temporary))
        temporary.chmod(0o600)  # elsewhere; nobody can connect before listen, nor enter the directory
        listener.listen(BACKLOG)
        listener.settimeout(0)
        temporary.rename(path)
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"The socket {path} cannot be made: {error.strerror or error}.") from error
    return listener


def check_place(path: Path, *, uid: int) -> None:
    """Raise ConfigurationError unless `path` is free or holds a socket of `uid`."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigurationError(f"The socket {path} cannot be looked at: {error.strerror}.") from error
    if not stat.S_ISSOCK(found.st_mode):
        raise ConfigurationError(f"{path} is in the way of the socket, for it is none: move it elsewhere.")
    if found.st_uid != uid:
        raise ConfigurationError(f"{path} is a socket of user {found.st_uid}, not of {uid}: remove it.")


def identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of what lies at `path`, or None."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def peer_uid(connected: socket.socket) -> int | None:
    """Return the user at the other end, by the kernel's word; None where it cannot be known."""
    try:
        if sys.platform == "darwin":
            # xucred of <sys/ucred.h>: version, uid; option LOCAL_PEERCRED at level SOL_LOCAL of <sys/un.h>
            _, uid = struct.unpack_from("=II", connected.getsockopt(0, 1, 76))
            return int(uid)
        _, uid, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError:
        return None
    return int(uid)
