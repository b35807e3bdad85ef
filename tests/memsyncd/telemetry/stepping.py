"""Senders and recorders that stop before each call of the system, to be led on, failed or killed there."""

import contextlib
import errno
import fcntl
import os
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any

from memsyncd.telemetry.disk import Disk, FileState


class Crash(BaseException):
    """The process dies here."""


class Leash:
    """Holds one thread at a time before each of its calls; both sides wait for events, never for time."""

    def __init__(self) -> None:
        self._go = threading.Semaphore(0)
        self._there = threading.Semaphore(0)
        self.is_free = False
        self.is_dead = False
        self.fault = 0
        self.is_over = True

    def before_call(self) -> int:
        """In the thread: wait to be led on; return the errno this call fails with, 0 for none."""
        if self.is_dead:
            raise Crash
        if self.is_free:
            return 0
        self._there.release()
        self._go.acquire()
        if self.is_dead:
            raise Crash
        fault, self.fault = self.fault, 0
        return fault

    def run(self, act: Callable[[], Any]) -> None:
        """In the thread: do it, and tell when it is over."""
        with contextlib.suppress(Crash):
            act()
        self.is_over = True
        self._there.release()

    def start(self, act: Callable[[], Any]) -> None:
        """Begin, up to the first call."""
        self.is_over = False
        threading.Thread(target=self.run, args=(act,), name="leashed", daemon=True).start()
        self._there.acquire()

    def step(self, fault: int = 0) -> None:
        """Lead on by one call, which fails with `fault`."""
        if not self.is_over:
            self.fault = fault
            self._go.release()
            self._there.acquire()

    def kill(self) -> None:
        """Die before the present call."""
        self.is_dead = True
        if not self.is_over:
            self._go.release()
            self._there.acquire()


class LeashedDisk(Disk):
    """The real disk behind a leash. What its process has open is closed when it dies, locks and all."""

    def __init__(self, leash: Leash, on_unlink: Callable[[str], None]) -> None:
        self._leash = leash
        self._on_unlink = on_unlink
        self._open: set[int] = set()

    def _call(self) -> None:
        fault = self._leash.before_call()
        if fault:
            raise OSError(fault, os.strerror(fault))

    def _opened(self, descriptor: int) -> int:
        self._open.add(descriptor)
        return descriptor

    def die(self) -> None:
        for descriptor in self._open:
            os.close(descriptor)
        self._open.clear()

    def names(self, directory: str) -> Sequence[str]:
        self._call()
        return super().names(directory)

    def state(self, path: str) -> FileState:
        self._call()
        return super().state(path)

    def state_of(self, descriptor: int) -> FileState:
        self._call()
        return super().state_of(descriptor)

    def open(self, path: str) -> int:
        self._call()
        return self._opened(super().open(path))

    def create(self, path: str) -> int:
        self._call()
        return self._opened(super().create(path))

    def open_end(self, path: str) -> int:
        self._call()
        return self._opened(super().open_end(path))

    def close(self, descriptor: int) -> None:
        fault = self._leash.before_call()
        self._open.discard(descriptor)
        super().close(descriptor)  # closed though it fails, as the system does
        if fault:
            raise OSError(fault, os.strerror(fault))

    def lock(self, descriptor: int) -> bool:
        self._call()
        return super().lock(descriptor)

    def pause(self) -> None:
        pass

    def read(self, descriptor: int, size: int) -> bytes:
        self._call()
        return super().read(descriptor, size)

    def write(self, descriptor: int, content: bytes) -> None:
        fault = self._leash.before_call()
        if fault:
            super().write(descriptor, content[: len(content) // 2])
            raise OSError(fault, os.strerror(fault))
        super().write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        self._call()  # a crash of the process, not of the machine: what is written stays

    def sync_directory(self, directory: str) -> None:
        self._call()

    def touch(self, path: str, seconds: float) -> None:
        self._call()
        super().touch(path, seconds)

    def touch_open(self, descriptor: int, seconds: float) -> None:
        self._call()
        super().touch_open(descriptor, seconds)

    def rename(self, old: str, new: str) -> None:
        self._call()
        super().rename(old, new)

    def unlink(self, path: str) -> None:
        self._call()
        self._on_unlink(path)
        super().unlink(path)


def recording(path: str, text: bytes) -> Generator[None, bool, bool]:
    """Record as `memsyncd.telemetry.recorder` does, stopping before each call; `send(True)` tears the write.

    Returns whether the line was accepted.
    """
    for _ in range(5):
        yield
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield
            size = os.fstat(file).st_size
            yield
            try:
                is_current = os.path.samestat(os.fstat(file), os.stat(path))
            except FileNotFoundError:
                is_current = False
            if not is_current:
                continue
            is_torn = bool(size) and os.pread(file, 1, size - 1) != b"\n"
            is_killed = yield
            line = b"\n" + text if is_torn else text
            os.write(file, line[: len(line) // 2] if is_killed else line)
            return not is_killed
        finally:
            os.close(file)
    return False


EIO, ENOSPC = errno.EIO, errno.ENOSPC
