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
    if os.path.lexists(path):
        return _read(path)
    name = secrets.token_hex(_BYTES)
    temporary = path.with_name(f".{NAME}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="ascii") as file:
        file.write(name)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)  # whole or not at all: half a name would keep the daemon from every later start
    return name


def host() -> str:
    """Return what this machine calls itself, for people."""
    return socket.gethostname()


def _read(path: Path) -> str:
    found = regular_file.content(path, _DIGITS + 2, follow=False).decode("ascii", "replace").strip()
    if len(found) != _DIGITS or set(found) - set("0123456789abcdef"):
        raise ConfigurationError(f"{path} is damaged: remove it, and this machine gets a new name in the shared queue.")
    return found
