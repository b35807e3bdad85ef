"""Limits of a process and of a user, lowered while the daemon runs and raised again."""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.faults.conftest import cannot, need_root


@contextlib.contextmanager
def few_descriptors(pid: int) -> Iterator[None]:
    """Let a process open nothing more."""
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    open_now = [int(name) for name in os.listdir(f"/proc/{pid}/fd")]
    free = next(number for number in range(len(open_now) + 1) if number not in open_now)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


@contextlib.contextmanager
def little_memory(pid: int, left: int) -> Iterator[None]:
    """Let a process have that many bytes more than it has."""
    before = resource.prlimit(pid, resource.RLIMIT_AS)
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize() + left, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_AS, before)


class FewWatches:
    """A user namespace of its own, in which no file can be watched; the machine's limits stay as they are.

    A new namespace has the largest limits there are, so whoever finds others there is not in one of its own.
    """

    def __init__(self, what: str) -> None:
        need_root()
        self._limit = f"/proc/sys/user/max_inotify_{what}"
        new = f'[ "$(cat {self._limit})" = {2**31 - 1} ]'
        apart = ["unshare", "--user", "--map-root-user", "sh", "-c"]
        if subprocess.run([*apart, new], capture_output=True, check=False).returncode:
            cannot("a user namespace has no limits of its own")
        self.inside = [*apart, f'{new} && echo 0 >{self._limit} && exec "$@"', "sh"]

    def end(self, pid: int) -> None:
        """Let the files be watched in the namespace of that process."""
        within = ["nsenter", "--user", f"--target={pid}", "--preserve-credentials"]
        subprocess.run([*within, "sh", "-c", f"echo 1000 >{self._limit}"], check=True)


class MemoryLimit:
    """A control group whose processes are killed when they take more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        need_root()
        old, new = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
        top, name = (old, "memory.limit_in_bytes") if old.is_dir() else (new, "memory.max")
        self._group = top / f"memsyncd-fault-{os.getpid()}"
        try:
            self._group.mkdir()
            (self._group / name).write_text(str(limit))
            with contextlib.suppress(OSError):
                (self._group / "memory.swap.max").write_text("0")
        except OSError as error:
            self.close()
            cannot(f"no control group can limit memory: {error}")
        self.inside = ["sh", "-c", f'echo $$ >{self._group}/cgroup.procs && exec "$@"', "sh"]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._group.rmdir()


KILLED = -signal.SIGKILL
