"""What lies in a spool beside the live file: claims in their states; leftovers, swept on the way."""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from memsyncd.counters import Counters
from memsyncd.telemetry.claim_file import Door
from memsyncd.telemetry.claims import LEASE_SECONDS, PARTIAL, SET_ASIDE, Verdict, is_derived, judge, parse
from memsyncd.telemetry.disk import FileState

MAX_KEPT_FILES = 256
MAX_KEPT_BYTES = 8 * 1024 * 1024
"""Of what is set aside; the oldest goes first, and the newest is kept whatever its size."""


@dataclass(frozen=True, slots=True)
class Listing:
    """File names: `stale` for whoever comes first, oldest first, and `expired`. `parked` and `parked_bytes` are of all
    claims, the living too."""

    stale: Sequence[str] = ()
    expired: Sequence[str] = ()
    parked: int = 0
    parked_bytes: int = 0


def look(door: Door, directory: str, counters: Counters) -> Listing:
    """List the claims of a spool and sweep what is left over (facts 12.20). Raises OSError if it cannot be listed.

    A claim touched in the future, after a clock was set back, begins its lease now: so it is nobody's for ever, and
    no second sender's while it lasts. Counters: `telemetry_swept`, of files that were set aside and are gone.
    """
    try:
        names = door.disk.names(directory)
    except FileNotFoundError:
        return Listing()
    now = door.wall()
    claims: list[tuple[float, str, Verdict, int]] = []
    kept: list[tuple[float, str, int]] = []
    for name in sorted(names):
        claim = parse(name)
        if claim is None and not is_derived(name, PARTIAL, *SET_ASIDE):
            continue
        state = _state(door, os.path.join(directory, name))
        if state is None:
            continue
        if state.touched_at > now:
            _do(partial(door.disk.touch, os.path.join(directory, name), now))
        if claim is not None:
            claims.append(
                (state.touched_at, name, judge(claim.attempt, state.touched_at, now, door.kept_seconds), state.size)
            )
        elif not is_derived(name, PARTIAL):
            kept.append((state.touched_at, name, state.size))
        elif now - state.touched_at >= LEASE_SECONDS:  # a copy never finished: what it is a copy of is there
            _swept(door, os.path.join(directory, name), state.touched_at)
    counters.add("telemetry_swept", _sweep_kept(door, directory, kept, now))
    return Listing(
        stale=tuple(name for _, name, verdict, _ in sorted(claims) if verdict is Verdict.STALE),
        expired=tuple(name for _, name, verdict, _ in sorted(claims) if verdict is Verdict.EXPIRED),
        parked=len(claims),
        parked_bytes=sum(size for *_, size in claims),
    )


def _state(door: Door, path: str) -> FileState | None:
    try:
        state = door.disk.state(path)
    except OSError:
        return None
    return state if state.is_regular else None


def _swept(door: Door, path: str, touched_at: float) -> bool:
    """Remove a leftover, unless somebody is at it still; return whether it is gone."""
    try:
        descriptor = door.disk.open(path)
    except OSError:
        return False
    try:
        if not door.disk.lock(descriptor) or door.disk.state_of(descriptor).touched_at != touched_at:
            return False
        door.disk.unlink(path)
    except OSError:
        return False  # another time
    finally:
        _do(partial(door.disk.close, descriptor))
    return True


def _sweep_kept(door: Door, directory: str, kept: list[tuple[float, str, int]], now: float) -> int:
    """Remove what was set aside long ago, and the oldest beyond the bounds; return how many files."""
    swept = room = 0
    for number, (touched_at, name, size) in enumerate(sorted(kept, reverse=True), start=1):
        room += size
        if now - touched_at >= door.kept_seconds or number > MAX_KEPT_FILES or (number > 1 and room > MAX_KEPT_BYTES):
            swept += _swept(door, os.path.join(directory, name), touched_at)
    return swept


def _do(act: Callable[[], None]) -> None:
    """Do what may as well be left for the next time."""
    with contextlib.suppress(OSError):
        act()
