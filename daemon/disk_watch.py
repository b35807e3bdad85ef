"""Looks at the data directory: the free space, and what hooks could not write."""

import os
from pathlib import Path

from daemon import hook_errors
from daemon.places import Places
from daemon.status.findings import Findings
from memsyncd.clock import Clock

FULL_BYTES = 64 * 1024 * 1024
"""Less free space than this is nearly full: one 64 MB handoff would not fit."""

FEW_INODES = 100
"""Fewer free inodes than these are nearly none: each handoff takes one, and a database three."""


def look_at_free_space(places: Places, findings: Findings) -> None:
    """Show a disk that is nearly full, or takes hardly another file. Raises OSError."""
    where, room = str(places.data), os.statvfs(places.data)
    free = room.f_bavail * room.f_frsize
    if free < FULL_BYTES:
        findings.report("disk-nearly-full", where, f"{free // 1_048_576} MB left")
    else:
        findings.clear("disk-nearly-full", where)
    if room.f_files and room.f_favail < FEW_INODES:  # some file systems count none
        findings.report("inodes-nearly-gone", where, f"{room.f_favail} left")
    else:
        findings.clear("inodes-nearly-gone", where)


def look_at_hook_errors(places: Places, clock: Clock, findings: Findings) -> None:
    """Show that hooks have lost something lately, by the last line of theirs in their log, and in the one that was
    renamed when it was full; also where they turn to when the data directory takes nothing. Raises OSError."""
    owner = os.stat(places.data).st_uid
    for log in places.hook_error_logs:
        for path in (str(log), f"{log}.1"):
            lost = hook_errors.lost(Path(path), places.data, owner)
            if lost is not None and lost.age(clock.wall()) < hook_errors.RECENT_SECONDS:
                findings.report("hook-errors", path, f"the newest is {lost.line}", since=lost.first)
            else:
                findings.clear("hook-errors", path)
