"""What was forgotten, remembered as hashes with a time, and which requests are not finished yet.

A tombstone is written before anything is deleted. So whatever happens between, what was captured before comes in no
more, and the next start finishes the deletion.
"""

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daemon.forgetting.target import MEMORY, PROJECT, SESSION, Target
from memsyncd import regular_file
from memsyncd.scope.remote import shared_ids

NAME = "forgotten.json"
VERSION = 1
MAX_BYTES = 64 << 20

MAX_TOMBSTONES = 10_000
"""The oldest go first. Each event forgotten is known by itself too (memsyncd/evidence/deleting.py)."""

_NAMED = "named"
"""A project by the names that its memories bear: they do not tell the repository."""


@dataclass(frozen=True, slots=True)
class _State:
    stones: dict[str, float]
    unfinished: Sequence[Target]


class UnreadableTombstones(OSError):
    """Nobody knows what was forgotten, so nothing is taken in before somebody has looked. `why` is said of `path`."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}; `memsyncd doctor` says what to do")
        self.path = path
        self.why = why


class NewerTombstones(UnreadableTombstones):
    """A newer version wrote the file."""


class Tombstones:
    """The file of one data directory, written by the daemon or, while none runs, by who holds its lock.

    Safe from any thread. Reading raises UnreadableTombstones, writing OSError too.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / NAME
        self._lock = threading.Lock()
        self._known: tuple[object, _State] | None = None

    def add(self, target: Target) -> None:
        """Remember a request, on the disk before this returns."""
        with self._lock:
            state = self._read()
            stones = dict(state.stones)
            for name in _names(target):
                stones[name] = max(target.at, stones.get(name, target.at))
            newest = dict(sorted(stones.items(), key=lambda each: each[1])[-MAX_TOMBSTONES:])
            others = [each for each in state.unfinished if each.key != target.key]
            self._write(_State(newest, [*others, target]))

    def finish(self, target: Target) -> None:
        """Note that all local copies are gone, for earlier requests of the same too; the plain names go with that."""
        with self._lock:
            state = self._read()
            left = [each for each in state.unfinished if not _is_done(each, target)]
            self._write(_State(state.stones, left))

    def unfinished(self) -> Sequence[Target]:
        """Return the requests that were cut off."""
        with self._lock:
            return self._read().unfinished

    def covers(self, *, session_id: str, repo_id: str, captured_at: float) -> bool:
        """Whether what was captured then, Unix seconds, of a session in a repository was forgotten."""
        with self._lock:
            stones = self._read().stones
        if not stones:
            return False
        names = (_stone(SESSION, session_id), _stone(PROJECT, repo_id))
        return any(captured_at <= stones.get(name, float("-inf")) for name in names)

    def covers_memory(self, memory_id: str) -> bool:
        """Whether a memory of this id was forgotten."""
        with self._lock:
            stones = self._read().stones
        return bool(stones) and _stone(MEMORY, memory_id) in stones

    def covers_made(self, *, session_id: str, app_id: str, project_id: str, made_at: float) -> bool:
        """Whether a memory made then, Unix seconds, in a session of a project (by the names that memories bear) was
        forgotten with one of them."""
        with self._lock:
            stones = self._read().stones
        if not stones:
            return False
        names = (_stone(SESSION, session_id), _stone(_NAMED, f"{app_id}\0{project_id}"))
        return any(made_at <= stones.get(name, float("-inf")) for name in names)

    def _read(self) -> _State:
        stamp = regular_file.stamp(self._path)
        if self._known is None or self._known[0] != stamp:
            self._known = (stamp, _state(self._path))
        return self._known[1]

    def _write(self, state: _State) -> None:
        document = {
            "v": VERSION,
            "tombstones": state.stones,
            "unfinished": [target.document() for target in state.unfinished],
        }
        temporary = self._path.with_name(f".{NAME}.{os.getpid()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="ascii") as file:
                json.dump(document, file)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, self._path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()  # it holds names
            raise
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        self._known = None


def _is_done(request: Target, done: Target) -> bool:
    """Whether the second makes the first needless: the same, asked for later, and no narrower on the platform."""
    is_same = (request.kind, request.name) == (done.kind, done.name) and request.at <= done.at
    return request.key == done.key or (is_same and request.remote <= done.remote and request.shared <= done.shared)


def _names(target: Target) -> Sequence[str]:
    stone = _stone(target.kind, target.name)
    if target.kind != PROJECT:
        return (stone,)
    owners = (*shared_ids(target.app_id, target.project_id, target.repo_id), "")  # a person's may tell the app alone
    return (stone, *(_stone(_NAMED, f"{target.app_id}\0{owner}") for owner in owners))


def _stone(kind: str, name: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _state(path: Path) -> _State:
    try:
        return _parsed(path, regular_file.document(path, MAX_BYTES))
    except FileNotFoundError:
        return _State({}, ())
    except UnreadableTombstones:
        raise
    except OSError as error:
        raise UnreadableTombstones(path, f"cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableTombstones(path, "is damaged") from error


def _parsed(path: Path, document: Any) -> _State:
    version = int(document["v"])
    if version > VERSION:
        raise NewerTombstones(path, "is of a newer version")
    if version != VERSION:
        raise ValueError("no version that there ever was")
    stones = {str(name): float(at) for name, at in document["tombstones"].items()}
    return _State(stones, [Target.of(each) for each in document["unfinished"]])
