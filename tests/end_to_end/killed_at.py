"""Runs the daemon and kills it, with SIGKILL and nothing else, just before its N-th step that touches the disk.

    python killed_at.py N COUNT_FILE run …

A step is a rename, an unlink, a change of a file's time, a new directory, or the commit of a transaction. Nothing of
the daemon knows of it: the steps are seen through Python's audit hooks and SQLite's own trace. Without a kill, the number of
steps seen is written to COUNT_FILE at the end.
"""

import atexit
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

STEPS = frozenset({"os.rename", "os.remove", "os.utime", "os.mkdir"})

kill_at = int(sys.argv[1])
count_file = Path(sys.argv[2])
seen = 0
lock = threading.Lock()


def step() -> None:
    global seen  # noqa: PLW0603  (the count of one process)
    with lock:
        seen += 1
        if seen == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def traced(statement: str) -> None:
    if statement.upper().startswith(("COMMIT", "RELEASE")):
        step()


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in STEPS:
        step()


def connect(*arguments: Any, **named: Any) -> sqlite3.Connection:
    connection = plain_connect(*arguments, **named)
    connection.set_trace_callback(traced)
    return connection


if __name__ == "__main__":
    atexit.register(lambda: count_file.write_text(str(seen)))
    sys.addaudithook(audit)
    plain_connect, sqlite3.connect = sqlite3.connect, connect
    from daemon.__main__ import main

    sys.exit(main(sys.argv[3:]))
