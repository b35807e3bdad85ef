"""Whose the data are, where they are not the asking user's: a daemon answers nobody but its own user."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from daemon import lock
from daemon.places import Places


@dataclass(frozen=True, slots=True)
class AnotherOwner:
    """Another user, and the pid of the daemon that serves his data, None where that cannot be known."""

    uid: int
    data: Path
    pid: int | None

    @property
    def sentence(self) -> str:
        """Say whose it is."""
        who = f"user {self.uid}{_name(self.uid)}"
        daemon = f"and so does the daemon that serves it (pid {self.pid})" if self.pid else "and so does its daemon"
        return f"{self.data} belongs to {who}, {daemon}, which answers nobody else."

    @property
    def remedy(self) -> str:
        """Say what to do."""
        return f"Ask as user {self.uid}{_name(self.uid)}."


def another_owner(places: Places, uid: int) -> AnotherOwner | None:
    """Return whose the data are, where they are not of `uid` and a daemon may serve them: none may where its lock can
    be looked at and is free. Where the data cannot be looked at, they are whose is what closes them."""
    step = places.data
    while True:
        try:
            owner = step.stat().st_uid
            break
        except PermissionError:
            step = step.parent
        except OSError:
            return None
    if owner == uid:
        return None
    is_held = lock.is_held(places.lock_file)
    if not is_held and os.access(places.data, os.R_OK | os.X_OK):
        return None
    holder = lock.holder(places.lock_file) if is_held else None
    return AnotherOwner(owner, places.data, holder.pid if holder else None)


def _name(uid: int) -> str:
    try:
        return f" ({pwd.getpwuid(uid).pw_name})"
    except KeyError:
        return ""
