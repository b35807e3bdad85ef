"""When a handoff was renamed into a spool and when it was unlinked, seen by the kernel's own notices (inotify(7)).

Both are noted by the same thread, so what it is late by falls away in the difference. A record's handoff is unlinked
after the commit of its evidence: the figure is an upper bound of the time to the commit.
"""

import ctypes
import os
import select
import struct
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_MOVED_FROM, _MOVED_TO, _DELETE, _OVERFLOW = 0x40, 0x80, 0x200, 0x4000
_EVENT = struct.Struct("iIII")
_BUFFER = 1 << 20


class SpoolWatch:
    """Watches one `pending` directory. Times are Unix seconds, by the handoff's stem.

    With `every_seconds` notices are read in heaps, so that the watch takes no processor from what it watches; times
    are late by so much.
    """

    def __init__(self, pending: Path, *, every_seconds: float = 0.0) -> None:
        self._every_seconds = every_seconds
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._end, self._end_writer = os.pipe()
        if self._libc.inotify_add_watch(self._descriptor, os.fsencode(pending), _MOVED_FROM | _MOVED_TO | _DELETE) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", str(pending))
        self._changed = threading.Condition()
        self.renamed: dict[str, float] = {}
        self.claimed: dict[str, float] = {}
        self.unlinked: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, name="spool-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.write(self._end_writer, b".")
        self._thread.join()
        for descriptor in (self._descriptor, self._end, self._end_writer):
            os.close(descriptor)

    def wait_unlinked(self, stem: str, seconds: float = 30.0) -> float:
        """Wait until the handoff is gone; return when that was."""
        with self._changed:
            if not self._changed.wait_for(lambda: stem in self.unlinked, seconds):
                raise SystemExit(f"handoff {stem} was not taken in within {seconds:.0f} s")
            return self.unlinked[stem]

    def wait_count(self, count: int, seconds: float) -> None:
        """Wait until so many handoffs are gone."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.unlinked) >= count, seconds):
                raise SystemExit(f"{len(self.unlinked)} of {count} handoffs were taken in within {seconds:.0f} s")

    def wait_seconds(self, stem: str) -> float:
        """Return how long a handoff lay: from its rename to its unlink."""
        gone = self.wait_unlinked(stem)
        return gone - self.renamed[stem]

    def _run(self) -> None:
        while True:
            ready, _, _ = select.select([self._descriptor, self._end], [], [])
            if self._end in ready:
                return
            if self._every_seconds:
                time.sleep(self._every_seconds)
            now = time.time()
            data = os.read(self._descriptor, _BUFFER)
            with self._changed:
                self._note(data, now)
                self._changed.notify_all()

    def _note(self, data: bytes, now: float) -> None:
        place = 0
        while place < len(data):
            _, mask, _, length = _EVENT.unpack_from(data, place)
            place += _EVENT.size
            name = data[place : place + length].rstrip(b"\0").decode()
            place += length
            stem, _, suffix = name.rpartition(".")
            if mask & _OVERFLOW:
                raise SystemExit("the kernel dropped notices: the watch was too slow")
            if mask & _MOVED_TO and suffix == "json":
                self.renamed.setdefault(stem, now)
            elif mask & _MOVED_FROM and suffix == "json":
                self.claimed.setdefault(stem, now)
            elif mask & _DELETE and suffix == "running":
                self.unlinked[stem] = now
