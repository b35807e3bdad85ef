"""Standard output of the process: what happens to it is told apart from what happens to a command's own files."""

import io
import os
import sys
from typing import Any

from daemon.cli import exits


class OutputLost(Exception):
    """Standard output took no more; `errno` is the system's.

    No OSError: a command that catches those would take a file of its own for the cause.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(f"Standard output cannot be written: {error.strerror or error}.")
        self.errno = error.errno


class _Descriptor(io.FileIO):
    def write(self, data: Any) -> int:
        """Write what the system takes of it. Raises OutputLost."""
        try:
            return super().write(data)
        except OSError as error:
            raise OutputLost(error) from error


def guard(*, is_needed: bool) -> None:
    """Have every failing write to standard output raise OutputLost.

    An output that is closed leads to nothing from now on, so that no file that is opened later takes its number.
    Leaves where standard output is, and is needed, before anything is done.
    """
    was_open = sys.stdout is not None
    sys.stdout = sys.stdout or _to_nothing(1)
    sys.stderr = sys.stderr or _to_nothing(2)
    if not was_open and is_needed:
        raise exits.Leave(exits.FAILED, "Standard output is closed: let it go somewhere, such as to /dev/null.")
    stream = sys.stdout
    if stream is sys.__stdout__ and isinstance(stream, io.TextIOWrapper):  # a test has its own
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Descriptor(stream.fileno(), "w", closefd=False)),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )


def _to_nothing(number: int) -> io.TextIOWrapper:
    nothing = os.open(os.devnull, os.O_WRONLY)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
    return open(number, "w", encoding="utf-8", closefd=False)
