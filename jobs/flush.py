"""The flush job: delivers one packet. A small state machine kept in the packet's row, so it can be resumed anywhere.

Every request is written down before it leaves and ticked off after its answer. What may have arrived without an answer
is looked for before it is sent again. No run waits: a wait is a snooze.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from jobs import packet_requests
from jobs.delivery import LOOK_AFTER_SECONDS, MAX_ATTEMPTS, Delivery, arrived, made_by_arrived
from jobs.extractions import AWAY_SECONDS
from jobs.failures import after_failure, after_store_error, why_extraction_failed
from jobs.job import Job
from jobs.outcomes import Done, Ended, GiveUp, Outcome, Retry, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import Packet, PacketStatus, Post, Scope
from memsyncd.evidence.operations import Operation
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import Batch, Extraction, ExtractionState, PlatformError, Rejected

HELD_SECONDS = 60.0
"""How often a held packet looks again; a resume wakes it."""

EXTRACTION_OPEN = "its extraction is open"
"""The reason of a flush that waits for a verdict."""

ABOUT_TO_LOOK = "an answer never came: about to look for the batch"
"""The reason of a flush that waits the moment before it looks."""

_FAILED_STATUS = {
    ExtractionState.FAILED: PacketStatus.FAILED,
    ExtractionState.MISSING: PacketStatus.MISSING,
}


def flush(context: JobContext, delivery: Delivery) -> Outcome:
    """Post what was not posted, ask for what was, and close the packet when all of it is confirmed."""
    payload = context.job.payload
    try:
        store = delivery.store(str(payload["spool"]))
    except KeyError:
        return Snooze(HELD_SECONDS, "its spool is not served at present")
    try:
        return _flush(context, delivery, store, str(payload["packet"]))
    except (EvidenceError, QueueError) as error:
        return after_store_error(error)


def _flush(context: JobContext, delivery: Delivery, store: EvidenceStore, packet_id: str) -> Outcome:
    found = store.packet_to_send(packet_id)
    if found is None:
        return Done("its packet is no more", wake_lane=True)
    packet, scope = found[0], packet_requests.named(found[1])
    if (over := _over(context.job, store, packet)) is not None:
        return over
    held = packet_requests.held(packet, scope, delivery)
    if held is not None:
        return Snooze(HELD_SECONDS, held)
    run = _Run(context, delivery, store, packet, scope)
    try:
        return run.deliver()
    except PlatformError as error:
        return run.failed(error)


def _over(job: Job, store: EvidenceStore, packet: Packet) -> Outcome | None:
    """Return the outcome of a flush whose packet is not to be delivered any more; open one that a person retries."""
    if packet.status == PacketStatus.GAVE_UP and is_asked_by_person(job):
        store.reopen_packet(packet.packet_id)
        return None
    why = packet.error or "given up after its attempts"
    if packet.is_open and packet.attempts >= MAX_ATTEMPTS:
        store.close_packet(
            packet.packet_id, PacketStatus.GAVE_UP, error=why
        )  # as a plugin at its sixth try (facts 2.10)
        return GiveUp(why, wake_lane=True)
    if packet.status == PacketStatus.GAVE_UP:
        return GiveUp(why, wake_lane=True)
    return None if packet.is_open else Done("its packet was closed before", wake_lane=True)


def is_asked_by_person(job: Job) -> bool:
    """Whether a given-up packet's job runs anew at a person's word, which sets all counts to zero; one that was cut
    off after its packet was given up still has them."""
    return job.attempts == 0 and job.crashes == 0


@dataclass(frozen=True)
class _Run:
    """One run of a flush, and what it works with."""

    context: JobContext
    delivery: Delivery
    store: EvidenceStore
    packet: Packet
    scope: Scope

    def deliver(self) -> Outcome:
        if self.packet.slots and all(self.packet.slots):
            return self._confirm(self.packet.slots)  # an older plugin's one event stands for all batches (facts 2.24)
        requests = packet_requests.requests(self.store, self.packet, self.scope, self.delivery)
        if not requests:
            self.store.close_packet(self.packet.packet_id, PacketStatus.SUCCEEDED)
            return Done(packet_requests.NOTHING_IN_IT, wake_lane=True)
        return self._confirm(self._post(requests))

    def failed(self, error: PlatformError) -> Outcome:
        """Turn a platform's failure into an outcome; a refusal of this item is one of its attempts."""
        if isinstance(error, Rejected):
            if error.status:  # a refusal is an answer, by a platform that is well
                self.context.answered()
            return self._attempt_failed(PacketStatus.ERROR, error.message)
        return after_failure(error, self.delivery.platform.destination)

    def _post(self, requests: Sequence[Batch]) -> list[str]:
        """Return the event id of every batch, posting those that have none."""
        slots = [*self.packet.slots, *[""] * len(requests)][: len(requests)]
        posts = {post.batch: post for post in self.store.posts(self.packet.packet_id)}
        for number, request in enumerate(requests):
            if slots[number]:
                continue
            if self.context.stopping.is_set():
                raise Ended(Snooze(0.0, "the daemon is stopping"))
            slots[number] = self._look(posts.get(number), request, len(requests)) or self._send(request, len(requests))
        return slots

    def _look(self, post: Post | None, request: Batch, batches: int) -> str:
        """Return the slot of a batch whose earlier request was never answered, if the platform has it."""
        if post is None or post.event_id:
            return ""
        waited = self.delivery.clock.wall() - post.started_at
        if 0.0 <= waited < LOOK_AFTER_SECONDS:
            raise Ended(Snooze(LOOK_AFTER_SECONDS - waited, ABOUT_TO_LOOK))
        found = self.delivery.platform.find(
            request.packet_id,
            request.number,
            user_id=request.user_id,
            app_id=request.app_id,
            posted_at=post.started_at,
        )
        self.context.answered()
        return self._accept(request, found.event_id or arrived(found.memories), batches) if found is not None else ""

    def _send(self, request: Batch, batches: int) -> str:
        self.store.begin_post(request.packet_id, request.number, self.delivery.clock.wall())
        try:
            accepted = self.delivery.platform.add(request)
        except PlatformError as error:
            if not error.may_have_arrived:
                self.store.refuse_post(request.packet_id, request.number)
            raise
        self.context.answered()
        if not accepted.event_id and not accepted.finished:
            # the batch may be there all the same: its post stays, and the next try looks first (facts 2.23)
            raise Ended(self._attempt_failed(PacketStatus.MISSING, "the platform's answer named no extraction event"))
        if accepted.told:
            self.delivery.on_memories(self.packet, self.scope, accepted.told)
        return self._accept(request, accepted.event_id or arrived(accepted.memories), batches)

    def _accept(self, request: Batch, slot: str, batches: int) -> str:
        self.store.accept_post(request.packet_id, request.number, slot, batches=batches, at=self.delivery.clock.wall())
        return slot

    def _confirm(self, slots: Sequence[str]) -> Outcome:
        """Close the packet if every extraction succeeded; else wait, or end this attempt."""
        self.delivery.extractions.looked(self.context.job.id)
        verdicts = [self._verdict(slot) for slot in slots]
        failed = {number: verdict for number, verdict in enumerate(verdicts) if _is_failed(verdict)}
        if failed:
            return self._extraction_failed(failed)
        if all(verdict is not None for verdict in verdicts):
            return self._delivered(slots, verdicts)
        return self._wait(slots, verdicts)

    def _extraction_failed(self, failed: Mapping[int, Extraction]) -> Outcome:
        """Have every failed batch posted again, at the cost of one attempt (facts 2.20, 2.21).

        A missing one is looked for first: the platform may have dropped the event of a batch that it did take in.
        """
        for number, verdict in failed.items():
            is_missing = verdict.state is ExtractionState.MISSING
            self.store.forget_slot(self.packet.packet_id, number, may_have_arrived=is_missing)
            self.delivery.extractions.forget(verdict.event_id)
        first = next(iter(failed.values()))
        why = why_extraction_failed(
            first, lambda: packet_requests.requests(self.store, self.packet, self.scope, self.delivery)
        )
        return self._attempt_failed(_FAILED_STATUS[first.state], self.delivery.redact(why))

    def _verdict(self, slot: str) -> Extraction | None:
        made = made_by_arrived(slot)
        if made is not None:
            return Extraction(slot, ExtractionState.SUCCEEDED, memories=made)
        return self.delivery.extractions.verdict(slot)

    def _wait(self, slots: Sequence[str], verdicts: Sequence[Extraction | None]) -> Outcome:
        packet_id, now = self.packet.packet_id, self.delivery.clock.wall()
        open_slots = [slot for slot, verdict in zip(slots, verdicts, strict=True) if verdict is None]
        since = [post.waiting_since for post in self.store.posts(packet_id) if post.waiting_since]
        away = [self.delivery.extractions.away_seconds(slot) for slot in open_slots]
        left = max(since, default=now) + self.delivery.extraction_wait_seconds - now
        if not since or (left <= 0.0 and None in away):
            # a plugin filled the slots, or the wait went by while no daemon ran: it begins with the first look
            self.store.restart_wait(packet_id, now)
            left = self.delivery.extraction_wait_seconds
        left += max((seconds for seconds in away if seconds), default=0.0)
        if left <= 0.0 and self._ask(open_slots):
            return self._confirm(slots)
        if left <= 0.0:
            self.store.restart_wait(packet_id, now)
            for slot in open_slots:
                self.delivery.extractions.forget(slot)
            return self._attempt_failed(PacketStatus.TIMEOUT, "the extraction took longer than its wait")
        for slot in open_slots:
            self.delivery.extractions.register(slot, self.context.job.id)
        return Snooze(left, EXTRACTION_OPEN)

    def _ask(self, slots: Sequence[str]) -> bool:
        """Ask once more at the end of the wait; True if any verdict came, or if the answer shows that the destination
        was away meanwhile: it was not the extraction that took so long, and the wait is longer by that."""
        came = False
        for slot in slots:
            before = self.delivery.extractions.away_seconds(slot) or 0.0
            try:
                answer = self.delivery.platform.extraction(slot)
            except PlatformError:
                self.store.restart_wait(self.packet.packet_id, self.delivery.clock.wall())
                raise
            self.context.answered()
            came = self.delivery.extractions.told(answer) is not None or came
            came = came or (self.delivery.extractions.away_seconds(slot) or 0.0) - before > AWAY_SECONDS
        return came

    def _delivered(self, slots: Sequence[str], verdicts: Sequence[Extraction | None]) -> Outcome:
        memories = sum(verdict.memories for verdict in verdicts if verdict is not None)
        told = [memory for verdict in verdicts if verdict is not None for memory in verdict.told]
        if told:
            self.delivery.on_memories(self.packet, self.scope, told)
        self.store.close_packet(self.packet.packet_id, PacketStatus.SUCCEEDED)
        for slot in slots:
            self.delivery.extractions.forget(slot)
        if not self.store.own:
            self._tell_plugin(memories)
        checkpoint = str(self.context.job.payload.get("checkpoint", ""))
        ends = checkpoint if checkpoint and self.store.own and self.store.is_all_sent(self.packet) else ""
        made = f"{memories:,} {'memory' if memories == 1 else 'memories'} made" if memories else "nothing new"
        return Done(f"delivered: {made}", wake_lane=True, ends=ends)

    def _tell_plugin(self, memories: int) -> None:
        """Add the delivery to the log from which a plugin's own status tells its last operation (facts 2.35)."""
        done = Operation(
            "flush-retry" if self.packet.attempts else "flush",
            session_id=self.packet.session_id,
            repo_id=self.packet.repo_id,
            item_count=memories,
        )
        with contextlib.suppress(EvidenceError):  # the packet is delivered and closed, whatever becomes of this line
            self.store.record_operation(done)

    def _attempt_failed(self, status: PacketStatus, why: str) -> Outcome:
        attempts = self.store.fail_packet(self.packet.packet_id, status, why)
        if attempts < MAX_ATTEMPTS:
            return Retry(why)
        self.store.close_packet(self.packet.packet_id, PacketStatus.GAVE_UP, error=why)
        return GiveUp(why, wake_lane=True)


def _is_failed(verdict: Extraction | None) -> TypeGuard[Extraction]:
    return verdict is not None and verdict.state in _FAILED_STATUS
