"""Standard input and output of the process, kept for the protocol alone from the first byte on (never-again 129)."""

import fcntl
import os
import select
import sys
from dataclasses import dataclass

READ_BYTES = 64 * 1024
FIRST_FREE = 3
"""Above the three standard descriptors."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors on which the protocol is spoken."""

    incoming: int
    outgoing: int

    def read(self) -> bytes:
        """Wait for bytes; none at the end of input, which a hang-up is too."""
        while True:
            try:
                return os.read(self.incoming, READ_BYTES)
            except BlockingIOError:
                select.select([self.incoming], [], [])
            except OSError:
                return b""

    def write(self, data: bytes) -> None:
        """Write all of it. Raises OSError where nobody reads."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.outgoing, view) :]
            except BlockingIOError:
                select.select([], [self.outgoing], [])


def claim() -> Wire:
    """Take over the process's standard input and output.

    From here on descriptor 0 is at its end and 1 is standard error, for this program, its libraries and its children:
    whatever one of them prints is no part of the protocol. Raises OSError where either is closed.
    """
    wire = Wire(fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE), fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    if nothing >= FIRST_FREE:
        os.close(nothing)
    sys.stdout = sys.stderr
    return wire
