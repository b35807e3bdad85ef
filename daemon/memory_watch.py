"""Takes up a memory file that was mended: what its damage has held goes at once, as with a changed key."""

from pathlib import Path

import structlog

from jobs.queue.contract import JobQueue

FAILED = "platform-failed"
"""The code of a destination that needs a person because of what it stores in."""

NONE = (0,)
"""What tells that there is no file."""

log = structlog.get_logger()


class MemoryWatch:
    """Asked on every tick, on one thread. `destination` is the embedded platform's; another's is left alone."""

    def __init__(self, memory_file: Path, destination: str, queue: JobQueue) -> None:
        self._memory_file = memory_file
        self._destination = destination
        self._queue = queue
        self._seen: tuple[int, ...] | None = None

    def release_failed(self) -> None:
        """At start: the file may have been mended since an earlier run, and one probe tells."""
        if self._is_failing():
            self._queue.release(self._destination)

    def look(self) -> None:
        """Let the platform's jobs go where the file is another than at the last look, or gone: they make a new one.

        Raises OSError and QueueError.
        """
        seen, self._seen = self._seen, self._identity()
        if (seen not in (None, self._seen) or self._seen == NONE) and self._is_failing():
            self._queue.release(self._destination)
            log.info("memory-file-changed")

    def _is_failing(self) -> bool:
        return any(
            each.name == self._destination and each.parked and each.code == FAILED
            for each in self._queue.destinations()
        )

    def _identity(self) -> tuple[int, ...]:
        try:
            found = self._memory_file.stat()
        except FileNotFoundError:
            return NONE
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
