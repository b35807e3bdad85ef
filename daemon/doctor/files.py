"""The files without which no daemon starts: whether whoever asks could use them, whatever is in them."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.directories import account
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from memsyncd.damaged_file import COMPANIONS


@dataclass(frozen=True, slots=True)
class File:
    """What lies at a path; `mode` and `uid` are of what a link leads to, `mode` is None where that is nothing, and
    `is_kind` tells whether it is what belongs there."""

    path: str
    mode: int | None
    uid: int = 0
    is_kind: bool = True


def probes(examined: Examination) -> list[Probe]:
    """Return the check."""
    return [Probe("files", lambda: _files(examined))]


def files(found: Sequence[File], uid: int) -> Check:
    """Judge whether each is what belongs there and the asker's. Modes are no matter: the daemon opens to itself what is
    its own."""
    for file in found:
        away = f"`ls -l {quote(file.path)}` shows it; `mv {quote(file.path)} {quote(file.path)}.old` moves it away."
        if file.mode is None:
            return failed("files", f"{file.path} is a link into nothing, and no daemon starts with it", away)
        if not file.is_kind:
            return failed("files", f"{file.path} is in the way, for it is not what the daemon makes there", away)
        if uid not in (file.uid, 0):
            told = f"{file.path} belongs to {account(file.uid)}, and you are {account(uid)}"
            return failed("files", told, f"Make it yours: `sudo chown {uid} {quote(file.path)}`.")
    if not found:
        return unchecked("files", "there are none yet")
    return passed("files", f"{len(found)} databases and others that a start needs can be used by you")


def _files(examined: Examination) -> Check:
    if examined.is_another_s:
        return unchecked("files", f"{examined.places.data} is another user's")
    return files(list(_found(examined)), examined.uid)


def _found(examined: Examination) -> Iterator[File]:
    places = examined.places
    stores = [places.queue_file, places.memory_file, *(spool.evidence for spool in examined.spools if spool.own)]
    for path in (Path(f"{store}{suffix}") for store in stores for suffix in ("", *COMPANIONS)):
        yield from _at(path, stat.S_ISREG)
    yield from _at(places.nudge, stat.S_ISFIFO, is_linked=False)
    yield from _at(places.lock_file, lambda _: True, is_linked=False)  # whose kind `lock` judges


def _at(path: Path, is_kind: Callable[[int], bool], *, is_linked: bool = True) -> Iterator[File]:
    """Yield what lies there, if anything does. `is_linked`: a link to such a file is one too."""
    if not os.path.lexists(path):
        return
    try:
        found = path.stat() if is_linked else path.lstat()
    except FileNotFoundError:
        yield File(str(path), None)
    else:
        yield File(str(path), found.st_mode, found.st_uid, is_kind(found.st_mode))
