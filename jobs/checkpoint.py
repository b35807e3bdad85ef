"""The checkpoint job: puts a session's evidence into packets, one after the other, and sees each through."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jobs.delivery import Delivery, flush_job, flush_job_id
from jobs.failures import after_store_error
from jobs.job import ACTIVE, Job, JobState, NewJob
from jobs.outcomes import Done, GiveUp, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from jobs.recovery import is_abandoned
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import IN_FLIGHT, Event, Packet, PacketStatus
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.record import UNKNOWN_SESSION
from memsyncd.packets import checkpoint as selection
from memsyncd.platforms.wildcards import is_wildcard

PERIODIC = "periodic"

HELD_SECONDS = 60.0
"""How often a job looks whether what holds it (a pause, an exclusion, a read-only store) is over; a resume wakes it."""

IN_FLIGHT_SECONDS = 900.0
"""The sleep while a packet is under way; the end of its flush wakes the lane, so this is only a second look."""

BEING_DELIVERED = "its packet is being delivered"
"""The reason of a checkpoint that waits for a flush."""

FOREIGN_LOOK_SECONDS = 1.0
"""How often a packet that another program is delivering is looked at; a plugin's own worker looks thrice as often."""


def checkpoint(context: JobContext, delivery: Delivery) -> Outcome:
    """Reserve the next packet, or wait for the open one, until nothing of the session is left to send.

    Gives up, with the packets named, when one of them was given up: newer evidence has been delivered all the same.
    """
    payload = context.job.payload
    try:
        store = delivery.store(str(payload["spool"]))
    except KeyError:
        return Snooze(HELD_SECONDS, "its spool is not served at present")
    try:
        return _checkpoint(context.job, delivery, store)
    except (EvidenceError, QueueError) as error:
        return after_store_error(error)


def _checkpoint(job: Job, delivery: Delivery, store: EvidenceStore) -> Outcome:
    payload = job.payload
    spool, session_id = str(payload["spool"]), str(payload["session"])
    refusal = _refusal(session_id, delivery)
    if refusal is not None:
        return GiveUp(refusal)
    if store.read_only:
        return Snooze(HELD_SECONDS, "its evidence store is read-only")
    scope, packet = store.session(session_id) or (None, None)
    held = delivery.hold(scope) if scope else None
    if held is not None:
        return Snooze(HELD_SECONDS, held)
    while packet is not None and _died(delivery, store, spool, packet):
        packet = store.open_packet(session_id)
    if packet is not None and _is_anothers(job, delivery, store, packet):
        return Snooze(FOREIGN_LOOK_SECONDS, "another program is delivering its packet")
    packet = packet or _reserve(store, session_id, payload)
    if packet is None:
        return _over(store, payload, delivery)
    packets = [*(p for p in payload.get("packets", ()) if p != packet.packet_id), packet.packet_id]
    new = _new_flush(delivery, spool, packet, job.id if len(packets) == 1 else "")
    return Snooze(IN_FLIGHT_SECONDS, BEING_DELIVERED, {**payload, "packets": packets}, new)


def _refusal(session_id: str, delivery: Delivery) -> str | None:
    if session_id in ("", UNKNOWN_SESSION):
        return "no-session-id: the hook named no session, so nothing can be delivered for it"
    if is_wildcard(delivery.user_id()):
        return "wildcard-scope: the user id is a wildcard; set platform.user_id"
    return None


def _reserve(store: EvidenceStore, session_id: str, payload: Mapping[str, Any]) -> Packet | None:
    reason = str(payload.get("reason") or "manual")
    again, until = bool(payload.get("packets")), int(payload.get("until", 0))

    def choose(events: Iterable[Event]) -> Sequence[Event]:
        ordered = iter(events)
        first = next(ordered, None)
        if first is None or (again and first.id > until and not selection.continues(first, reason)):
            return ()
        return selection.select(itertools.chain((first,), ordered), forced=reason != PERIODIC)

    return store.prepare(session_id, reason, choose)


def _died(delivery: Delivery, store: EvidenceStore, spool: str, packet: Packet) -> bool:
    """Give up an open packet whose job was given up without it (it crashed its workers, or a fault of ours used up its
    attempts), or discarded by a person: newer evidence must not wait behind it (facts 2.11)."""
    job = delivery.queue.get(flush_job_id(spool, packet.packet_id))
    if job is None or job.state not in (JobState.DEAD, JobState.CANCELLED):
        return False
    store.close_packet(packet.packet_id, PacketStatus.GAVE_UP, error=job.reason)
    return True


def _is_anothers(job: Job, delivery: Delivery, store: EvidenceStore, packet: Packet) -> bool:
    """Whether a plugin's own worker may be delivering the packet: it is in flight, is not ours, and has moved lately.

    So it is while that worker's claim lives. Otherwise a handoff means that its packet is ours to deliver, unless it
    asks to wait for one in flight, for as long as an extraction may take (facts 1.24).
    """
    if store.own or packet.status not in IN_FLIGHT or is_abandoned(packet, delivery):
        return False
    if delivery.queue.get(flush_job_id(str(job.payload["spool"]), packet.packet_id)) is not None:
        return False
    if not job.payload.get("handoff") or delivery.is_claimed_elsewhere(str(job.payload["spool"]), packet.session_id):
        return True
    is_to_wait = bool(job.payload.get("wait_for_inflight"))
    return is_to_wait and 0 <= delivery.clock.age(job.created_at) < delivery.extraction_wait_seconds


def _new_flush(delivery: Delivery, spool: str, packet: Packet, checkpoint_id: str) -> Sequence[NewJob]:
    """Return the job that delivers the packet if there is none yet. One that is done is opened again: the packet is
    open, so its evidence was away for a while, or is from a file begun anew."""
    job = flush_job(spool, packet, delivery.platform.destination, checkpoint_id)
    known = delivery.queue.get(job.id)
    if known is None:
        return (job,)
    if known.state is JobState.DONE:
        delivery.queue.reopen(job.id)
    return ()


def _over(store: EvidenceStore, payload: Mapping[str, Any], delivery: Delivery) -> Outcome:
    packets = [packet for name in payload.get("packets", ()) if (packet := store.packet(name)) is not None]
    given_up = [packet for packet in packets if packet.status == PacketStatus.GAVE_UP]
    if any(_is_under_way(delivery, str(payload["spool"]), packet) for packet in given_up):
        return Snooze(IN_FLIGHT_SECONDS, BEING_DELIVERED)  # a person had it tried again
    if given_up:
        return GiveUp("given up after its attempts: packet " + ", ".join(packet.packet_id for packet in given_up))
    if not packets:
        return Done("nothing to deliver")
    return Done(f"delivered {len(packets):,} {'packet' if len(packets) == 1 else 'packets'}")


def _is_under_way(delivery: Delivery, spool: str, packet: Packet) -> bool:
    job = delivery.queue.get(flush_job_id(spool, packet.packet_id))
    return job is not None and job.state in ACTIVE
