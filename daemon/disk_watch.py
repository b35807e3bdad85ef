"""Looks at the data directory: the free space, and what hooks could not write."""

import os
import shutil

from daemon.places import Places
from daemon.status.findings import Findings
from memsyncd.clock import Clock

FULL_BYTES = 64 * 1024 * 1024
"""Less free space than this is nearly full: one 64 MB handoff would not fit."""

RECENT_SECONDS = 24 * 3600.0
"""For so long after its last line the hooks' error log is shown as a problem."""


def look_at_free_space(places: Places, findings: Findings) -> None:
    """Show a disk that is nearly full. Raises OSError."""
    free = shutil.disk_usage(places.data).free
    if free < FULL_BYTES:
        findings.report("disk-nearly-full", str(places.data), f"{free // 1_048_576} MB left")
    else:
        findings.clear("disk-nearly-full", str(places.data))


def look_at_hook_errors(places: Places, clock: Clock, findings: Findings) -> None:
    """Show that hooks have lost something lately, by the age of the last line of their log, and of the one that was
    renamed when it was full. Raises OSError."""
    log = str(places.hook_error_log)
    for path in (log, f"{log}.1"):
        try:
            age = clock.wall() - os.stat(path).st_mtime
        except FileNotFoundError:
            age = RECENT_SECONDS
        if age < RECENT_SECONDS:
            findings.report("hook-errors", path)
        else:
            findings.clear("hook-errors", path)
