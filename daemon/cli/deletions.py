"""How many memories of a platform are gone so far, while the daemon answers a request to forget at the end only."""

import contextlib
import threading
from collections.abc import Iterator

from daemon.cli import exits, link
from daemon.cli.progress import Tell
from daemon.cli.surroundings import Surroundings
from daemon.cli.wording import counted

COUNTER = "remote_memories_forgotten"
EVERY_SECONDS = 1.0


def told(tell: Tell, number: int) -> None:
    """Say how many; how many there will be nobody knows before the last."""
    tell(number, None, f"{counted(number, 'memory', 'memories')} of the platform deleted" if number else "")


@contextlib.contextmanager
def followed(around: Surroundings, tell: Tell) -> Iterator[None]:
    """Ask the daemon once a second until the end of the context, and tell."""
    over = threading.Event()
    thread = threading.Thread(target=_follow, args=(around, tell, over), name="deletions", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(EVERY_SECONDS)


def _follow(around: Surroundings, tell: Tell, over: threading.Event) -> None:
    first: int | None = None
    while not over.wait(EVERY_SECONDS if first is not None else 0.0):
        with contextlib.suppress(exits.Leave, link.NotFound, link.Refused):
            found = (link.get(around, "/status", seconds=EVERY_SECONDS).get("counters") or {}).get(COUNTER, 0)
            first = found if first is None else first
            told(tell, max(found - first, 0))
            continue
        first = 0 if first is None else first
