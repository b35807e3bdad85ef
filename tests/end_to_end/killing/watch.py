"""Sees every step of this process on disk below its home and on the network, and kills it at one of them."""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tests.end_to_end.killing.step import AFTER, BEFORE, Point, caller, ending, place


class Watch:
    """The steps of one process. `at` is where it dies; `services` names the loopback ports that it calls."""

    def __init__(self, root: str, services: Mapping[int, str], at: Point | None) -> None:
        self.root = root
        self.services = services
        self.at = at
        self.seen: list[Point] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self._here = threading.local()

    @property
    def is_inside(self) -> bool:
        """Whether this thread is in the middle of a step: what that consists of is no step by itself."""
        return getattr(self._here, "inside", False)

    def reached(self, name: str, phase: str) -> None:
        """Note a point; where it is the one, end the process with SIGKILL and nothing else."""
        with self._lock:
            self._counts[name, phase] += 1
            point = Point(name, phase, self._counts[name, phase])
            self.seen.append(point)
            if point == self.at:
                os.kill(os.getpid(), signal.SIGKILL)

    def step(self, name: str | None, act: Callable[[], Any]) -> Any:
        """Do a step that has a name; what has none is only done."""
        if name is None or self.is_inside:
            return act()
        self._here.inside = True
        try:
            self.reached(name, BEFORE)
            result = act()
            self.reached(name, AFTER)
        finally:
            self._here.inside = False
        return result

    def file_step(self, verb: str, path: Any, dir_fd: int | None = None) -> str | None:
        """Name a step on a path or an open file; None where that is not below the home."""
        whole = _whole(path, dir_fd)
        found = place(whole, self.root)
        return None if found is None else f"{found}: {verb} {ending(whole)} ({caller(sys._getframe(1))})"

    def move_step(self, verb: str, source: Any, target: Any, dir_fds: tuple[int | None, int | None]) -> str | None:
        """Name a rename or a link."""
        old, new = _whole(source, dir_fds[0]), _whole(target, dir_fds[1])
        left, found = place(old, self.root), place(new, self.root)
        if left is None and found is None:
            return None
        to = ending(new) if left == found else f"{found} {ending(new)}"
        return f"{left}: {verb} {ending(old)} to {to} ({caller(sys._getframe(1))})"

    def database_step(self, file: str, verb: str) -> str:
        """Name what is done to a database."""
        return f"{file}: {verb} ({caller(sys._getframe(1))})"


def _whole(path: Any, dir_fd: int | None) -> str:
    if isinstance(path, int):
        return _of_descriptor(path)
    path = os.fsdecode(path)
    return os.path.abspath(path if dir_fd is None else os.path.join(_of_descriptor(dir_fd), path))


def _of_descriptor(descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""
