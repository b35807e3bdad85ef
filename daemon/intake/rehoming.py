"""Handing a handoff to the spool of the harness whose payload it truly has.

Some harnesses also run hooks that were written for another (never-again 90): one event then lies in two spools. Brought
together in one, both meet the same evidence, and are one event.
"""

import os
from pathlib import Path

from daemon.intake.spool import CLAIMED, WAITING, Spool


def rehome(spool: Spool, stem: str, harness: str) -> Spool | None:
    """Move a claimed handoff of our own to where those of `harness` wait; return that spool.

    None where it cannot be moved, and then it is still claimed: another file has its name there, or the file system
    refuses. Nothing is synced: a rename that a power cut takes back has lost nothing.
    """
    target = Spool(Path(spool.path.parent, harness), harness, own=True)
    waiting = target.pending / (stem + WAITING)
    try:
        target.prepare()
        if os.path.lexists(waiting) or os.path.lexists(target.pending / (stem + CLAIMED)):
            return None
        os.rename(spool.pending / (stem + CLAIMED), waiting)
    except OSError:
        return None
    return target
