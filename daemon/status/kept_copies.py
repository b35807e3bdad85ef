"""Damaged databases that were set aside and still lie there: told, whoever runs, until somebody has taken them away."""

from collections.abc import Sequence
from pathlib import Path

from daemon.intake.served import PLUGIN_SUFFIX
from daemon.intake.spool import Spool
from daemon.places import Places
from daemon.status.parts import Finding
from memsyncd.damaged_file import copies, epoch

EVIDENCE, QUEUE = "evidence-renewed", "queue-renewed"


def kept_copies(places: Places, spools: Sequence[Spool]) -> list[Finding]:
    """Return a finding for each damaged copy beside the queue and beside evidence, `since` it was set aside. A plugin
    keeps copies of its own evidence by the same name: those are its business."""
    ours = (spool for spool in spools if spool.own or not spool.path.name.endswith(PLUGIN_SUFFIX))
    stores = [(EVIDENCE, spool.evidence) for spool in ours]
    return [_finding(code, copy) for code, store in (*stores, (QUEUE, places.queue_file)) for copy in _kept(store)]


def _kept(store: Path) -> Sequence[Path]:
    """Return a store's copies; of a directory that cannot be read its own problem tells."""
    try:
        return copies(store)
    except OSError:
        return ()


def _finding(code: str, copy: Path) -> Finding:
    return Finding(code, since=float(epoch(copy)), where=str(copy))
