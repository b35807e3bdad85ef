"""The one gate for pause and exclusion: asked before anything is captured, sent or recalled (never-again 74, 75)."""

import fnmatch
import os
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from daemon.pause_spans import Span
from daemon.pausing import Pauses
from memsyncd.evidence.event import Scope

IGNORE_MARKER = ".memsyncd-ignore"
"""A file of this name, in a directory or in one above it up to the repository's root, excludes the directory."""

SAME_LOOK_SECONDS = 0.1
"""So long a look at a directory holds: a backlog's files come in hundreds from one directory, and a look at each costs
as much as taking it in."""

LOOKS_KEPT = 1_000

PAUSED = "paused"
PROJECT_PAUSED = "its project is paused"
EXCLUDED = "its project is excluded"

HELD = frozenset({PAUSED, PROJECT_PAUSED, EXCLUDED})
"""Why something is held; the reasons of jobs that wait for it."""

_ENDS = {
    PAUSED: "`memsyncd resume` ends that",
    PROJECT_PAUSED: "`memsyncd resume --project DIR` ends that",
    EXCLUDED: f"`exclude` in the settings or a file {IGNORE_MARKER} says so",
}


def no_search(held: str) -> str:
    """Return the sentence for whoever searches where it is `held`, with what to do about it."""
    return f"No search here: {held} ({_ENDS[held]})."


class Gate:
    """`patterns` are paths and globs with `~` resolved; `**` reaches below. Both spellings of a path are compared: as
    given and with links resolved. `resolve` tells a directory's project, for those that are paused; without it they
    are told by their working tree alone. Safe from any thread."""

    def __init__(
        self,
        patterns: Sequence[str],
        paused_marker: Path,
        resolve: Callable[[str], Scope] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patterns = [spelling for pattern in patterns for spelling in _spellings(pattern)]
        self._resolve = resolve
        self._monotonic = monotonic
        self._looked: dict[str, tuple[float, bool]] = {}
        self.pauses = Pauses(paused_marker.parent)

    @property
    def is_paused(self) -> bool:
        """Whether the user paused everything."""
        return self.pauses.is_paused

    def is_excluded(self, directory: str) -> bool:
        """Whether a directory is in a project that is never captured, sent or recalled for."""
        if not directory:
            return False
        now = self._monotonic()
        known = self._looked.get(directory)
        if known is None or not 0.0 <= now - known[0] < SAME_LOOK_SECONDS:
            if len(self._looked) >= LOOKS_KEPT:
                self._looked.clear()
            known = self._looked[directory] = (now, self._look(directory))
        return known[1]

    def _look(self, directory: str) -> bool:
        spellings = _spellings(directory)
        if any(_matches(pattern, spelling) for pattern in self._patterns for spelling in spellings):
            return True
        return any(_has_marker(spelling) for spelling in spellings)

    def is_project_paused(self, directory: str) -> bool:
        """Whether a directory is of a project that is paused by itself."""
        if not directory or not self.pauses.state().projects:
            return False
        repo_id = self._resolve(directory).repo_id if self._resolve is not None else ""
        return any(self.pauses.project(repo_id, spelling) is not None for spelling in _spellings(directory))

    def pauses_of(self, directory: str) -> Sequence[Span]:
        """Return when, by the wall clock, the project of a directory is or was paused by itself: what its hooks tell of
        that time is discarded, whenever it is looked at. Everything's pause discards nothing: hooks drop nothing then,
        and what they dropped before waits."""
        if not directory:
            return ()

        def names() -> tuple[str, Collection[str]]:
            return (self._resolve(directory).repo_id if self._resolve is not None else ""), _spellings(directory)

        return self.pauses.spans(names)

    def hold_directory(self, directory: str) -> str | None:
        """Return why nothing is searched or recalled for a directory at present, or None."""
        if self.is_paused:
            return PAUSED
        if self.is_excluded(directory):
            return EXCLUDED
        return PROJECT_PAUSED if self.is_project_paused(directory) else None

    def hold(self, scope: Scope) -> str | None:
        """Return why a scope is not delivered at present, or None."""
        state = self.pauses.state()
        if state.is_paused:
            return PAUSED
        directory = os.path.join(scope.root, scope.directory) if scope.root else ""
        if self.is_excluded(directory):
            return EXCLUDED
        return PROJECT_PAUSED if state.project(scope.repo_id, directory) is not None else None


def _has_marker(directory: str) -> bool:
    """Whether the marker lies in a directory or above it, no further than the repository's root. Only real paths."""
    place = directory
    while os.path.isabs(place):
        try:
            if os.path.lexists(os.path.join(place, IGNORE_MARKER)):
                return True
            if os.path.lexists(os.path.join(place, ".git")):
                return False
        except ValueError:  # a NUL, which is in no real path
            return False
        above = os.path.dirname(place)
        if above == place:
            return False
        place = above
    return False


def _spellings(path: str) -> set[str]:
    plain = path.rstrip("/") or "/"
    fixed, star, rest = plain.partition("*")
    head, _, tail = fixed.rpartition("/") if star else (plain, "", "")
    try:
        resolved = os.path.realpath(head or "/")
    except ValueError:  # a NUL, which is in no real path
        return {plain}
    return {plain, os.path.join(resolved, tail + star + rest) if star else resolved}


def _matches(pattern: str, path: str) -> bool:
    """Whether a path is what the pattern names, or lies below it, part by part."""
    if "*" not in pattern and "?" not in pattern and "[" not in pattern:
        return path == pattern or path.startswith(pattern.rstrip("/") + "/")
    below = pattern.removesuffix("/**")
    parts = path.split("/")
    return any(fnmatch.fnmatchcase("/".join(parts[:count]), below) for count in range(2, len(parts) + 1)) and (
        "/" not in below or below.count("/") <= path.count("/")
    )
