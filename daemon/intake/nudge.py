"""The FIFO by which a hook says "look now": one byte, never waited for, and no harm where nobody listens.

Beside it hooks note that a question went unanswered, and ask no more for a while (`memsyncd.hooks.recalling`): whoever
reads the FIFO moves, so the note goes.
"""

import contextlib
import os
import stat
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from memsyncd.hooks.recalling import SILENT
from memsyncd.owner_only import open_to_owner

_READ = 65_536


class Nudge:
    """Holds the reading end. The FIFO stays when the daemon goes: a hook's open then fails at once, which is fine."""

    def __init__(self, path: Path) -> None:
        self._silent = path.with_name(os.fsdecode(SILENT).lstrip("/"))
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # read and write, so that the end never sees "no writer" and never wakes for it
        try:
            open_to_owner(path)
            self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise ConfigurationError(f"{path} is in the way of the hooks' nudge: {error.strerror}.") from error
        if not stat.S_ISFIFO(os.fstat(self.descriptor).st_mode):
            os.close(self.descriptor)
            raise ConfigurationError(f"{path} is in the way of the hooks' nudge, for it is no FIFO: move it elsewhere.")
        self._answer_again()

    def drain(self) -> None:
        """Take every byte; how many hooks nudged is of no interest."""
        with contextlib.suppress(BlockingIOError):
            while len(os.read(self.descriptor, _READ)) == _READ:
                pass
        self._answer_again()

    def _answer_again(self) -> None:
        with contextlib.suppress(OSError):
            if os.path.lexists(self._silent):
                os.unlink(self._silent)

    def close(self) -> None:
        """Stop listening."""
        os.close(self.descriptor)
