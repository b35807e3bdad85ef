"""Where a session's transcript lies, and what is opened there: a regular file of the user's own, in its place."""

import glob
import hashlib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsyncd.transcripts.errors import TranscriptMissing, TranscriptRefused, TranscriptUnreadable
from memsyncd.transcripts.sources import Source

MAX_PATH = 4096
HEAD_BYTES = 1024
"""The first bytes of a file by which it is known, beside its inode: a new file may get an old one's number."""

_PLAIN_SESSION = re.compile(r"[A-Za-z0-9._-]{1,200}")


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened transcript; whoever opened it closes `descriptor`."""

    descriptor: int
    path: str
    device: int
    inode: int
    size: int


@dataclass(frozen=True, slots=True)
class Around:
    """Where transcripts lie: in the user's `home`, or where a harness was `moved` to, "" for nowhere."""

    home: Path
    moved: str = ""

    def directory(self, source: Source) -> Path:
        """Return the directory of the harness's own."""
        return Path(self.moved) if os.path.isabs(self.moved) else self.home / source.directory

    def roots(self, source: Source) -> Sequence[Path]:
        """Return the directories below which a transcript may lie. The harness's own may be a link to elsewhere."""
        return self.home, self.directory(source)


def path_of(source: Source, hook_input: Mapping[str, Any], session_id: str, around: Around) -> str:
    """Return where a session's transcript lies, empty where nothing tells."""
    for key in source.path_keys:
        named = hook_input.get(key)
        if isinstance(named, str) and named:
            return str(around.home / named[2:]) if named.startswith("~/") else named
    if not _PLAIN_SESSION.fullmatch(session_id) or session_id in (".", ".."):
        return ""
    places = [(around.directory(source), place) for place in source.places]
    places += [(around.home, place) for place in source.older_places]
    found: list[Path] = [
        root / name for root, place in places for name in glob.iglob(place.format(session=session_id), root_dir=root)
    ]
    return str(max(found, key=_changed_at)) if found else ""


def open_transcript(path: str, *, below: Sequence[Path], owner: int) -> Opened:
    """Open a transcript for reading. `below` are the directories it may lie in, `owner` the one user it may belong to.

    A link in the file's place is not followed and a pipe is not waited for; the directories above may be links as long
    as they lead to the right place. Raises TranscriptUnreadable.
    """
    if not path:
        raise TranscriptMissing("no path is known")
    if len(path) > MAX_PATH or "\0" in path or not os.path.isabs(path):
        raise TranscriptRefused("its path is no absolute path")
    directory, name = os.path.split(path)
    real = os.path.join(os.path.realpath(directory), name)
    if name in ("", ".", "..") or not any(_is_below(real, os.path.realpath(place)) for place in below):
        raise TranscriptRefused("it lies outside the user's home and the harness's directories")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise TranscriptMissing("nothing is there") from error
    except OSError as error:
        raise TranscriptRefused(error.strerror or type(error).__name__) from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != owner:
        os.close(descriptor)
        raise TranscriptRefused("it is no regular file" if found.st_uid == owner else "it belongs to another user")
    return Opened(descriptor, path, found.st_dev, found.st_ino, found.st_size)


def head_digest(opened: Opened, size: int) -> str:
    """Return the digest of a file's first `size` bytes. Raises TranscriptUnreadable."""
    return hashlib.sha256(read_at(opened, 0, size)).hexdigest()[:32]


def read_at(opened: Opened, offset: int, size: int) -> bytes:
    """Return up to `size` bytes at `offset`. Raises TranscriptUnreadable."""
    try:
        return os.pread(opened.descriptor, size, offset)
    except OSError as error:
        raise TranscriptUnreadable(error.strerror or type(error).__name__) from error


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip("/") + "/")


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
