"""Handoffs that were given up and lie in a spool's `dead/`: listed, retried and discarded beside the queue's dead jobs.

All by rename, so it may be done with the daemon running or not. A handoff that was kept for a dead job is that job's
and not listed twice.
"""

import contextlib
import os
from collections.abc import Collection, Sequence
from typing import Any

from daemon.intake.spool import WAITING, Spool

PREFIX = "handoff:"
"""An id is `handoff:<spool>/<name>`; no job's kind is called so."""


def dead_handoffs(spools: Sequence[Spool], dead_jobs: Collection[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a document in a job's shape for each dead handoff that belongs to none of `dead_jobs`.

    A spool that cannot be read has none to show; `status` says so.
    """
    kept = {
        (payload.get("spool"), payload.get("handoff")) for payload in (job.get("payload") or {} for job in dead_jobs)
    }
    found = []
    for spool in spools:
        with contextlib.suppress(OSError):
            for stem, reason in sorted(spool.dead_letters().items()):
                if (spool.name, stem) not in kept:
                    found.append(_document(f"{PREFIX}{spool.name}/{stem}", reason or "given up"))
    return found


def change_handoff(spools: Sequence[Spool], verb: str, identity: str) -> str:
    """`retry` or `discard` one; return why it was refused, empty where it was done."""
    name, _, stem = identity.removeprefix(PREFIX).partition("/")
    spool = next((each for each in spools if each.name == name), None)
    if spool is None or not stem or os.sep in stem:
        return "there is no such handoff"
    try:
        if verb == "discard":
            return "" if spool.discard(stem) else "there is no such handoff"
        os.utime(spool.dead / (stem + WAITING))  # young before it waits: a daemon may take it at once
        with contextlib.suppress(FileNotFoundError):  # it did
            spool.revive(stem)
    except FileNotFoundError:
        return "there is no such handoff"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _document(identity: str, reason: str) -> dict[str, Any]:
    return {
        "id": identity,
        "kind": "handoff",
        "lane": "",
        "state": "dead",
        "not_before": None,
        "attempts": 0,
        "crashes": 0,
        "reason": reason,
        "errors": [],
    }
