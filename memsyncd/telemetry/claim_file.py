"""A telemetry file in our hands: taken by rename, held by lock, given back, emptied or set aside.

The lock is held from the claim to its end, over every rewrite. So two senders of ours never have the same file,
whatever the clock says; a plugin's sender, which takes no lock, is kept away by name and mtime as among plugins.
"""

import contextlib
import errno
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from memsyncd.telemetry.claims import KEPT_SECONDS, PARTIAL, SENDING, ClaimName, Verdict, backdated, judge, parse
from memsyncd.telemetry.disk import Disk
from memsyncd.telemetry.event import SPOOL_NAME

MAX_FILE_BYTES = 8 * 1024 * 1024
"""What is larger is no spool of events: its recorder would have stopped at 256 KiB (facts 12.3)."""

LOCK_TRIES = 100
"""About a second, for a recorder at its line; it holds the file for microseconds."""


class ClaimLost(Exception):
    """The file has gone to another sender, or was removed."""


def new_owner() -> str:
    """Return what names a claim of this process: `<pid>-<8 hex>`, by chance."""
    return f"{os.getpid()}-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Door:
    """How files are reached, named and kept: the disk, the wall clock in Unix seconds, what names a new claim, and for
    how long what cannot be sent stays."""

    disk: Disk
    wall: Callable[[], float]
    new_owner: Callable[[], str] = new_owner
    kept_seconds: float = KEPT_SECONDS


class ClaimFile:
    """A claim that is held. `spared` is the attempt its name goes back to when the try shall not count.

    Methods raise OSError, and ClaimLost where the name is another file's by now.
    """

    def __init__(self, door: Door, directory: str, name: ClaimName, spared: int, descriptor: int) -> None:
        self._door = door
        self._directory = directory
        self._name = name
        self._spared = spared
        self._descriptor = descriptor

    def read(self) -> bytes | None:
        """Return the content; None for more than MAX_FILE_BYTES."""
        content = self._door.disk.read(self._descriptor, MAX_FILE_BYTES + 1)
        return content if len(content) <= MAX_FILE_BYTES else None

    def renew(self) -> None:
        """Begin the lease anew, before a request."""
        self._assert_ours()
        self._door.disk.touch_open(self._descriptor, self._door.wall())

    def keep_aside(self, lines: bytes, suffix: str) -> None:
        """Keep lines that will not be sent beside the claim, on the disk before they leave it."""
        disk = self._door.disk
        path = self._path(suffix)
        descriptor = disk.open_end(path)
        try:
            _lock_new(disk, descriptor)
            found = disk.state_of(descriptor)
            # what is there already was perhaps torn by a full disk, and must spoil no line
            disk.write(descriptor, b"\n" + lines if found.size else lines)
            disk.touch_open(descriptor, self._door.wall())
            disk.sync(descriptor)
            disk.state(path)  # raises where a sweeper had removed the file before it was locked
        finally:
            disk.close(descriptor)

    def drop_first(self, size: int) -> None:
        """Let go of the first `size` bytes for good; the file is gone with its last byte (facts 12.12).

        What a recorder without a lock appended since it was read is part of the rest.
        """
        self._assert_ours()
        disk = self._door.disk
        rest = disk.read(self._descriptor, disk.state_of(self._descriptor).size)[size:]
        if rest:
            self._replace_by(rest)
        else:
            disk.unlink(self._path(SENDING))
            self.close()

    def set_aside(self, suffix: str) -> None:
        """Keep the whole file under another suffix, for a person or until it is swept."""
        self._assert_ours()
        self._door.disk.touch_open(self._descriptor, self._door.wall())
        self._door.disk.rename(self._path(SENDING), self._path(suffix))
        self.close()

    def release(self, *, counts: bool) -> None:
        """Give the claim back by backdating it (facts 12.15); unless the try `counts`, under its earlier attempt."""
        disk = self._door.disk
        attempt = self._name.attempt if counts else self._spared
        try:
            self._assert_ours()
            disk.touch_open(self._descriptor, backdated(attempt, self._door.wall()))
            if attempt != self._name.attempt:
                earlier = os.path.join(self._directory, self._name.at(attempt).file())
                disk.rename(self._path(SENDING), earlier)
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the file as it is: its lease runs out."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):  # closed all the same, and nothing of what was done is undone
                self._door.disk.close(descriptor)

    @property
    def is_open(self) -> bool:
        """Whether it is still in our hands."""
        return self._descriptor >= 0

    def _replace_by(self, content: bytes) -> None:
        disk = self._door.disk
        partial = self._path(PARTIAL)
        with contextlib.suppress(FileNotFoundError):
            disk.unlink(partial)
        descriptor = disk.create(partial)
        try:
            _lock_new(disk, descriptor)
            disk.write(descriptor, content)
            disk.sync(descriptor)
            disk.touch_open(descriptor, self._door.wall())
            self._assert_ours()
            disk.rename(partial, self._path(SENDING))
        except BaseException:
            disk.close(descriptor)
            raise
        old, self._descriptor = self._descriptor, descriptor
        with contextlib.suppress(OSError):  # the rest is saved, and must not be taken for unsaved
            disk.close(old)
            disk.sync_directory(self._directory)

    def _assert_ours(self) -> None:
        disk = self._door.disk
        try:
            named = disk.state(self._path(SENDING))
        except FileNotFoundError:
            raise ClaimLost from None
        if named.identity != disk.state_of(self._descriptor).identity:
            raise ClaimLost

    def _path(self, suffix: str) -> str:
        return os.path.join(self._directory, self._name.file(suffix))


def take_live(door: Door, directory: str) -> ClaimFile | None:
    """Claim the live spool; None where there is nothing in it, or another sender was first. Raises OSError."""
    live = os.path.join(directory, SPOOL_NAME)
    try:
        found = door.disk.state(live)
        if not found.is_regular or not found.size:
            return None
        name = ClaimName(door.new_owner())
        path = os.path.join(directory, name.file())
        # touched before it has its new name: with the old time it would look abandoned for a moment (facts 12.10)
        door.disk.touch(live, door.wall())
        door.disk.rename(live, path)
    except FileNotFoundError:
        return None
    descriptor = _hold(door, path, LOCK_TRIES)
    return None if descriptor is None else ClaimFile(door, directory, name, 0, descriptor)


def take_parked(door: Door, directory: str, file: str) -> ClaimFile | None:
    """Claim a stale claim, with one more attempt in its name; None where it is another's. Raises OSError."""
    return _take_over(door, directory, file, Verdict.STALE)


def take_expired(door: Door, directory: str, file: str) -> ClaimFile | None:
    """Take a claim that has had its tries or its time, to set it aside; None where it is another's. Raises OSError."""
    return _take_over(door, directory, file, Verdict.EXPIRED)


def _take_over(door: Door, directory: str, file: str, expected: Verdict) -> ClaimFile | None:
    before = parse(file)
    path = os.path.join(directory, file)
    descriptor = None if before is None else _hold(door, path, 1)
    if before is None or descriptor is None:
        return None
    try:
        now = door.wall()
        # looked at again under the lock: the listing may be old
        if judge(before.attempt, door.disk.state_of(descriptor).touched_at, now, door.kept_seconds) is not expected:
            door.disk.close(descriptor)
            return None
        after = ClaimName(door.new_owner(), before.attempt + (expected is Verdict.STALE))
        door.disk.touch_open(descriptor, now)
        door.disk.rename(path, os.path.join(directory, after.file()))
    except FileNotFoundError:
        door.disk.close(descriptor)
        return None
    except BaseException:
        door.disk.close(descriptor)
        raise
    return ClaimFile(door, directory, after, before.attempt, descriptor)


def _hold(door: Door, path: str, tries: int) -> int | None:
    """Open and lock a claim; None where it is no file, another's, or has gone while we waited. Raises OSError."""
    disk = door.disk
    try:
        descriptor = disk.open(path)
    except FileNotFoundError:
        return None
    try:
        found = disk.state_of(descriptor)
        # the name may have gone to a rewritten file while this one was another's
        if found.is_regular and _lock(disk, descriptor, tries) and disk.state(path).identity == found.identity:
            return descriptor
    except FileNotFoundError:
        pass
    except BaseException:
        disk.close(descriptor)
        raise
    disk.close(descriptor)
    return None


def _lock_new(disk: Disk, descriptor: int) -> None:
    """Lock a file of ours. Raises OSError where a sweeper had it first, and so is about to remove it."""
    if not disk.lock(descriptor):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _lock(disk: Disk, descriptor: int, tries: int) -> bool:
    for _ in range(tries - 1):
        if disk.lock(descriptor):
            return True
        disk.pause()
    return disk.lock(descriptor)
