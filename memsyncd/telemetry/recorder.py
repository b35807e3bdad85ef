"""Recording: one line at the end of a spool's `telemetry.jsonl`, whatever the state of the disk (facts 12.2, 12.3).

A line is written in one call, by one recorder at a time, under a lock on the file that has the spool's name. A sender
renames the file and takes the same lock: so no line comes into a file that has been read to its end, and none is glued
to another's that was cut short.
"""

import contextlib
import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memsyncd.clock import Clock, rfc3339
from memsyncd.telemetry.cleaning import clean
from memsyncd.telemetry.event import SPOOL_NAME, TelemetryEvent, full_name
from memsyncd.telemetry.salt import Salt
from memsyncd.version import __version__

MAX_SPOOL_BYTES = 256 * 1024
"""Once the live spool is larger, new events are dropped (facts 12.3)."""

MAX_LINE_BYTES = 16 * 1024

DROPPED_NAME = "telemetry-dropped"
"""One byte for each event that was dropped: appending needs no reading, so no process undoes another's count."""

MAX_DROPPED = 1024 * 1024

_OPEN = os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_ATTEMPTS, _LOOKS = 100, 10

_PAUSE_SECONDS = 0.0005
"""Between two attempts at a file that another recorder holds, for microseconds: a twentieth of a second in all, if that
one's process stands still. Then the event is dropped."""

_NO_LOCKS = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL})
"""How file systems say that they know no `flock`. There a sender's second look at the size must do."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Recorder:
    """Records the events of one spool, labelled with `harness` and `source`. Safe from any thread.

    `spool` is a spool's directory; it is not made. `harness` and `source` are stamped here and win over properties
    of the same name, so that no sender labels another's events (facts 12.8, 20.11).
    """

    def __init__(
        self,
        spool: Path,
        *,
        harness: str,
        source: str,
        salt: Salt,
        redact: Callable[[str], str],
        clock: Clock,
        new_uuid: Callable[[], str],
        version: str = __version__,
    ) -> None:
        self._path = os.path.join(spool, SPOOL_NAME)
        self._dropped_path = os.path.join(spool, DROPPED_NAME)
        self._stamps = {"harness": harness, "source": source, "version": version}
        self._salt = salt
        self._redact = redact
        self._clock = clock
        self._new_uuid = new_uuid
        self._lock = threading.Lock()
        self._owed = 0

    @property
    def uncounted(self) -> int:
        """Events dropped by this recorder that the counter's file could not take yet: to be added to `dropped`."""
        return self._owed

    def record(
        self, name: str, properties: Mapping[str, Any] = _NOTHING, *, repo_id: str = "", session_id: str = ""
    ) -> bool:
        """Append the event `code.<name>`; tell whether it is recorded. Never raises, never waits for long.

        What cannot be recorded is counted. `repo_id` and `session_id` are told as salted hashes only.
        """
        return self._kept(lambda: self._line(name, properties, repo_id, session_id))

    def record_alias(self, anonymous_id: str, account: str) -> bool:
        """Append the event that tells the endpoint who this machine turned out to be (facts 12.25). As `record`."""
        told, account_id = {"alias": anonymous_id, **self._stamps}, {"distinct_id": account}
        return self._kept(lambda: self._event_line("$create_alias", told, account_id))

    def _kept(self, make: Callable[[], bytes]) -> bool:
        try:
            line = make()
            recorded = len(line) <= MAX_LINE_BYTES and _append(self._path, line)
        except Exception:  # noqa: BLE001  (telemetry is never worth a failure of what it tells about)
            recorded = False
        if not recorded or self._owed:
            self._count(0 if recorded else 1)
        return recorded

    def _line(self, name: str, properties: Mapping[str, Any], repo_id: str, session_id: str) -> bytes:
        hashes = {
            "repository_hash": self._salt.hash(repo_id) if repo_id else None,
            "session_hash": self._salt.hash(session_id) if session_id else None,
        }
        told = {**clean(properties, self._redact), **hashes, **self._stamps}
        return self._event_line(full_name(name), told, {})

    def _event_line(self, event: str, properties: Mapping[str, Any], extra: Mapping[str, Any]) -> bytes:
        return TelemetryEvent(event, self._new_uuid(), rfc3339(self._clock.wall()), properties, extra).to_line()

    def _count(self, dropped: int) -> None:
        with self._lock:
            self._owed += dropped
            with contextlib.suppress(OSError):  # it stays owed
                self._owed -= _counted(self._dropped_path, self._owed)


def dropped(spool: Path) -> int:
    """Return how many events of this spool were dropped, by any process since it exists. At most 1,048,576."""
    try:
        found = os.stat(spool / DROPPED_NAME, follow_symlinks=False)
    except OSError:
        return 0
    return min(found.st_size, MAX_DROPPED) if stat.S_ISREG(found.st_mode) else 0


def _append(path: str, line: bytes) -> bool:
    """Write the line at the end of the file that has this name while it is written; False if it is full or locked."""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        file = _opened(path, os.O_RDWR)
        try:
            if not _lock(file):
                continue  # another recorder writes; or a sender has renamed it, and by now the name is free
            size = _size_if_current(file, path)
            if size is None:
                continue
            if size > MAX_SPOOL_BYTES:
                return False
            # A crash or a full disk may have left a torn line: this one must not become its end.
            text = line if _ends_in_a_line(file) else b"\n" + line
            return os.write(file, text) == len(text)
        finally:
            _unlock(file)
            os.close(file)
    return False


def _ends_in_a_line(file: int) -> bool:
    """Whether the file is empty or ends in a newline.

    The write of a recorder that takes no lock, as an existing plugin's, grows the file in steps: so what looks torn is
    looked at again. A blank line more would harm nobody, but be no event.
    """
    for _ in range(_LOOKS):
        size = os.fstat(file).st_size
        if not size or os.pread(file, 1, size - 1) == b"\n":
            return True
        os.sched_yield()
    return False


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _unlock(file: int) -> None:
    """Let go at once: a process forked meanwhile has the same open file, and closing ours would not end its lock."""
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)


def _counted(path: str, owed: int) -> int:
    """Append a byte for each event owed; return for how many it did, or all where the counter is at its end."""
    file = _opened(path, os.O_WRONLY)
    try:
        room = MAX_DROPPED - os.fstat(file).st_size
        return os.write(file, b"." * min(owed, room)) if room > 0 else owed
    finally:
        os.close(file)


def _opened(path: str, access: int) -> int:
    """Open a regular file of this user, made where it is missing. Raises OSError; does not wait for a FIFO's reader."""
    file = os.open(path, access | _OPEN, 0o600)
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(file)
        raise PermissionError(errno.EPERM, "no spool of ours", path)
    if found.st_mode & 0o077:
        with contextlib.suppress(OSError):  # a file system without modes
            os.fchmod(file, 0o600)
    return file


def _size_if_current(file: int, path: str) -> int | None:
    """Return the size of the open file, or None if the name has gone to another file."""
    found = os.fstat(file)
    try:
        named = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_size if (found.st_ino, found.st_dev) == (named.st_ino, named.st_dev) else None
