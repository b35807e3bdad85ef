"""Makes a round of retention over a copy of a home for each of its steps, each killed, with SIGKILL and nothing else,
just before that step; the last one, whose step never came, is not killed.

    python retiring_killed_at.py DATA COPIES

A step is a file removed or the commit of a transaction. The copies are COPIES/1/m, COPIES/2/m, …
"""

import os
import shutil
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

kill_at = 0
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


def make_round(root: Path) -> None:
    global seen  # noqa: PLW0603  (the count of one process)
    environ = {"HOME": str(root), "USER": "ada", "MEMSYNCD_HOME": str(root / "m")}
    places = resolve(environ, root, os.getuid(), sys.platform)
    sqlite3.connect = connect  # type: ignore[assignment]
    parts = compose(places, load(places, environ, {}).settings, environ)
    Upkeep(parts).refresh()
    seen = 0
    sys.addaudithook(lambda event, _: step() if event == "os.remove" else None)
    retention = Retention(parts)
    retention.begin()
    while retention.is_under_way:
        retention.look()
    parts.close()


if __name__ == "__main__":
    plain_connect = sqlite3.connect
    status = signal.SIGKILL
    while status == signal.SIGKILL:
        kill_at += 1
        root = Path(sys.argv[2], str(kill_at))
        shutil.copytree(sys.argv[1], root / "m")
        child = os.fork()
        if not child:
            make_round(root)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) * -1
    sys.exit(status)
