"""How the deliveries of an edge's packets stand in the shared queue: one question for many packets.

The ids of a packet's jobs follow from it, so nothing has to be kept of them. How many there are does not: it is asked
for a few first, and for more where the last of them is there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs.fleet import shared_batch
from jobs.job import ACTIVE, JobState
from jobs.queue.shared_queue import SharedQueue, Standing
from memsyncd.evidence.event import Packet, PacketStatus

FIRST_BATCHES = 4
"""Asked for at first of a packet of which nothing else is known; most have one."""

MOST_BATCHES = 256
"""Asked for of one whose first are gone: what is delivered is pruned sooner than a dead letter."""

NO_MORE = "its job was pruned before its end was learned"

Jobs = Mapping[str, Standing]
"""A packet's jobs that are there, by their ids, in the order of its batches."""


@dataclass(frozen=True, slots=True)
class End:
    """How a packet's delivery ended: `SUCCEEDED`, or `GAVE_UP` with the reason. `memories` is how many it made."""

    status: PacketStatus
    error: str = ""
    memories: int = 0


def end_of(queue: SharedQueue, edge: str, spool: str, packet: Packet) -> End | None:
    """Return how a packet's delivery ended; None while it has not. Raises QueueUnavailable."""
    return end(jobs_of(queue, edge, spool, [packet])[packet.packet_id])


def end(jobs: Jobs) -> End | None:
    """Return how the delivery of a packet with these jobs ended; None while it has not."""
    if any(job.state in ACTIVE for job in jobs.values()):
        return None
    if not jobs:  # only what is over is pruned, and dead letters are kept for long
        return End(PacketStatus.SUCCEEDED, NO_MORE)
    failed = next((job for job in jobs.values() if job.state is not JobState.DONE), None)
    if failed is not None:
        return End(PacketStatus.GAVE_UP, failed.reason or str(failed.state))
    return End(PacketStatus.SUCCEEDED, memories=sum(int(job.payload.get("memories", 0)) for job in jobs.values()))


def jobs_of(
    queue: SharedQueue, edge: str, spool: str, packets: Sequence[Packet], *, most: int = MOST_BATCHES
) -> Mapping[str, Jobs]:
    """Return the jobs of packets by the packets' ids; of one whose first batches are gone, among its first `most`.

    Raises QueueUnavailable.
    """
    jobs: dict[str, dict[str, Standing]] = {packet.packet_id: {} for packet in packets}
    asked = {packet.packet_id: range(max(FIRST_BATCHES, len(packet.slots))) for packet in packets}
    while asked:
        ids = {name: [shared_batch.job_id(edge, spool, name, number) for number in asked[name]] for name in asked}
        found = queue.standings([job_id for own in ids.values() for job_id in own])
        further = {}
        for name, own in ids.items():
            jobs[name] |= {job_id: found[job_id] for job_id in own if job_id in found}
            if own[-1] in found:
                further[name] = range(asked[name].stop, 2 * asked[name].stop)
            elif not jobs[name] and asked[name].stop < most:
                further[name] = range(asked[name].stop, most)
        asked = further
    return jobs
