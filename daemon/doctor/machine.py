"""The interpreter, and the clock."""

import os
import sqlite3
import sys
from collections.abc import Iterable

from daemon import clock_trust
from daemon.cli.wording import span
from daemon.clock_trust import Seen, after_look
from daemon.doctor.check import Check, failed, passed
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from memsyncd.clock import rfc3339
from memsyncd.version import __version__

NEEDED = (3, 11)

BUILT = 1_767_225_600.0
"""1 January 2026: no clock that is right is before it."""

YEAR_SECONDS = 366 * 86_400.0
"""For so long nobody leaves a daemon alone; a clock that says so is wrong rather."""

AHEAD_SECONDS = 300.0
"""A file from further in the future than this was written under another clock."""


def probes(examined: Examination) -> list[Probe]:
    """Return the checks."""
    return [Probe("python", _python), Probe("clock", lambda: _clock(examined))]


def _python() -> Check:
    return python(sys.version_info[:3], sys.executable, sqlite3.sqlite_version, has_full_text=_has_full_text())


def python(version: tuple[int, ...], executable: str, sqlite: str, *, has_full_text: bool) -> Check:
    """Judge the interpreter and the SQLite it brings."""
    told = f"Python {'.'.join(map(str, version))} at {executable}, SQLite {sqlite}, memsyncd {__version__}"
    if version < NEEDED:
        return failed("python", told, "Install memsyncd with Python 3.11 or newer (`uv tool install --python 3.11`).")
    if not has_full_text:
        return failed(
            "python",
            f"{told}: without full-text search (FTS5), which the embedded platform needs",
            "Use a Python whose SQLite has FTS5, like the system's own or one of uv's.",
        )
    return passed("python", told)


def clock(now: float, newest: tuple[str, float] | None, seen: Seen | None = None) -> Check:
    """Judge the wall clock by what was written before: `newest` is a file and its time, Unix seconds, and `seen` what
    the daemon made of the clock when it last looked."""
    told = f"it is {rfc3339(now)}"
    remedy = "`timedatectl` (or `date`) shows the clock; `timedatectl set-ntp true` has it kept right."
    if now < BUILT:
        return failed("clock", f"{told}, before this program was made", remedy)
    if newest is not None and newest[1] - now > AHEAD_SECONDS:
        ahead = span(newest[1] - now)
        return failed("clock", f"{told}, and {newest[0]} was written {ahead} in the future", remedy)
    doubt = after_look(seen, now)
    if doubt.is_believed:
        return passed("clock", told)
    told = f"{told}, {doubt.told()}: until then nothing is deleted because of its age"
    if now - doubt.believed > YEAR_SECONDS:
        return failed("clock", told, f"{remedy} If it is right, there is nothing to do.")
    return passed("clock", told, "As after a long time without a daemon. If it is wrong, set it.")


def _clock(examined: Examination) -> Check:
    seen = clock_trust.read(examined.places.data / clock_trust.NAME)
    return clock(examined.wall(), _written(examined), seen)


def _written(examined: Examination) -> tuple[str, float] | None:
    places = examined.places
    files = [places.queue_file, places.memory_file, places.lock_file, *(spool.evidence for spool in examined.spools)]
    return max(_times(map(str, files)), key=lambda each: each[1], default=None)


def _times(paths: Iterable[str]) -> Iterable[tuple[str, float]]:
    for path in paths:
        try:
            yield path, os.stat(path).st_mtime
        except OSError:
            continue


def _has_full_text() -> bool:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(words)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True
