"""The doors of the standard library through which steps go, watched: `os`, `open`, sockets.

Nothing of the product knows of it. Python's audit events tell of what goes through a door that is not watched.
"""

import builtins
import io
import os
import posix
import socket
import sys
from collections.abc import Callable
from typing import Any

from tests.end_to_end.killing.sqlite_door import watch_sqlite
from tests.end_to_end.killing.step import BEFORE, request_line
from tests.end_to_end.killing.watch import Watch

MOVES = {"rename": "rename", "replace": "rename", "link": "link"}
CHANGES = {
    "unlink": "unlink",
    "remove": "unlink",
    "mkdir": "make directory",
    "rmdir": "remove directory",
    "mkfifo": "make pipe",
    "utime": "set times of",
    "chmod": "set mode of",
    "fchmod": "set mode of",
    "truncate": "truncate",
    "ftruncate": "truncate",
    "fsync": "sync",
    "fdatasync": "sync",
    "write": "write",
    "pwrite": "write",
    "writev": "write",
}
"""Functions of `os`, and what a step through them is called."""

AUDITED = {
    "os.rename": "rename",
    "os.remove": "unlink",
    "os.utime": "set times of",
    "os.mkdir": "make directory",
    "os.rmdir": "remove directory",
    "os.link": "link",
    "os.symlink": "link",
    "os.truncate": "truncate",
    "os.chmod": "set mode of",
    "os.chown": "set owner of",
}
"""Audit events of changes on disk: seen alone, they came by another door."""

TO_WRITE = os.O_CREAT | os.O_TRUNC


def install(watch: Watch) -> None:
    """Watch this process from now on."""
    for door in (os, posix):  # a hook imports the latter alone
        for name, verb in MOVES.items():
            setattr(door, name, _moving(watch, getattr(posix, name), verb))
        for name, verb in CHANGES.items():
            setattr(door, name, _changing(watch, getattr(posix, name), verb))
        door.open = _opening(watch, posix.open, lambda flags: bool(flags & TO_WRITE))
    builtins.open = io.open = _opening(watch, builtins.open, lambda mode: bool(set(mode) & set("wax")))
    socket.socket = _watched_socket(watch)  # type: ignore[misc]
    watch_sqlite(watch)
    sys.addaudithook(_auditor(watch))


def _moving(watch: Watch, real: Callable[..., Any], verb: str) -> Callable[..., Any]:
    def move(source: Any, target: Any, **named: Any) -> Any:
        dir_fds = named.get("src_dir_fd"), named.get("dst_dir_fd")
        return watch.step(watch.move_step(verb, source, target, dir_fds), lambda: real(source, target, **named))

    return move


def _changing(watch: Watch, real: Callable[..., Any], verb: str) -> Callable[..., Any]:
    def change(path: Any, *arguments: Any, **named: Any) -> Any:
        name = watch.file_step(verb, path, named.get("dir_fd"))
        return watch.step(name, lambda: real(path, *arguments, **named))

    return change


def _opening(watch: Watch, real: Callable[..., Any], is_to_write: Callable[[Any], bool]) -> Callable[..., Any]:
    def open_(path: Any, mode: Any = "r", *arguments: Any, **named: Any) -> Any:
        is_step = not isinstance(path, int) and is_to_write(mode)
        name = watch.file_step("open", path, named.get("dir_fd")) if is_step else None
        return watch.step(name, lambda: real(path, mode, *arguments, **named))

    return open_


def _watched_socket(watch: Watch) -> type[socket.socket]:
    class Watched(socket.socket):
        """A socket whose talk with a service is watched; `asked` is the request it sent last."""

        asked = ""

        def _step(self, act: str, port: int | None = None) -> str | None:
            if self.family not in (socket.AF_INET, socket.AF_INET6) or self.type != socket.SOCK_STREAM:
                return None  # the socket of the status, or one that only asks the kernel for a way
            return f"{watch.services.get(port or self.getpeername()[1], 'somebody')}: {act}"

        def connect(self, address: Any) -> None:
            port = address[1] if self.family != socket.AF_UNIX else None
            watch.step(self._step("connect", port), lambda: plain.connect(self, address))

        def send(self, data: Any, *flags: int) -> int:
            line = request_line(bytes(memoryview(data)[:2000]))
            self.asked = line or self.asked
            act = f"send {line}" if line else f"send the body of {self.asked}"
            sent: int = watch.step(self._step(act), lambda: plain.send(self, data, *flags))
            return sent

        def recv(self, *arguments: int) -> bytes:
            got: bytes = watch.step(
                self._step(f"read the answer to {self.asked}"), lambda: plain.recv(self, *arguments)
            )
            return got

    plain = socket.socket
    return Watched


def _auditor(watch: Watch) -> Callable[[str, tuple[Any, ...]], None]:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if watch.is_inside:
            return
        name = None
        if event in AUDITED:
            name = watch.file_step(AUDITED[event], arguments[0])
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & TO_WRITE:
            name = None if isinstance(arguments[0], int) else watch.file_step("open", arguments[0])
        elif event == "socket.bind" and isinstance(arguments[1], str | bytes):
            name = watch.file_step("bind", arguments[1])
        if name is not None:
            watch.reached(name, BEFORE)

    return audit
