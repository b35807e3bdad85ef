"""What the daemon tells the service manager that started it: systemd's notification socket (sd_notify(3)), by hand.

Without NOTIFY_SOCKET every call does nothing, so the daemon need not know who started it.
"""

import contextlib
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

STATUS_CHARS = 500
"""Of the sentence `systemctl status` shows."""

STATUS_SECONDS = 30.0
"""How old that sentence may be where no watchdog asks more often."""

LOOK_SECONDS = 5.0
"""How often a start is looked at for signs of work."""

EXTENSION_SECONDS = 30.0
"""How much longer a start that works may take, from each look on."""

LONGEST_START_SECONDS = 3600.0
"""After so long a start is not extended any more, whatever it does."""

FIRST_DESCRIPTOR = 3
"""SD_LISTEN_FDS_START of sd_listen_fds(3)."""

WORK_SECONDS = 0.05
"""Of processor time between two looks: a start that waits for a lock uses less, a migration more."""


ListeningSocket = socket.socket
"""One that a service manager made and gave to this process."""


class Manager(Protocol):
    """A service manager, as the daemon sees it. `alive_seconds` is how often it wants to hear that the daemon makes
    progress, None where it does not ask."""

    @property
    def alive_seconds(self) -> float | None:
        """How often `alive` is to be called at least; None for never."""

    @property
    def can_reload(self) -> bool:
        """Whether SIGHUP comes from it and means new settings; otherwise it is a terminal's that went away."""

    def starting(self) -> contextlib.AbstractContextManager[None]:
        """Watch over a start until the block ends, and give it more time while it works."""

    def ready(self) -> None:
        """Tell that the first reconcile is over."""

    def alive(self, sentence: str) -> None:
        """Tell that there is progress, and how things stand."""

    def stuck(self, sentence: str) -> None:
        """Tell how things stand while there is no progress."""

    def reloading(self) -> None:
        """Tell that the settings are read anew; `ready` follows."""

    def stopping(self) -> None:
        """Tell that the end has begun."""


@dataclass(frozen=True, slots=True)
class Notifier:
    """systemd, or nobody where `address` is empty. An address that begins with `@` is in the abstract namespace.

    A message that cannot be sent is dropped: it must not harm the work, and the manager's own time limits see to the
    rest.
    """

    address: str = ""
    watchdog_seconds: float | None = None
    monotonic: Callable[[], float] = field(default=time.monotonic)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], pid: int) -> "Notifier":
        """Return the notifier of a service's environment; WATCHDOG_USEC counts for the process it names only."""
        address = environ.get("NOTIFY_SOCKET", "")
        usec = environ.get("WATCHDOG_USEC", "")
        is_for_us = environ.get("WATCHDOG_PID", str(pid)) == str(pid)
        watchdog = int(usec) / 1_000_000 if is_for_us and usec.isdecimal() and int(usec) else None
        return cls(address if address[:1] in ("/", "@") else "", watchdog if address else None)

    @property
    def alive_seconds(self) -> float | None:
        """A third of the watchdog's time, so that one late round ends nothing; without one, often enough for people."""
        if not self.address:
            return None
        return STATUS_SECONDS if self.watchdog_seconds is None else self.watchdog_seconds / 3

    @property
    def can_reload(self) -> bool:
        """Whether somebody listens."""
        return bool(self.address)

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """Extend the start's time limit from a thread of its own for as long as the process uses the processor or the
        disk: a migration is one long statement that cannot say so itself, and a start that hangs uses neither."""
        if not self.address:
            yield
            return
        is_over = threading.Event()
        thread = threading.Thread(target=self._extend, args=(is_over, work_done), name="start-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _extend(self, is_over: threading.Event, work: Callable[[], float]) -> None:
        began, done = self.monotonic(), work()
        while not is_over.wait(LOOK_SECONDS):
            now = work()
            if now - done < WORK_SECONDS:
                continue
            if self.monotonic() - began > LONGEST_START_SECONDS:
                return
            done = now
            self._send(f"EXTEND_TIMEOUT_USEC={int(EXTENSION_SECONDS * 1_000_000)}", "STATUS=Starting: still at work.")

    def ready(self) -> None:
        """Send READY=1, and at once the first sign of life."""
        self._send("READY=1", "WATCHDOG=1", "STATUS=Ready.")

    def alive(self, sentence: str) -> None:
        """Feed the watchdog."""
        self._send("WATCHDOG=1", f"STATUS={sentence}")

    def stuck(self, sentence: str) -> None:
        """Send the sentence and let the watchdog go hungry."""
        self._send(f"STATUS={sentence}")

    def reloading(self) -> None:
        """Send RELOADING=1 with the time systemd 253 and newer want beside it."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """Send STOPPING=1."""
        self._send("STOPPING=1", "STATUS=Stopping: what is not finished is kept for the next start.")

    def _send(self, *lines: str) -> None:
        if not self.address:
            return
        address = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        message = "\n".join(" ".join(line.split())[:STATUS_CHARS] for line in lines)
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(0)
            sender.connect(address)
            sender.send(message.encode())


def work_done() -> float:
    """Return the processor seconds this process has used, and some for every block it has read or written."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + (used.ru_inblock + used.ru_oublock) * 0.001


def inherited_socket(environ: Mapping[str, str], pid: int) -> ListeningSocket | None:
    """Return the listening Unix socket a service manager handed over (sd_listen_fds(3)), None where there is none.

    Variables meant for another process count for nothing. Further descriptors than the first are closed.
    """
    if environ.get("LISTEN_PID") != str(pid):
        return None
    given = environ.get("LISTEN_FDS", "")
    descriptors = range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + int(given)) if given.isdecimal() else range(0)
    taken: ListeningSocket | None = None
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.set_inheritable(descriptor, False)  # noqa: FBT003  (the function has no name for it)
            found = socket.socket(fileno=descriptor)
            is_ours = found.family == socket.AF_UNIX and found.type == socket.SOCK_STREAM and _listens(found)
            if taken is None and is_ours:
                taken = found
            else:
                found.close()
    return taken


def _listens(found: socket.socket) -> bool:
    return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
