"""An edge's flush job: the packet goes into the shared queue whole, and what was asked for is over with that.

The jobs' ids follow from the packet, so one that was cut off puts in what is missing and nothing twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobs import packet_requests
from jobs.delivery import Delivery, made_by_arrived
from jobs.failures import after_store_error
from jobs.fleet import shared_batch
from jobs.fleet.ends import end_of, jobs_of
from jobs.fleet.learn import LEARN_SECONDS, learn_job
from jobs.fleet.shared_batch import Progress
from jobs.flush import is_asked_by_person
from jobs.job import Job, JobState
from jobs.outcomes import Done, GiveUp, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from jobs.queue.shared_queue import SharedQueue
from memsyncd.clock import from_rfc3339
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import Packet, PacketStatus
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import Batch

HELD_SECONDS = 60.0
"""How often a held packet looks again; a resume wakes it."""

IN_SHARED_QUEUE = "in the shared queue"
"""What became of a packet that a shared queue has taken; the reason of a plugin's packet that waits for its end."""

ELSEWHERE = "in another shared queue, that this machine had before"


@dataclass(frozen=True)
class Edge:
    """What an edge works with. `queue` is the shared one, and raises QueueUnavailable while it cannot be reached;
    `name` is this machine's and data directory's own."""

    delivery: Delivery
    queue: Callable[[], SharedQueue]
    name: str


def share(context: JobContext, edge: Edge) -> Outcome:
    """Put a packet into the shared queue. A plugin's is seen through to its end, for its own workers know no such
    state; one of ours is left to the workers, and its end is learned later."""
    payload = context.job.payload
    spool = str(payload["spool"])
    try:
        store = edge.delivery.store(spool)
    except KeyError:
        return Snooze(HELD_SECONDS, "its spool is not served at present")
    try:
        return _share(context, edge, spool, store)
    except (EvidenceError, QueueError) as error:
        return after_store_error(error)


def _share(context: JobContext, edge: Edge, spool: str, store: EvidenceStore) -> Outcome:
    found = store.packet_to_send(str(context.job.payload["packet"]))
    if found is None:
        return Done("its packet is no more", wake_lane=True)
    packet, scope = found[0], packet_requests.named(found[1])
    if (over := _over(context.job, edge, spool, store, packet)) is not None:
        return over
    if (held := packet_requests.held(packet, scope, edge.delivery) or _elsewhere(context.job, edge)) is not None:
        return Snooze(HELD_SECONDS, held)
    requests = packet_requests.requests(store, packet, scope, edge.delivery)
    if not requests:
        store.close_packet(packet.packet_id, PacketStatus.SUCCEEDED)
        return Done(packet_requests.NOTHING_IN_IT, wake_lane=True)
    _put(edge, spool, store, packet, requests)
    if not store.own:
        _note_put(edge, store, packet, requests)
        return _plugins(context.job, edge, spool, store, packet)
    store.close_packet(packet.packet_id, PacketStatus.SHARED)
    edge.delivery.queue.enqueue(learn_job())
    edge.delivery.queue.hasten(learn_job().id, LEARN_SECONDS)
    return _handed_on(context, store, packet)


def _over(job: Job, edge: Edge, spool: str, store: EvidenceStore, packet: Packet) -> Outcome | None:
    """Return the outcome where the packet is not to be put in any more; open one that a person retries."""
    if packet.status == PacketStatus.GAVE_UP:
        if not is_asked_by_person(job):
            return GiveUp(packet.error or "given up after its attempts", wake_lane=True)
        _try_again(edge, spool, packet)
        store.reopen_packet(packet.packet_id)
        return None
    return None if packet.is_open else Done("its packet was closed before", wake_lane=True)


def _elsewhere(job: Job, edge: Edge) -> str | None:
    """Say that a plugin's packet was put into another queue than this, or None: workers of both would deliver it."""
    identity = edge.queue().identity
    return None if job.payload.get("queue", identity) == identity else ELSEWHERE


def _try_again(edge: Edge, spool: str, packet: Packet) -> None:
    """Have the packet's dead letters in the shared queue tried again, as a person wants it."""
    for job_id, job in jobs_of(edge.queue(), edge.name, spool, [packet])[packet.packet_id].items():
        if job.state is JobState.DEAD:
            edge.queue().retry(job_id)


def _put(edge: Edge, spool: str, store: EvidenceStore, packet: Packet, requests: Sequence[Batch]) -> None:
    """Put in what is not on the platform already. What this machine had begun itself, before it shared a queue, or a
    plugin, is gone on with: asked for or looked for, and not sent again."""
    posted = {post.batch: post.started_at for post in store.posts(packet.packet_id)}
    slots = packet.slots * len(requests) if packet.bare_slot else packet.slots
    jobs = []
    for each in requests:
        slot = slots[each.number] if each.number < len(slots) else ""
        if made_by_arrived(slot) is None:
            progress = Progress(posted_at=posted.get(each.number), event_id=slot)
            destination = edge.delivery.platform.destination
            jobs.append(shared_batch.new_job(each, progress, edge=edge.name, spool=spool, destination=destination))
    edge.queue().enqueue(*jobs)


def _note_put(edge: Edge, store: EvidenceStore, packet: Packet, requests: Sequence[Batch]) -> None:
    """Write down that a plugin's batches were put in: should their jobs be pruned before their end is learned, they are
    put in again, and looked for before they are sent."""
    noted = {post.batch for post in store.posts(packet.packet_id)}
    for each in requests:
        if each.number not in noted and each.number >= len(packet.slots):
            store.begin_post(packet.packet_id, each.number, edge.delivery.clock.wall())


def _handed_on(context: JobContext, store: EvidenceStore, packet: Packet) -> Outcome:
    checkpoint = str(context.job.payload.get("checkpoint", ""))
    ends = checkpoint if checkpoint and store.is_all_sent(packet) else ""
    return Done(IN_SHARED_QUEUE, wake_lane=True, ends=ends)


def _plugins(job: Job, edge: Edge, spool: str, store: EvidenceStore, packet: Packet) -> Outcome:
    queue = edge.queue()
    end = end_of(queue, edge.name, spool, packet)
    if end is None:
        return Snooze(LEARN_SECONDS, IN_SHARED_QUEUE, {**job.payload, "queue": queue.identity})
    store.close_packet(packet.packet_id, end.status, error=end.error)
    if end.status is PacketStatus.GAVE_UP:
        return GiveUp(end.error, wake_lane=True)
    return Done("delivered", wake_lane=True)


def lost(store: EvidenceStore, packet: Packet, edge: Edge) -> None:
    """Open a packet again whose jobs the shared queue has lost; a scan has it put in again. As nobody knows how far its
    delivery had come, each batch is then looked for before it is sent. Raises EvidenceError."""
    found = store.packet_to_send(packet.packet_id)
    if found is None:
        return
    put_in_at = from_rfc3339(packet.updated_at) or edge.delivery.clock.wall()
    for each in packet_requests.requests(store, packet, packet_requests.named(found[1]), edge.delivery):
        store.begin_post(packet.packet_id, each.number, put_in_at)
    store.reopen_packet(packet.packet_id)
