"""A spool's directories, and the only code that moves its handoffs.

Every change of hands is one rename inside the spool: `x.json` waits, `x.running` is claimed (its mtime is the
heartbeat), `dead/x.json` was given up with its reason beside it, `corrupt/x.json` holds bytes that are no handoff.
"""

import contextlib
import errno
import hashlib
import math
import os
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from daemon import abandoned_writes
from daemon.intake.set_aside import REASON, WRITING, fitting, make_private, set_aside
from memsyncd import regular_file

WAITING = ".json"
CLAIMED = ".running"

STALE_CLAIM_SECONDS = 300.0
"""A claim untouched for longer is nobody's any more (CONTRACT "A spool", facts 1.12)."""

EXPIRY_SECONDS = 7 * 24 * 3600.0
"""A handoff older than this goes to `dead/` as expired (CONTRACT "A spool"; facts 1.13 deleted it)."""

MAX_REASON_BYTES = 64 * 1024

_OF_ONE_FILE = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.ELOOP,
        errno.ENXIO,
        errno.ENAMETOOLONG,
        errno.EISDIR,
        errno.ENOTEMPTY,
        errno.ENOENT,
    }
)
"""Another user's, no regular file any more, in its own way, or named so that it cannot be claimed."""


Age = Callable[[float], float]
"""What tells for how many seconds something has been there that came at a Unix time: a `Clock`'s own, or `age_at`."""


def age_at(now: float) -> Age:
    """Return the plain one, for who has only just come: it takes the clock as it is."""
    return lambda moment: now - moment


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file under `pending/` that waits to be claimed. `changed_at` is its mtime in Unix seconds."""

    stem: str
    size: int
    changed_at: float


@dataclass(frozen=True, slots=True)
class SpoolCounts:
    """How many files a spool holds of each kind, and the age in seconds of the oldest that waits to be taken in."""

    pending: int
    running: int
    dead: int
    corrupt: int
    oldest_pending_seconds: float


class Spool:
    """One harness's spool. `own` tells ours, where only this daemon claims, from an existing plugin's.

    Methods raise OSError where the file system refuses; a file that another took first is no error.
    """

    def __init__(self, path: Path, harness: str, *, own: bool) -> None:
        self.path = path
        self.harness = harness
        self.own = own
        self.name = harness if own else f"{harness}@{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}"
        self.pending = path / "pending"
        self._prefix = f"{self.pending}{os.sep}"  # a Path for each of a backlog's files costs a tenth of its ingest
        self.dead = path / "dead"
        self.corrupt = path / "corrupt"
        self.evidence = path / "evidence.sqlite3"
        self.paused = path / "paused"
        self.resumed = path / "resumed"

    def prepare(self) -> None:
        """Create what is missing, private from the first moment; an existing plugin's own modes are left alone."""
        for directory in (self.path, self.pending, self.dead, self.corrupt):
            if self.own or directory in (self.dead, self.corrupt):
                make_private(directory)
            if self.own and directory.stat().st_uid not in (os.geteuid(), 0):
                raise PermissionError(errno.EACCES, "it belongs to another user", str(directory))

    def check_writable(self) -> None:
        """Raise OSError where nothing can be claimed, nor left by a hook, though nothing waits that would show it. A
        spool without its directory has nothing either way."""
        is_open = os.access(self.pending, os.W_OK | os.X_OK, effective_ids=True)
        if not is_open and self.pending.is_dir():
            is_read_only = os.statvfs(self.pending).f_flag & os.ST_RDONLY
            number = errno.EROFS if is_read_only else errno.EACCES
            raise OSError(number, os.strerror(number))

    def is_of_one_file(self, error: OSError) -> bool:
        """Whether an error is a single file's and its neighbours can be served, rather than the disk's, the process's
        or, where nothing in the directory may be moved, the whole spool's."""
        if error.errno not in _OF_ONE_FILE:
            return False
        return error.errno not in (errno.EACCES, errno.EPERM) or os.access(self.pending, os.W_OK | os.X_OK)

    def waiting(self) -> list[Waiting]:
        """Return the files that wait, in name order. Links, directories and foreign names are not among them."""
        found = []
        for entry in _entries(self.pending):
            if not entry.name.endswith(WAITING):
                continue
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    found.append(Waiting(entry.name[: -len(WAITING)], status.st_size, status.st_mtime))
        found.sort(key=lambda waiting: waiting.stem)
        return found

    def oddities(self) -> list[str]:
        """Return names that end like handoffs and are no regular files: never opened, never followed."""
        return [
            entry.name
            for entry in _entries(self.pending)
            if entry.name.endswith((WAITING, CLAIMED)) and not entry.is_file(follow_symlinks=False)
        ]

    def claim(self, stem: str) -> bool:
        """Take a waiting handoff; False where another was faster."""
        try:
            os.rename(self._prefix + stem + WAITING, self._prefix + stem + CLAIMED)
        except FileNotFoundError:
            return False
        return True

    def read(self, stem: str) -> bytes:
        """Return a claimed handoff's bytes; a link that took the file's place is not followed."""
        descriptor = os.open(self._prefix + stem + CLAIMED, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            file = os.fdopen(descriptor, "rb")
        except OSError:  # it is a directory
            os.close(descriptor)
            raise
        with file:
            return file.read()

    def give_back(self, stem: str) -> bool:
        """Return a claimed handoff to those that wait; False where it is gone."""
        return _moved(self._prefix + stem + CLAIMED, self._prefix + stem + WAITING)

    def finish(self, stem: str) -> bool:
        """Unlink a claimed handoff whose work is done; False where it is gone."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._prefix + stem + CLAIMED)
            return True
        return False

    def is_held(self, stem: str) -> bool:
        """Whether the claimed file is still there: its writer may have withdrawn it (facts 1.19)."""
        return os.path.lexists(self._prefix + stem + CLAIMED)

    def touch(self, stem: str) -> bool:
        """Beat the heart of a claim; False where it is gone. Another user's file has no heart, and is still there."""
        try:
            os.utime(self._prefix + stem + CLAIMED, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except PermissionError:
            return self.is_held(stem)
        return True

    def bury(self, stem: str, reason: str, detail: str = "", *, suffix: str = CLAIMED) -> bool:
        """Give a handoff up, whole into `dead/`, under its own stem where that is free; False where it is gone."""
        return set_aside(self._prefix + stem + suffix, self.dead, stem, reason, detail)

    def quarantine(self, stem: str, detail: str, *, suffix: str = CLAIMED) -> bool:
        """Set bytes that are no handoff aside, whole; False where they are gone."""
        return set_aside(self._prefix + stem + suffix, self.corrupt, stem, "corrupt", detail)

    def revive(self, stem: str) -> bool:
        """Bring a dead handoff back to wait, with a new age; False where there is none."""
        kept = fitting(stem)
        source = self.dead / (kept + WAITING)
        with contextlib.suppress(FileNotFoundError):
            os.utime(source, follow_symlinks=False)
        if not _moved(source, self._prefix + stem + WAITING):
            return False
        (self.dead / (kept + REASON)).unlink(missing_ok=True)
        return True

    def discard(self, stem: str) -> bool:
        """Delete a dead handoff and its reason, as a person asked; False where there is none."""
        kept = fitting(stem)
        (self.dead / (kept + REASON)).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.dead / (kept + WAITING))
            return True
        return False

    def stale_claims(self, age: Age, *, at_start: bool) -> list[str]:
        """Return the stems of claims nobody works on: in our own spool all of an earlier run at start, in a plugin's
        those untouched for 300 s (CONTRACT "Said precisely"). For one from the future, as after the clock was set back,
        those seconds begin now."""
        stale = []
        for entry in _entries(self.pending):
            if not entry.name.endswith(CLAIMED) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(FileNotFoundError):
                stem, untouched = entry.name[: -len(CLAIMED)], age(entry.stat(follow_symlinks=False).st_mtime)
                if (self.own and at_start) or untouched > STALE_CLAIM_SECONDS:
                    stale.append(stem)
                elif untouched < -STALE_CLAIM_SECONDS:
                    self.touch(stem)
        return stale

    def refresh(self) -> None:
        """Make every waiting and claimed handoff young again: a pause uses up nobody's age (facts 1.28)."""
        for entry in _entries(self.pending):
            if entry.name.endswith((WAITING, CLAIMED)):
                with contextlib.suppress(FileNotFoundError, PermissionError):  # another user's file ages alone
                    os.utime(entry.path, follow_symlinks=False)

    def sweep(self, age: Age) -> int:
        """Delete temporary files whose writer is gone, wherever we or hooks make some; return how many."""
        aside = (self.dead, self.corrupt, *((self.path,) if self.own else ()))
        swept = abandoned_writes.sweep(self.pending, age, is_shared=False)
        return swept + sum(abandoned_writes.sweep(directory, age) for directory in aside)

    def counts(self, age: Age, passed_over: Collection[str] = ()) -> SpoolCounts:
        """Count the files as they are now; what is no regular file is none of them. The oldest is of those whose stem
        is not `passed_over`."""
        pending = running = 0
        oldest = math.inf
        for entry in _entries(self.pending):
            if not entry.name.endswith((WAITING, CLAIMED)) or not entry.is_file(follow_symlinks=False):
                continue
            if entry.name.endswith(CLAIMED):
                running += 1
                continue
            pending += 1
            if entry.name[: -len(WAITING)] not in passed_over:
                with contextlib.suppress(FileNotFoundError):
                    oldest = min(oldest, entry.stat(follow_symlinks=False).st_mtime)
        dead = sum(1 for entry in _entries(self.dead) if _is_letter(entry.name))
        corrupt = sum(1 for entry in _entries(self.corrupt) if not entry.name.endswith((REASON, WRITING)))
        return SpoolCounts(pending, running, dead, corrupt, 0.0 if oldest == math.inf else max(0.0, age(oldest)))

    def dead_letters(self) -> dict[str, str]:
        """Return the stems of given-up handoffs with their reasons."""
        letters = {}
        for entry in _entries(self.dead):
            if _is_letter(entry.name):
                stem = entry.name[: -len(WAITING)]
                letters[stem] = _reason(self.dead / (stem + REASON))
        return letters


def _entries(directory: Path) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except FileNotFoundError:
        return


def _moved(source: str | Path, target: str | Path) -> bool:
    try:
        os.rename(source, target)
    except FileNotFoundError:
        return False
    return True


def _is_letter(name: str) -> bool:
    return name.endswith(WAITING) and not name.endswith(REASON)


def _reason(path: Path) -> str:
    try:
        return str(regular_file.document(path, MAX_REASON_BYTES, follow=False).get("reason", ""))
    except (OSError, ValueError, AttributeError):
        return ""
