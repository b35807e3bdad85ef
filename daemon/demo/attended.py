"""The demo's daemon, `python -m daemon.demo.attended HOME`: it ends with the demo, however that ends.

What tells it is its standard input, of which the demo alone holds the other end: that works wherever there are pipes,
and for a demo that is killed too. It then takes HOME, where one is given, with it.
"""

import os
import shutil
import signal
import sys
import threading
from typing import NoReturn

from daemon.__main__ import main as command_line


def main(home: str) -> int:
    """Run the daemon; return its exit code."""
    is_alone = threading.Event()

    def wait() -> None:
        while os.read(0, 1):
            pass
        is_alone.set()
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, _end)  # until the daemon has its own way to end
    threading.Thread(target=wait, name="attend", daemon=True).start()
    try:
        return command_line(["run"])
    finally:
        if home and is_alone.is_set():
            shutil.rmtree(home, ignore_errors=True)


def _end(_number: int, _frame: object) -> NoReturn:
    sys.exit()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
