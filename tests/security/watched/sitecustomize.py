"""Loaded by every Python that is started with this directory in its PYTHONPATH: writes down what it makes, with the mode
that each file, directory and socket has before anything else is done, and so before any later `chmod`.

One JSON list a line: the path and its mode. What is about to be made is told by an audit event; at the next event, of
whatever kind, it has just been made.
"""

import atexit
import json
import os
import stat
import sys
from typing import Any

_DATABASE_FOR_READING = ("mode=ro", "immutable=1")


def _about_to_make(event: str, args: tuple[Any, ...]) -> str | bytes | None:
    if event == "open" and isinstance(args[0], str | bytes) and isinstance(args[2], int):
        return args[0] if args[2] & os.O_CREAT else None
    if event == "os.mkdir":
        return str(args[0])
    if event == "sqlite3.connect" and not any(word in str(args[0]) for word in _DATABASE_FOR_READING):
        return str(args[0]).removeprefix("file://").partition("?")[0]
    if event == "socket.bind" and isinstance(args[1], str | bytes):
        return args[1]
    return None


def _watch(log: int) -> None:
    made: dict[str, None] = {}
    is_inside = False

    def settle() -> None:
        for path in [*made]:
            del made[path]
            try:
                os.write(log, json.dumps([path, stat.S_IMODE(os.lstat(path).st_mode)]).encode() + b"\n")
            except OSError:
                continue  # it came to nothing, or is gone

    def note(event: str, args: tuple[Any, ...]) -> None:
        nonlocal is_inside
        if is_inside:
            return
        is_inside = True
        try:
            settle()
            path = _about_to_make(event, args)
            if path is not None and not os.path.lexists(path):
                made[os.path.abspath(os.fsdecode(path))] = None
        finally:
            is_inside = False

    sys.addaudithook(note)
    atexit.register(settle)


if "MADE_LOG" in os.environ:
    _watch(os.open(os.environ["MADE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
