"""What waits of a project that was excluded since it was captured: it is never sent, so it is not kept (never-again
74). What was learned before stays where it is, and is shown to nobody while the project is excluded."""

import os

import structlog

from daemon.compose import Parts
from daemon.forgetting.local_copies import LocalCopies
from daemon.forgetting.target import Target
from daemon.intake.spool import Spool
from memsyncd.evidence.event import Scope
from memsyncd.evidence.store import EvidenceStore

SHARED_AT_ONCE = 1_000
"""Packets in a shared queue that are looked at in one round."""

log = structlog.get_logger()


def purge_excluded(parts: Parts, spool: Spool, store: EvidenceStore) -> None:
    """Delete the evidence of excluded sessions that waits in a spool of ours. Raises EvidenceError."""
    for session in _excluded(parts, store):
        target = Target(key="", at=parts.clock.wall(), session_id=session)
        events = LocalCopies(parts, target, is_alone=False).purge()
        parts.counters.add("events_purged", events)
        log.info("excluded-evidence-deleted", spool=spool.name, events=events)


def _excluded(parts: Parts, store: EvidenceStore) -> list[str]:
    if not store.own or store.read_only:
        return []
    waiting = {activity.session_id for activity in store.sessions_with_unflushed()}
    waiting |= {packet.session_id for packet in (*store.open_packets(), *store.shared_packets(SHARED_AT_ONCE))}
    return [name for name in sorted(waiting) if (scope := store.scope(name)) and parts.gate.is_excluded(_place(scope))]


def _place(scope: Scope) -> str:
    return os.path.join(scope.root, scope.directory) if scope.root else ""
