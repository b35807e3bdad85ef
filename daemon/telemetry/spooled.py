"""What lies in the telemetry spools, by looking only: counted for a status, read for `telemetry show`, or discarded."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.intake.spool import Spool

LIVE = "telemetry.jsonl"
CLAIM, CLAIMED = "telemetry-", ".sending"
DROPPED = "telemetry-dropped"
"""One byte for each event that was dropped; the file's size is their number."""

OURS = ("telemetry.", "telemetry-")
"""How the name of every file of telemetry's begins."""

READ_BYTES = 8 * 1024 * 1024
"""What is larger is no spool, and is set aside unsent (memsyncd.telemetry.claim_file)."""

SET_ASIDE = (".corrupt", ".rejected", ".expired")


@dataclass(frozen=True, slots=True)
class Spooled:
    """Events that wait in all spools together, files that were claimed and not sent whole, events dropped, and files of
    what will not be sent."""

    events: int = 0
    parked: int = 0
    dropped: int = 0
    aside: int = 0


def directories(data: Path, spools: Iterable[Spool]) -> Sequence[Path]:
    """Return where telemetry lies: in the data directory what is about no spool of ours, and in every served spool."""
    return (data, *(spool.path for spool in spools))


def counted(places: Iterable[Path]) -> Spooled:
    """Count what lies in the directories; what cannot be read counts for nothing."""
    events = parked = dropped = aside = 0
    for place in places:
        names = _names(place)
        parked += sum(_is_claim(name) and stat.S_ISREG(_mode(place / name)) for name in names)
        aside += sum(name.endswith(SET_ASIDE) for name in names)
        events += sum(_events(content) for content in _contents(place, names))
        if DROPPED in names:
            with contextlib.suppress(OSError):
                dropped += os.lstat(place / DROPPED).st_size
    return Spooled(events, parked, dropped, aside)


def contents(places: Iterable[Path], has_had_its_time: Callable[[Path], bool] = lambda _: False) -> Iterator[bytes]:
    """Return what the files with events hold, in about the order in which they are sent: of each directory the live
    spool first. A claim that `has_had_its_time` is left out."""
    for place in places:
        yield from _contents(place, [name for name in _names(place) if not has_had_its_time(place / name)])


def discard(places: Iterable[Path]) -> int:
    """Remove every file of telemetry's; return how many were. For our own directories only.

    What remembers which version was told of as installed stays, or a later yes would have it told again.
    """
    found = [(place, name) for place in places for name in _names(place)]
    if not found:
        return 0
    from memsyncd.telemetry import lifecycle  # noqa: PLC0415  (while telemetry is off none of its code is loaded)

    removed = 0
    for place, name in found:
        if not name.startswith((lifecycle.NAME, lifecycle.SENTINEL_PREFIX)):
            with contextlib.suppress(OSError):  # a directory, or no right: nothing of ours
                os.unlink(place / name)
                removed += 1
    return removed


def _names(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return sorted(entry.name for entry in entries if entry.name.startswith(OURS))
    except OSError:
        return []


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _is_claim(name: str) -> bool:
    return name.startswith(CLAIM) and name.endswith(CLAIMED)


def _events(content: bytes) -> int:
    return sum(1 for line in content.split(b"\n") if line.strip())


def _contents(place: Path, names: Sequence[str]) -> Iterator[bytes]:
    for name in (*(each for each in names if each == LIVE), *(each for each in names if _is_claim(each))):
        content = _read(place / name)
        if content:
            yield content


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, READ_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
