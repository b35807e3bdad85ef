"""What the delivering jobs share: the stores they read, the platform they send to, and the numbers they keep to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobs.extractions import Extractions
from jobs.job import NewJob
from jobs.queue import contract as job_queue
from memsyncd.clock import Clock
from memsyncd.evidence.event import Packet, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import Memory, Platform

CHECKPOINT = "checkpoint"
FLUSH = "flush"

MAX_ATTEMPTS = 5
"""Failed tries after which a packet gives up (facts 2.10)."""

LOOK_AFTER_SECONDS = 5.0
"""How long after a request without an answer the platform is searched for it (CONTRACT "Delivered once")."""

ARRIVED = "arrived"
"""How the slot of a batch begins that is known to be on the platform though it told no extraction event to ask for."""


def arrived(memories: int) -> str:
    """Return the slot of such a batch, from which `memories` were made."""
    return f"{ARRIVED}:{memories}"


def made_by_arrived(slot: str) -> int | None:
    """Return how many memories were made from such a batch; None for the slot of another."""
    name, _, memories = slot.partition(":")
    if name != ARRIVED:
        return None
    return int(memories) if memories.isdecimal() else 0


@dataclass(frozen=True)
class Delivery:
    """The surroundings of a delivery. `store` raises KeyError for a spool that is served no more.

    `hold` says why a scope is not delivered at present (paused, excluded), or None. `user_id` is whose memories
    these become. `extraction_wait_seconds` is the time one extraction may take (CONTRACT: 120).
    `is_claimed_elsewhere` tells whether another program works on a spool's session just now. `on_memories` hears which
    memories the platform made of a packet, as far as it tells; it raises nothing.
    """

    store: Callable[[str], EvidenceStore]
    queue: job_queue.JobQueue
    platform: Platform
    extractions: Extractions
    clock: Clock
    user_id: Callable[[], str]
    hold: Callable[[Scope], str | None]
    redact: Callable[[str], str]
    extraction_wait_seconds: float = 120.0
    is_claimed_elsewhere: Callable[[str, str], bool] = lambda _spool, _session: False
    on_memories: Callable[[Packet, Scope, Sequence[Memory]], object] = lambda _packet, _scope, _told: None


def lane(spool: str, session_id: str) -> str:
    """Return the lane of a session: its packets keep their order."""
    return f"{spool}/{session_id}"


def flush_job_id(spool: str, packet_id: str) -> str:
    """Return the id of the one job that delivers a packet."""
    return f"{FLUSH}:{spool}:{packet_id}"


def flush_job(spool: str, packet: Packet, destination: str, checkpoint_id: str = "") -> NewJob:
    """Return the one job that delivers `packet`; its id follows from the packet, so it cannot exist twice.

    `checkpoint_id` is the checkpoint that waits for this packet and so far for no other: with the packet delivered and
    nothing left of its session it is over too.
    """
    return NewJob(
        id=flush_job_id(spool, packet.packet_id),
        kind=FLUSH,
        payload={"spool": spool, "packet": packet.packet_id, "checkpoint": checkpoint_id},
        lane=lane(spool, packet.session_id),
        destination=destination,
    )


def checkpoint_job(
    spool: str,
    session_id: str,
    *,
    key: str,
    reason: str,
    delay: float = 0.0,
    why: str = "",
    handoff: str = "",
    until: int = 0,
    wait_for_inflight: bool = False,
) -> NewJob:
    """Return a job that puts what a session has into packets and sees them through.

    `key` makes it unique within the spool: a handoff's id, or what called for it. `handoff` is the stem of the
    claimed file that stays until the job is over. `until` is the last event that was recorded when it was asked for:
    what came up to it belongs to it, even past a session's resumption; 0 where that is not known. With
    `wait_for_inflight` it leaves a packet that another program is delivering to that one for a while (facts 1.24).
    """
    return NewJob(
        id=f"{CHECKPOINT}:{spool}:{key}",
        kind=CHECKPOINT,
        payload={
            "spool": spool,
            "session": session_id,
            "reason": reason,
            "handoff": handoff,
            "packets": [],
            "until": until,
            "wait_for_inflight": wait_for_inflight,
        },
        lane=lane(spool, session_id),
        delay=delay,
        reason=why,
    )
