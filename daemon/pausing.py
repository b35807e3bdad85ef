"""Pauses of everything or of one project, kept in files, so that they hold with the daemon and without it.

The marker `paused` in the data directory says that everything is paused, and hooks look at nothing else; `pauses.json`
beside it holds when a pause ends, and which projects are paused. A marker with content ends at its mtime.
"""

import contextlib
import fcntl
import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from daemon import private_directory
from daemon.intake.spool import Spool
from daemon.pause_state import Moment, Pause, PausedProject, PauseState, encoded, read
from memsyncd import regular_file
from memsyncd.clock import rfc3339

MARKER = "paused"
ENDED = "resumed"
"""A spool's marker after its pause, until ingest has seen it: what was said in the pause is in transcripts still."""

STATE = "pauses.json"
_NOTHING = PauseState()


@functools.cache
def _boot_id() -> str:
    """Return the name of this boot, which outlives no process; empty where the system tells none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        return ""


def system_moment() -> Moment:
    """Return now as the system tells it."""
    boot = _boot_id()
    if not boot:
        return Moment(time.time())
    try:
        return Moment(time.time(), boot, time.clock_gettime(time.CLOCK_BOOTTIME))
    except (OSError, AttributeError):
        return Moment(time.time())


class Pauses:
    """The files of one data directory. Safe from any thread and beside other processes. Raises OSError where the
    files cannot be written; reading raises nothing."""

    def __init__(self, data: Path, now: Callable[[], Moment] = system_moment) -> None:
        self._data = data
        self._marker = data / MARKER
        self._path = data / STATE
        self._now = now
        self._lock = threading.Lock()
        self._known: tuple[object, PauseState] = (None, PauseState())

    def state(self) -> PauseState:
        """Return what holds now, without what is over; read anew when the file has changed."""
        stamp = _stamp(self._path)
        with self._lock:
            if stamp != self._known[0]:
                self._known = (stamp, read(self._path))
            state = self._known[1]
        if state == _NOTHING and not os.path.exists(self._marker):
            return state
        now = self._now()
        everything = state.everything if self._marker_holds(state, now) else None
        if everything is None and self._marker_holds(state, now):
            everything = Pause(now.wall)
        return replace(
            state, everything=everything, projects=[each for each in state.projects if not each.pause.is_over(now)]
        )

    @property
    def is_paused(self) -> bool:
        """Whether everything is paused."""
        return self.state().is_paused

    def project(self, repo_id: str, directory: str = "") -> PausedProject | None:
        """Return the pause of a project, told by its identity or by a real path in its working tree."""
        return self.state().project(repo_id, directory)

    def pause(self, seconds: float | None) -> bool:
        """Pause everything; False where it is so already, and without an end."""
        with self._changing() as state:
            now = self._now()
            if seconds is None and self._marker_holds(state, now) and _is_endless(state.everything):
                self._mark_spools(None)
                return False
            everything = Pause(now.wall, seconds, now.boot, now.up)
            self._write(PauseState(everything, state.projects))
            _mark(self._marker, everything)
            self._mark_spools(everything)
            return True

    def pause_project(self, repo_id: str, root: str, seconds: float | None) -> bool:
        """Pause one project; False where it is so already, and without an end."""
        with self._changing() as state:
            now = self._now()
            others = [each for each in state.projects if each.repo_id != repo_id]
            known = next((each for each in state.projects if each.repo_id == repo_id), None)
            if seconds is None and known is not None and known.pause.seconds is None:
                return False
            project = PausedProject(repo_id, root, Pause(now.wall, seconds, now.boot, now.up))
            self._write(replace(state, projects=[*others, project], unreadable=False))
            return True

    def resume(self, spools: Iterable[Spool]) -> bool:
        """End the pause of everything; False where there was none. The pauses of projects stay. What waits in the
        `spools` is young again, for nothing grows old in a pause."""
        with self._changing() as state:
            was = os.path.exists(self._marker) or state.everything is not None or state.unreadable
            self._end(state, spools)
            return was

    def resume_project(self, repo_id: str) -> bool:
        """End the pause of a project; False where there was none."""
        with self._changing() as state:
            left = [each for each in state.projects if each.repo_id != repo_id]
            if len(left) == len(state.projects):
                return False
            self._write(replace(state, projects=left))
            return True

    def settle(self, spools: Iterable[Spool]) -> bool:
        """End what is over, and mark the spools that are new in a pause; tell whether a pause ended.

        Cheap while nothing is paused.
        """
        marked = os.path.exists(self._marker)
        if not marked and not os.path.exists(self._path):
            return False
        with self._changing() as found:
            now = self._now()
            if found.unreadable:
                return False
            state = replace(found, projects=[each for each in found.projects if not each.pause.is_over(now)])
            ended = len(state.projects) < len(found.projects)
            if self._marker_holds(state, now):
                self._mark_spools(state.everything)
            elif marked or state.everything is not None:
                self._end(state, spools)
                return True
            if ended:
                self._write(state)
            return ended

    def _marker_holds(self, state: PauseState, now: Moment) -> bool:
        if not os.path.exists(self._marker):
            return False
        return state.everything is None or not state.everything.is_over(now)

    def _end(self, state: PauseState, spools: Iterable[Spool]) -> None:
        """Remove the data directory's marker after those of the spools: a crash in between leaves all paused."""
        for spool in spools:
            with contextlib.suppress(OSError):
                spool.refresh()
        for directory in self._spool_directories():
            with contextlib.suppress(FileNotFoundError):
                os.replace(directory / MARKER, directory / ENDED)
        self._marker.unlink(missing_ok=True)
        self._write(PauseState(None, state.projects))

    def _mark_spools(self, pause: Pause | None) -> None:
        for directory in self._spool_directories():
            with contextlib.suppress(OSError):  # one that cannot be written is told of by `status`
                _mark(directory / MARKER, pause)

    def _spool_directories(self) -> list[Path]:
        try:
            with os.scandir(self._data / "spools") as entries:
                return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            return []

    @contextlib.contextmanager
    def _changing(self) -> Iterator[PauseState]:
        """Give the state as it is on the disk, while no other process changes it."""
        spools = self._data / "spools"
        private_directory.create(spools)
        directory = os.open(spools, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):  # some network file systems lock no directory: a rename is whole anyway
                fcntl.flock(directory, fcntl.LOCK_EX)
            yield read(self._path)
        finally:
            os.close(directory)

    def _write(self, state: PauseState) -> None:
        if state.everything is None and not state.projects:
            self._path.unlink(missing_ok=True)
            return
        _write_private(self._path, encoded(state))


def _is_endless(pause: Pause | None) -> bool:
    return pause is None or pause.seconds is None


def _mark(marker: Path, pause: Pause | None) -> None:
    """Make a marker: empty without an end, else with a line, its mtime being the end."""
    until = None if pause is None else pause.until
    if until is None:
        if not marker.exists() or marker.stat().st_size:
            _write_private(marker, b"")
        return
    content = f"until {rfc3339(until)}\n".encode()
    if not marker.exists() or regular_file.content(marker, len(content) + 1) != content:
        _write_private(marker, content, touched_at=until)


def _write_private(path: Path, content: bytes, touched_at: float | None = None) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            if touched_at is not None:
                os.utime(file.fileno(), (touched_at, touched_at))
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _stamp(path: Path) -> object:
    try:
        found = os.stat(path)  # for every handoff: a Path's own takes twice as long
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino, found.st_size
