"""One daemon for a data directory, by a lock the kernel holds for as long as the process lives.

Only the lock decides who is alive: no answer on the socket is not death, and nobody is ever signalled to give it up
(never-again 59 to 64). The kernel frees it on any death, kill -9 included.
"""

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from daemon.configuration_error import ConfigurationError
from memsyncd import regular_file
from memsyncd.owner_only import open_to_owner

EXIT_ALREADY_RUNNING = 4
"""CONTRACT: Commands."""

_PROBE_SECONDS = 0.5
"""How long a start looks again before it believes the lock: `is_held` touches it for some microseconds."""

_NOTE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """What the lock file says, for people; a note, never proof. `socket` is where that daemon answers."""

    pid: int
    run_id: str
    socket: str


class AlreadyRunning(Exception):
    """Another daemon serves this data directory. `holder` is None where its note could not be read."""

    exit_code = EXIT_ALREADY_RUNNING

    def __init__(self, path: Path, holder: Holder | None) -> None:
        who = f"pid {holder.pid}" if holder else "pid unknown"
        super().__init__(f"Another daemon ({who}) already serves {path.parent}.")
        self.holder = holder


class DaemonLock:
    """The held lock. It covers the file and the directory it lies in, so removing the file frees nothing."""

    def __init__(self, path: Path, descriptors: tuple[int, ...]) -> None:
        self.path = path
        self._descriptors = descriptors

    @classmethod
    def acquire(
        cls,
        path: Path,
        *,
        pid: int,
        run_id: str,
        socket: str = "",
        monotonic: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Take the lock at `path` (0600, created if missing, never deleted) and write who holds it into the file.

        Raises AlreadyRunning where another process has it, ConfigurationError where the path is no regular file of
        ours.
        """
        with contextlib.ExitStack() as undo:
            directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            undo.callback(os.close, directory)
            file = _open(path)
            undo.callback(os.close, file)
            give_up_at = monotonic() + _PROBE_SECONDS
            while not (_lock(directory) and _lock(file)):
                if monotonic() >= give_up_at:
                    raise AlreadyRunning(path, holder(path))
                time.sleep(0.01)
            note = json.dumps({"pid": pid, "run_id": run_id, "socket": socket}).encode()
            os.ftruncate(file, 0)
            os.pwrite(file, note + b"\n", 0)
            undo.pop_all()
        return cls(path, (file, directory))

    @property
    def is_held(self) -> bool:
        """Whether this process still has it."""
        return bool(self._descriptors)

    def lost(self) -> str:
        """Return a sentence where the lock's path leads elsewhere by now, so that another daemon could take it there;
        empty while it does not. A path that cannot be looked at says nothing."""
        for descriptor, place in zip(self._descriptors, (self.path, self.path.parent), strict=False):
            try:
                is_same = os.path.samestat(os.fstat(descriptor), place.stat())
            except (FileNotFoundError, NotADirectoryError):
                is_same = False
            except OSError:
                continue
            if not is_same:
                return f"{place} was removed or replaced while this daemon ran, so another may serve it now."
        return ""

    def release(self) -> None:
        """Give the lock back; the file stays. Calling it again does nothing."""
        descriptors, self._descriptors = self._descriptors, ()
        for descriptor in descriptors:
            os.close(descriptor)


def is_held(path: Path) -> bool:
    """Tell whether a daemon holds the lock at `path`, without taking it, creating it or disturbing a start."""
    for place in (path, path.parent):
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            if not _lock(descriptor, fcntl.LOCK_SH):
                return True
        finally:
            os.close(descriptor)
    return False


def holder(path: Path) -> Holder | None:
    """Return what the lock file at `path` says, or None where it says nothing. It outlives its daemon."""
    try:
        note = regular_file.document(path, _NOTE_BYTES)
        return Holder(pid=int(note["pid"]), run_id=str(note["run_id"]), socket=str(note.get("socket", "")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        open_to_owner(path)
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENXIO):
            raise ConfigurationError(f"{path} cannot be used as the lock: {error.strerror}.") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigurationError(f"{path} is in the way of the lock, for it is no regular file: move it elsewhere.")
    os.fchmod(descriptor, 0o600)
    return descriptor


def _lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network file systems lock no directory; the file's lock then stands alone.
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            return True
        raise
    return True
