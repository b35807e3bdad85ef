"""Pauses of everything or of one project, kept in files, so that they hold with the daemon and without it.

The marker `paused` in the data directory says that everything is paused, and hooks look at nothing else; `pauses.json`
beside it holds when a pause ends, and which projects are paused, `pauses-ended.json` when they were. A marker with
content ends at its mtime.
"""

import contextlib
import fcntl
import functools
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from daemon import ended_pauses, pause_state, private_directory
from daemon.ended_pauses import EndedPause
from daemon.intake.spool import Spool
from daemon.pause_files import mark, write_private
from daemon.pause_spans import Span, closed_spans, open_span
from daemon.pause_state import Moment, Pause, PausedProject, PauseState, encoded, is_of_project
from memsyncd import regular_file

MARKER = "paused"
ENDED = "resumed"
"""A spool's marker after its pause, until ingest has seen it: what was said in the pause is in transcripts still."""

STATE = "pauses.json"
_NOTHING = PauseState()


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """What the files hold, be it over or not."""

    state: PauseState = _NOTHING
    ended: Sequence[EndedPause] = ()


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
        self._ended_path = data / ended_pauses.NAME
        self._lock = threading.Lock()
        self._known: tuple[object, _OnDisk] = (None, _OnDisk())

    def state(self) -> PauseState:
        """Return what holds now, without what is over; read anew when a file has changed."""
        state = self._on_disk().state
        if state == _NOTHING and not os.path.exists(self._marker):
            return state
        now = self._now()
        projects = [each for each in state.projects if not each.pause.is_over(now)]
        return replace(state, everything=self._everything(state, now), projects=projects)

    def spans(self, names: Callable[[], tuple[str, Collection[str]]]) -> Sequence[Span]:
        """Return when, by the wall clock, a project is or was paused by itself. `names` gives its identity and real
        paths in its working tree; it is asked where there is any pause to compare."""
        found = self._on_disk()
        if not found.state.projects and not found.ended:
            return ()
        now = self._now()
        repo_id, directories = names()

        def is_asked(each: PausedProject | EndedPause) -> bool:
            return any(is_of_project((each.repo_id, each.root), repo_id, directory) for directory in directories)

        spans = [span for each in found.ended if is_asked(each) for span in each.spans]
        for each in filter(is_asked, found.state.projects):
            is_over = each.pause.is_over(now)
            spans += closed_spans(each.pause, now) if is_over else [open_span(each.pause, now)]
        return spans

    def _on_disk(self) -> "_OnDisk":
        stamps = regular_file.stamp(self._path), regular_file.stamp(self._ended_path)
        with self._lock:
            if stamps != self._known[0]:
                self._known = (stamps, self._read())
            return self._known[1]

    def _read(self) -> "_OnDisk":
        state, ended = pause_state.read(self._path), ended_pauses.read(self._ended_path)
        return _OnDisk(state if ended is not None else replace(state, unreadable=True), ended or ())

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
            known = self._everything(state, now)
            if seconds is None and known is not None and known.seconds is None:
                self._mark_spools(None)
                return False
            everything = Pause(now.wall, seconds, now.boot, now.up)
            self._write(PauseState(everything, state.projects))
            mark(self._marker, everything)
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
            self._keep_ended([known] if known is not None else [], now)
            self._write(replace(state, projects=[*others, project], unreadable=False))
            return True

    def resume(self, spools: Iterable[Spool]) -> bool:
        """End the pause of everything, or of spools alone; False where there was none. The pauses of projects stay.
        What waits in the `spools` is young again, for nothing grows old in a pause."""
        with self._changing() as state:
            was = os.path.exists(self._marker) or state.everything is not None or state.unreadable
            was = was or bool(self.paused_alone())
            self._end(state, spools)
            return was

    def resume_project(self, repo_id: str) -> bool:
        """End the pause of a project; False where there was none."""
        with self._changing() as state:
            ended = [each for each in state.projects if each.repo_id == repo_id]
            if not ended:
                return False
            self._keep_ended(ended, self._now())
            self._write(replace(state, projects=[each for each in state.projects if each.repo_id != repo_id]))
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
            over = [each for each in found.projects if each.pause.is_over(now)]
            if over:
                self._keep_ended(over, now)
            state = replace(found, projects=[each for each in found.projects if each not in over])
            everything = self._everything(state, now)
            if everything is None and (marked or state.everything is not None):
                self._end(state, spools)
                return True
            if everything is not None:
                self._mark_spools(everything)
            if over or everything != state.everything:  # what a person has made is known, so that its removal is seen
                self._write(replace(state, everything=everything))
            return bool(over)

    def paused_alone(self) -> list[str]:
        """Return the spools of ours that have a marker while not all is paused."""
        if os.path.exists(self._marker):
            return []
        return [each.name for each in self._spool_directories() if os.path.lexists(each / MARKER)]

    def _everything(self, state: PauseState, now: Moment) -> Pause | None:
        """Return the pause of everything; None without its marker. One that a person made is as the marker says."""
        try:
            marker = os.stat(self._marker)
        except OSError:
            return None
        pause = state.everything
        if pause is None:
            lasting = marker.st_mtime - now.wall if marker.st_size else None
            pause = Pause(now.wall, lasting, now.boot, now.up)
        return None if pause.is_over(now) else pause

    def _keep_ended(self, projects: Sequence[PausedProject], now: Moment) -> None:
        """Write down when projects were paused, before their pauses are taken away: what was dropped in between and
        waits is discarded all the same."""
        ended = [EndedPause(each.repo_id, each.root, closed_spans(each.pause, now)) for each in projects]
        if ended:
            known = ended_pauses.read(self._ended_path) or ()
            write_private(self._ended_path, ended_pauses.encoded([*known, *ended]))

    def _end(self, state: PauseState, spools: Iterable[Spool]) -> None:
        """Remove the data directory's marker after those of the spools: a crash in between leaves all paused."""
        for spool in spools:
            with contextlib.suppress(OSError):
                spool.refresh()
        for directory in self._spool_directories():
            with contextlib.suppress(FileNotFoundError):
                os.replace(directory / MARKER, directory / ENDED)
        self._marker.unlink(missing_ok=True)
        if ended_pauses.read(self._ended_path) is None:
            self._ended_path.unlink()
        self._write(PauseState(None, state.projects))

    def _mark_spools(self, pause: Pause | None) -> None:
        for directory in self._spool_directories():
            with contextlib.suppress(OSError):  # one that cannot be written is told of by `status`
                mark(directory / MARKER, pause)

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
            yield self._read().state
        finally:
            os.close(directory)

    def _write(self, state: PauseState) -> None:
        if state.everything is None and not state.projects:
            self._path.unlink(missing_ok=True)
            return
        write_private(self._path, encoded(state))
