"""Noticing that the client is gone though standard input has not ended: somebody else may hold its other side open."""

import os
import select
import threading
from collections.abc import Callable

LOOK_SECONDS = 0.75
"""Between two looks at who the parent is; a reader that goes away is noticed at once."""


def watch(
    outgoing: int,
    *,
    gone: Callable[[str], None],
    parent: Callable[[], int] = os.getppid,
    every: float = LOOK_SECONDS,
) -> threading.Thread:
    """Call `gone` with what happened once the parent process is another, or nobody reads `outgoing`; then end.

    `every` is in seconds. Returns the daemon thread that does so.
    """
    first = parent()

    def look() -> None:
        poller = select.poll()
        poller.register(outgoing, 0)  # an error and a hang-up are told unasked
        milliseconds = every * 1000
        while parent() == first:
            for _, event in poller.poll(milliseconds):
                if event & (select.POLLERR | select.POLLHUP):
                    gone("nobody reads standard output")
                    return
                poller.unregister(outgoing)  # of a kind that cannot be polled: its loss is noticed when writing
        gone("the parent process has ended")

    thread = threading.Thread(target=look, name="client-watch", daemon=True)
    thread.start()
    return thread
