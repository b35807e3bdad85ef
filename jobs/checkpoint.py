"""The checkpoint job: puts a session's evidence into packets, one after the other, and sees each through."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jobs.claims import JobContext
from jobs.delivery import Delivery, flush_job, flush_job_id
from jobs.failures import after_store_error
from jobs.job import ACTIVE, JobState
from jobs.outcomes import Done, GiveUp, Outcome, Snooze
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import Event, Packet, PacketStatus
from memsyncd.evidence.store import EvidenceStore
from memsyncd.hooks.record import UNKNOWN_SESSION
from memsyncd.packets import checkpoint as selection
from memsyncd.scope.user import is_wildcard

PERIODIC = "periodic"

HELD_SECONDS = 60.0
"""How often a job looks whether what holds it (a pause, an exclusion, a read-only store) is over; a resume wakes it."""

IN_FLIGHT_SECONDS = 900.0
"""The sleep while a packet is under way; the end of its flush wakes the lane, so this is only a second look."""


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
        return _checkpoint(payload, delivery, store)
    except EvidenceError as error:
        return after_store_error(error)


def _checkpoint(payload: Mapping[str, Any], delivery: Delivery, store: EvidenceStore) -> Outcome:
    spool, session_id = str(payload["spool"]), str(payload["session"])
    refusal = _refusal(session_id, delivery)
    if refusal is not None:
        return GiveUp(refusal)
    scope = store.scope(session_id)
    held = "its evidence store is read-only" if store.read_only else delivery.hold(scope) if scope else None
    if held is not None:
        return Snooze(HELD_SECONDS, held)
    packet = store.open_packet(session_id) or _reserve(store, session_id, payload)
    if packet is None:
        return _over(store, payload, delivery)
    _ensure_flush(delivery, spool, packet)
    packets = [*(p for p in payload.get("packets", ()) if p != packet.packet_id), packet.packet_id]
    return Snooze(IN_FLIGHT_SECONDS, "its packet is being delivered", {**payload, "packets": packets})


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


def _ensure_flush(delivery: Delivery, spool: str, packet: Packet) -> None:
    """Make sure a live job delivers the packet, also after its queue was lost or its job was ended by a person."""
    job = flush_job(spool, packet, delivery.platform.destination)
    if delivery.queue.enqueue(job):
        return
    known = delivery.queue.get(job.id)
    if known is not None and known.state in (JobState.DEAD, JobState.CANCELLED, JobState.DONE):
        delivery.queue.retry(job.id)


def _over(store: EvidenceStore, payload: Mapping[str, Any], delivery: Delivery) -> Outcome:
    packets = [packet for name in payload.get("packets", ()) if (packet := store.packet(name)) is not None]
    given_up = [packet for packet in packets if packet.status == PacketStatus.GAVE_UP]
    if any(_is_under_way(delivery, str(payload["spool"]), packet) for packet in given_up):
        return Snooze(IN_FLIGHT_SECONDS, "its packet is being delivered")  # a person had it tried again
    if given_up:
        return GiveUp("given up after its attempts: packet " + ", ".join(packet.packet_id for packet in given_up))
    return Done(f"delivered {len(packets)} packets" if packets else "nothing to deliver")


def _is_under_way(delivery: Delivery, spool: str, packet: Packet) -> bool:
    job = delivery.queue.get(flush_job_id(spool, packet.packet_id))
    return job is not None and job.state in ACTIVE
