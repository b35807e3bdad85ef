"""The one gate for pause and exclusion: asked before anything is captured, sent or recalled (never-again 74, 75)."""

import fnmatch
import os
from collections.abc import Sequence
from pathlib import Path

from memsyncd.evidence.event import Scope


class Gate:
    """`patterns` are paths and globs with `~` resolved; `**` reaches below. Both spellings of a path are compared: as
    given and with links resolved."""

    def __init__(self, patterns: Sequence[str], paused_marker: Path) -> None:
        self._patterns = [spelling for pattern in patterns for spelling in _spellings(pattern)]
        self._paused_marker = paused_marker

    @property
    def is_paused(self) -> bool:
        """Whether the user paused everything."""
        return self._paused_marker.exists()

    def is_excluded(self, directory: str) -> bool:
        """Whether a directory is in a project that is never captured, sent or recalled for."""
        if not directory or not self._patterns:
            return False
        return any(_matches(pattern, spelling) for pattern in self._patterns for spelling in _spellings(directory))

    def hold(self, scope: Scope) -> str | None:
        """Return why a scope is not delivered at present, or None."""
        if self.is_paused:
            return "paused"
        if self.is_excluded(os.path.join(scope.root, scope.directory) if scope.root else ""):
            return "its project is excluded"
        return None


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
