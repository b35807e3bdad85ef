"""A process that runs commands in forks of itself, each watched and killed where it is told to be.

    python -m tests.end_to_end.killing.forked

It reads a line of JSON for each command and answers with a line when that has ended. All modules are loaded once:
starting Python costs more than a delivery does.
"""

import faulthandler
import importlib
import json
import os
import sys
import traceback
from typing import Any

from tests.end_to_end.killing import doors
from tests.end_to_end.killing.step import Point
from tests.end_to_end.killing.watch import Watch

LONGEST_SECONDS = 60
"""A command that takes longer tells where its threads are, and ends."""

LOADED = ("daemon.__main__", "daemon.cli.program", "daemon.cli.run", "daemon.logs", "daemon.start", "daemon.compose")


def act(asked: dict[str, Any]) -> int:
    """Run one command in this process, which is a fork; return its exit code."""
    out = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor in (1, 2):
        os.dup2(out, descriptor)
    os.dup2(os.open(asked["stdin"], os.O_RDONLY), 0)
    faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True)
    os.environ.clear()
    os.environ.update(asked["environ"])
    sys.argv = ["memsyncd", *asked["arguments"]]
    module, _, function = asked["program"].partition(":")
    program = getattr(importlib.import_module(module), function)
    services = {int(port): name for port, name in asked["services"].items()}
    watch = Watch(asked["root"], services, Point(*asked["at"]) if asked["at"] else None)
    doors.install(watch)
    code = int(program(list(asked["arguments"])))
    sys.stdout.flush()
    sys.stderr.flush()
    faulthandler.cancel_dump_traceback_later()
    points = [(point.name, point.phase, point.turn) for point in watch.seen]
    with open(asked["points"], "w", encoding="utf-8") as file:
        json.dump(points, file)
    return code


def main() -> None:
    """Serve until there is no more to read."""
    for name in LOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            code = 70
            try:
                code = act(asked)
            except BaseException:  # noqa: BLE001  (whatever it is, the test shows it)
                traceback.print_exc()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
