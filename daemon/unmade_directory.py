"""What keeps a directory that is not there yet from being made."""

import os
import stat
from pathlib import Path

REMEDY = (
    "`ls -ld` shows whose that is: run this as its owner, make it yours and writable, move away what is in the way, or "
    "set HOME or MEMSYNCD_HOME to a place of your own."
)


def hindrance(directory: Path, uid: int | None = None) -> str:
    """Return what is wrong with the nearest thing above `directory` that is there, as said of its path; "" where the
    directory is there itself, or `uid` (this process's, if none is named) could make it. Changes nothing.

    Root by `sudo` makes nothing in the directory of who called it, to whom it would be closed. In a container root's
    home may well be that of the host's user.
    """
    uid = os.geteuid() if uid is None else uid
    step = directory
    while not os.path.lexists(step) and step != step.parent:
        step = step.parent
    if step == directory and os.path.exists(directory):
        return ""
    try:
        found = step.stat()
    except OSError:
        return f"{step} is a link into nothing"
    if not stat.S_ISDIR(found.st_mode):
        return f"{step} is no directory"
    if found.st_uid != uid and str(found.st_uid) == os.environ.get("SUDO_UID"):
        return f"{step} belongs to user {found.st_uid}, whom what user {uid} makes there would shut out"
    if not os.access(step, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        return f"{step} cannot be written by you"
    return ""
