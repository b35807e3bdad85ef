"""What the daemon leaves behind in the spools when it is uninstalled: claims given back, as a plugin expects them."""

import time

from daemon.intake.served import places_to_serve
from daemon.intake.spool import Spool, age_at
from daemon.lock import AlreadyRunning, DaemonLock
from daemon.places import Places


def give_back(places: Places, *, pid: int, now: float | None = None) -> int:
    """Make every claim nobody works on a waiting handoff again; return how many. Nothing is deleted or made.

    A clean stop has done so already; this is for a daemon that was killed before. Does nothing while a daemon runs.
    """
    if not places.lock_file.exists():
        return 0
    try:
        lock = DaemonLock.acquire(places.lock_file, pid=pid, run_id="uninstall")
    except AlreadyRunning:
        return 0
    try:
        given = 0
        for place in places_to_serve(places.spools, [], places.home, discover=True):
            spool = Spool(place.path, place.harness, own=place.own)
            stale = spool.stale_claims(age_at(time.time() if now is None else now), at_start=True)
            given += sum(spool.give_back(stem) for stem in stale)
        return given
    finally:
        lock.release()
