"""This data directory's own name among those that share a queue: made once, the same after every restart."""

import os
import secrets
import socket
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from memsyncd import regular_file

NAME = "fleet-name"
_BYTES = 8
_DIGITS = 2 * _BYTES


def own_name(data: Path) -> str:
    """Return the name; it is written down with the first call. A copy of a data directory has to be given another: two
    that share one would take each other's claims for their own.

    Raises ConfigurationError where the file holds something else, OSError where it cannot be written.
    """
    path = data / NAME
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        name = secrets.token_hex(_BYTES)
        file.write(name)
        file.flush()
        os.fsync(file.fileno())
    return name


def host() -> str:
    """Return what this machine calls itself, for people."""
    return socket.gethostname()


def _read(path: Path) -> str:
    found = regular_file.content(path, _DIGITS + 2, follow=False).decode("ascii", "replace").strip()
    if len(found) != _DIGITS or set(found) - set("0123456789abcdef"):
        raise ConfigurationError(f"{path} is damaged: remove it, and this machine gets a new name in the shared queue.")
    return found
