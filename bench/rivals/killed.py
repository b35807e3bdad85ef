"""A process that works through a rival's items until it is killed, writing each down: what a kill costs.

    python -m bench.rivals.killed RIVAL PLACE RESULTS

A line of RESULTS is written when an item is done; at the end of all it says "idle" and ends.
"""

import os
import sys
import threading
from pathlib import Path

from bench.rivals import kinds

WORKERS = 4
IDLE_SECONDS = 3.0
"""So long without an item and it is over: what comes back later was not brought back by the restart."""


def main() -> None:
    """Work."""
    kind, place, results = sys.argv[1:]
    descriptor = os.open(results, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    moved = threading.Event()

    def act(number: int) -> None:
        os.write(descriptor, f"{number}\n".encode())
        moved.set()

    rival = kinds.opened(kind, Path(place), is_new=False)
    with rival.work(WORKERS, act):
        while moved.wait(IDLE_SECONDS):
            moved.clear()
    rival.close()


if __name__ == "__main__":
    main()
