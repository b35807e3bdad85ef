"""The connections that are open, and the end of those whose own address the machine no longer has."""

import contextlib
import socket
import threading
import weakref

from memsyncd.platforms import addresses


class Connections:
    """Of one network. Safe from any thread; a connection that nobody uses is forgotten by itself."""

    def __init__(self, is_here: addresses.IsHere | None = None) -> None:
        self._is_here = is_here or addresses.is_here
        self._lock = threading.Lock()
        self._open: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def add(self, opened: socket.socket) -> None:
        """Remember a connected socket."""
        with self._lock:
            self._open.add(opened)

    def end_stranded(self) -> None:
        """Break those whose own address is gone, for no answer finds its way back there.

        Whoever waits on one is told that the connection broke: what it sent may have been read. A socket that another
        thread closes at this very moment may have left its number to a new one, which then breaks in its place: that
        is met in the same way, and costs a connection.
        """
        with self._lock:
            known = [*self._open]
        for opened in known:
            with contextlib.suppress(OSError):  # closed meanwhile, or broken by itself
                if not self._is_here(opened.family, opened.getsockname()[0]):
                    opened.shutdown(socket.SHUT_RDWR)
