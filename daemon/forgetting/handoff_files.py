"""What of a target lies in a spool's files: handoffs that wait, were given up or set aside, and damaged evidence."""

import contextlib
import mmap
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from daemon.forgetting.target import PROJECT, Target
from daemon.intake.document import MAX_BYTES, TornError, handoff_from
from daemon.intake.set_aside import REASON
from daemon.intake.spool import CLAIMED, WAITING, Spool
from memsyncd.clock import from_rfc3339
from memsyncd.damaged_file import MARK
from memsyncd.evidence.event import Scope
from memsyncd.hooks.adapters import directory_of, session_of
from memsyncd.hooks.handoff import NotAHandoffError

ABANDONED_SECONDS = 60.0
"""A `.tmp` untouched for longer is of a hook that died: a living one writes for milliseconds."""


@dataclass(frozen=True)
class HandoffFiles:
    """Works on one spool. `sessions` are those of the target, `resolve` tells a directory's scope. With `claims`, the
    claimed files are nobody's: no daemon runs. Raises OSError where a directory cannot be read."""

    target: Target
    sessions: Collection[str]
    resolve: Callable[[str], Scope]
    now: float
    claims: bool = False
    _scopes: dict[str, str] = field(default_factory=dict)

    def delete(self, spool: Spool, *, only_count: bool = False) -> dict[str, int]:
        """Delete what belongs to the target; return how many by kind."""
        found = {"handoffs": self._pending(spool), "dead_letters": self._kept(spool.dead)}
        found |= {"set_aside": self._kept(spool.corrupt)}
        found |= {"damaged_stores": self._copies(spool.evidence) if spool.own else iter(())}
        return _gone(found, only_count=only_count)

    def delete_copies(self, store: Path, *, only_count: bool = False) -> dict[str, int]:
        """Delete the damaged copies beside a store that name the target; return how many, by kind."""
        return _gone({"damaged_stores": self._copies(store)}, only_count=only_count)

    def belongs(self, content: bytes) -> bool:
        """Whether a file's content is the target's: by its session and directory, or, where it cannot be parsed or
        names neither, by the ids and paths in it. What was captured after the request is not."""
        try:
            handoff = handoff_from(content, stem="")
        except (TornError, NotAHandoffError):
            return self._is_named_in(content)
        captured = from_rfc3339(handoff.captured_at)
        if captured is not None and captured > self.target.at:
            return False
        session, directory = session_of(handoff), directory_of(handoff)
        if session in self.sessions:
            return True
        if self.target.kind == PROJECT and directory:
            if directory not in self._scopes:
                self._scopes[directory] = self.resolve(directory).repo_id
            return self._scopes[directory] == self.target.repo_id
        return False

    def _is_named_in(self, content: "bytes | mmap.mmap") -> bool:
        return any(content.find(word) >= 0 for word in self.target.words())

    def _pending(self, spool: Spool) -> Iterator[Callable[[], bool]]:
        for path in _files(spool.pending):
            if path.suffix == WAITING and self._is_of(path):
                yield partial(_taken, spool, path.stem)
            elif path.suffix == CLAIMED and self.claims and spool.own and self._is_of(path):
                yield partial(spool.finish, path.stem)
            elif path.suffix == ".tmp" and self._is_abandoned(path) and self._is_of(path):
                yield partial(_unlinked, path)

    def _kept(self, directory: Path) -> Iterator[Callable[[], bool]]:
        for path in _files(directory):
            if not path.name.endswith(REASON) and self._is_of(path):
                yield partial(_unlinked, path, path.with_name(path.name.removesuffix(WAITING) + REASON))

    def _copies(self, store: Path) -> Iterator[Callable[[], bool]]:
        """Yield the copies of a damaged store that name the target: nobody can clean them, so they go whole."""
        for path in _files(store.parent):
            if path.name.startswith(f"{store.name}{MARK}") and self._is_in(path):
                yield partial(_unlinked, path)

    def _is_of(self, path: Path) -> bool:
        content = _read(path)
        return content is not None and self.belongs(content)

    def _is_in(self, path: Path) -> bool:
        try:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return self._is_named_in(content)
        except (OSError, ValueError):  # an empty file cannot be mapped
            return False

    def _is_abandoned(self, path: Path) -> bool:
        with contextlib.suppress(OSError):
            return self.now - path.lstat().st_mtime > ABANDONED_SECONDS
        return False


def _gone(found: Mapping[str, Iterator[Callable[[], bool]]], *, only_count: bool) -> dict[str, int]:
    counts = {}
    for kind, entries in found.items():
        number = 0
        for delete in entries:
            number += True if only_count else delete()
        if number:
            counts[kind] = number
    return counts


def _files(directory: Path) -> list[Path]:
    try:
        with os.scandir(directory) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False))
    except FileNotFoundError:
        return []


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return None
        return file.read()


def _taken(spool: Spool, stem: str) -> bool:
    """Delete a waiting handoff; False where the ingest was faster, which knows the tombstone."""
    return spool.claim(stem) and spool.finish(stem)


def _unlinked(path: Path, reason: Path | None = None) -> bool:
    if reason is not None:
        reason.unlink(missing_ok=True)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
