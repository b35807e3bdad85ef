"""Makes one round of retention over a home, and is killed, with SIGKILL and nothing else, just before its N-th step.

    python retiring_killed_at.py N

A step is a file removed or the commit of a transaction. Without a kill, the number of steps is printed.
"""

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from daemon.compose import compose
from daemon.places import resolve
from daemon.retention import Retention
from daemon.settings import load
from daemon.upkeep import Upkeep

kill_at = int(sys.argv[1])
seen = 0


def step() -> None:
    global seen  # noqa: PLW0603  (the count of one process)
    seen += 1
    if seen == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)


def connect(*arguments: Any, **named: Any) -> sqlite3.Connection:
    connection = plain_connect(*arguments, **named)
    connection.set_trace_callback(lambda statement: step() if statement == "COMMIT" else None)
    return connection


if __name__ == "__main__":
    places = resolve(os.environ, Path(os.environ["HOME"]), os.getuid(), sys.platform)
    plain_connect, sqlite3.connect = sqlite3.connect, connect
    parts = compose(places, load(places, os.environ, {}).settings, os.environ)
    Upkeep(parts).refresh()
    seen = 0
    sys.addaudithook(lambda event, _: step() if event == "os.remove" else None)
    retention = Retention(parts)
    retention.begin()
    while retention.is_under_way:
        retention.look()
    sys.stdout.write(str(seen))
    parts.close()
