"""The copies of a target on this machine: found, counted and deleted, in an order in which a crash anywhere leaves
nothing that could bring them back (the tombstone is there before)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from daemon.compose import Parts
from daemon.fleet import withdrawing
from daemon.forgetting.handoff_files import HandoffFiles
from daemon.forgetting.target import MEMORY, Target
from daemon.intake.spool import Spool
from jobs.delivery import lane
from jobs.job import ACTIVE, JobState
from jobs.queue.errors import QueueError
from memsyncd.clock import rfc3339
from memsyncd.evidence import deleting as evidence
from memsyncd.evidence.deleting import Belongings
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.local import deleting as memories
from memsyncd.platforms.platform import PlatformError
from memsyncd.scope.remote import shared_ids

FORGOTTEN = "what it was for is forgotten"
"""The reason of a withdrawn job."""

UNDER_WAY_SECONDS = 5.0
"""How long a job that runs at this moment is waited for. What it sends after all is looked for on the platform."""

LOOK_SECONDS = 0.02

MANY = 10_000

TRIES, PAUSE_SECONDS = 10, 0.2
"""How often a file that another program is at is tried to be made smaller."""

TROUBLE = (EvidenceError, PlatformError, QueueError, OSError)
"""What one part may meet without costing the others anything."""

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Found:
    """What there is of a target: its sessions with the spools they are in, and the packets whose delivery was open."""

    sessions: Sequence[tuple[str, str]] = ()
    packets: Sequence[str] = ()
    open_packets: Sequence[str] = ()
    rows: dict[str, int] = field(default_factory=dict)


@dataclass
class LocalCopies:
    """Of one target. With `is_alone` nobody else is at the spools, and claimed handoffs are nobody's; `again` tells a
    request that was cut off. `trouble` collects what could not be done, as sentences; it will be tried again at the
    next start."""

    parts: Parts
    target: Target
    is_alone: bool
    again: bool = False
    trouble: list[str] = field(default_factory=list)

    def find(self) -> Found:
        """Look at the evidence of every spool."""
        sessions: list[tuple[str, str]] = []
        packets: list[str] = []
        open_packets: list[str] = []
        rows: dict[str, int] = {}
        for spool, store in self.parts.served.stores():
            found = self._try(spool.name, partial(store.belongings, self._whose()), Belongings())
            sessions += [(spool.name, session) for session in found.sessions if found.rows or self.target.session_id]
            packets += found.packets
            open_packets += found.open_packets
            rows = _sum(rows, found.rows)
        return Found(sessions, packets, open_packets, rows)

    def count(self) -> dict[str, int]:
        """Return how much would go, by kind."""
        found = self.find()
        counts = dict(found.rows)
        for spool in self.parts.served.spools():
            files: dict[str, int] = self._try(
                spool.name, partial(self._files(found).delete, spool, only_count=True), {}
            )
            counts = _sum(counts, files)
        counts = _sum(counts, self._queue_copies(found, only_count=True))
        ids = self._shown_ids()
        for spool, store in self.parts.served.stores():
            shown = self._try(spool.name, partial(store.count_shown, ids, self._whose()), 0)
            counts = _sum(counts, {"retrievals": shown} if shown else {})
        counts = _sum(counts, {"jobs": self._jobs(found)})
        return _sum(counts, {"memories": self._try("memories", self._count_memories, 0)})

    def delete(self, found: Found) -> dict[str, int]:
        """Delete all of it; return how much went, by kind. `trouble` is empty where nothing is left."""
        deleted = {"jobs": self._try("queue", partial(self._withdraw, found), 0)}
        for spool in self.parts.served.spools():
            deleted = _sum(deleted, self._try(spool.name, partial(self._files(found).delete, spool), {}))
        deleted = _sum(deleted, self._queue_copies(found))
        ids = self._shown_ids()  # while the memories are there to tell them
        for spool, store in self.parts.served.stores():
            deleted = _sum(deleted, self._evidence(spool, store, ids))
        deleted = _sum(deleted, self._try("memories", self._delete_memories, {}))
        deleted = _sum(deleted, {"telemetry_events": self._telemetry(found)})
        return {name: number for name, number in deleted.items() if number}

    def purge(self) -> int:
        """Withdraw the jobs of a session and delete its evidence, nothing else; return how many events went. Where not
        all could be withdrawn the evidence stays, so that it is tried again."""
        found = self.find()
        self._try("queue", partial(self._withdraw, found), 0)
        events = 0
        if self.trouble:
            return events
        for spool, store in self.parts.served.stores():
            if store.own:
                events += self._evidence(spool, store, ()).get("events", 0)
        return events

    def _whose(self) -> evidence.Whose:
        return evidence.Whose(self.target.session_id, self.target.repo_id)

    def _files(self, found: Found) -> HandoffFiles:
        sessions = {session for _, session in found.sessions} | ({self.target.session_id} - {""})
        return HandoffFiles(
            self.target, sessions, self.parts.resolver.resolve, self.parts.clock.wall(), claims=self.is_alone
        )

    def _queue_copies(self, found: Found, *, only_count: bool = False) -> dict[str, int]:
        files, queue = self._files(found), self.parts.places.queue_file
        counts: dict[str, int] = self._try("queue", partial(files.delete_copies, queue, only_count=only_count), {})
        return counts

    def _shown_ids(self) -> Sequence[str]:
        """Return the memories that go: other sessions were shown them, and may tell their subagents of them."""
        if self.target.memory_id:
            return [self.target.memory_id]
        return self._try("memories", partial(memories.ids, self.parts.places.memory_file, self._whose_memories()), ())

    def _evidence(self, spool: Spool, store: EvidenceStore, shown: Sequence[str]) -> dict[str, int]:
        """Delete the evidence, and with it what other sessions were `shown` (ids of memories)."""
        if store.read_only:
            if self._try(spool.name, partial(store.belongings, self._whose()), Belongings()).rows:
                self.trouble.append(f"{spool.name}: its evidence is served read-only")
            return {}
        deleted: dict[str, int] = {}
        if self.target.kind != MEMORY:
            deleted = self._try(spool.name, partial(store.forget, self._whose()), {})
        if shown:
            number = self._try(spool.name, partial(store.forget_shown, shown), 0)
            deleted = _sum(deleted, {"retrievals": number}) if number else deleted
        if deleted or self.again:
            self._patiently(spool.name, store.give_back_space)
        return deleted

    def _count_memories(self) -> int:
        return memories.count(self.parts.places.memory_file, self._whose_memories())

    def _delete_memories(self) -> dict[str, int]:
        path = self.parts.places.memory_file
        deleted = memories.delete(path, self._whose_memories(), at=rfc3339(self.parts.clock.wall()))
        if deleted or self.again:
            self._patiently("memories", partial(memories.give_back_space, path))
        return deleted

    def _whose_memories(self) -> memories.Whose:
        target = self.target
        shared = shared_ids(target.app_id, target.project_id, target.repo_id)
        return memories.Whose(target.session_id, target.app_id, shared, target.memory_id)

    def _telemetry(self, found: Found) -> int:
        from daemon.forgetting import telemetry_lines  # noqa: PLC0415  (while telemetry is off no daemon loads its room)

        names = [*{session for _, session in found.sessions}, *([self.target.repo_id] if self.target.repo_id else [])]
        told = telemetry_lines.hashes(self.parts.places.data, names)
        places = [self.parts.places.data, *(spool.path for spool in self.parts.served.spools() if spool.own)]
        return sum(telemetry_lines.drop(place, told) for place in places)

    def _jobs(self, found: Found) -> int:
        lanes = [lane(spool, session) for spool, session in found.sessions]
        queue, fleet = self.parts.queue, self.parts.fleet
        shared = self._try("shared queue", partial(withdrawing.count, fleet, found.sessions), 0) if fleet else 0
        return shared + sum(len(queue.jobs(state=state, lane=name, limit=MANY)) for name in lanes for state in ACTIVE)

    def _withdraw(self, found: Found) -> int:
        """Withdraw what waits, wait for what runs, and let go of the handoffs that were held for it."""
        queue = self.parts.queue
        lanes = [lane(spool, session) for spool, session in found.sessions]
        deadline = self.parts.clock.monotonic() + UNDER_WAY_SECONDS
        withdrawn = 0
        while True:
            withdrawn += sum(self._withdraw_lane(name) for name in lanes)
            running = any(queue.jobs(state=JobState.CLAIMED, lane=name, limit=1) for name in lanes)
            if not running or self.parts.clock.monotonic() >= deadline:
                break
            time.sleep(LOOK_SECONDS)
        queue.erase(*lanes)
        return withdrawn + self._withdraw_shared(found)

    def _withdraw_shared(self, found: Found) -> int:
        """Take what other machines were to deliver out of their hands; what one of them is at becomes no memory that
        stays, for the request is tried again."""
        fleet = self.parts.fleet
        if fleet is None:
            return 0
        withdrawn, is_held = self._try("shared queue", partial(withdrawing.withdraw, fleet, found.sessions), (0, False))
        if is_held:
            self.trouble.append("shared queue: a worker delivers a part of it at this moment")
        return withdrawn

    def _withdraw_lane(self, name: str) -> int:
        queue, withdrawn = self.parts.queue, 0
        for state in (JobState.READY, JobState.WAITING, JobState.DEAD):
            for job in queue.jobs(state=state, lane=name, limit=MANY):
                if queue.discard(job.id) if state is JobState.DEAD else queue.cancel(job.id, FORGOTTEN):
                    self.parts.ingest.requests.over(job.id, JobState.CANCELLED, FORGOTTEN)
                    withdrawn += 1
        return withdrawn

    def _patiently(self, where: str, act: Callable[[], None]) -> None:
        for left in range(TRIES, 0, -1):
            try:
                act()
            except TROUBLE as error:
                if left == 1:
                    self.trouble.append(f"{where}: its space is not given back yet ({error})")
                    return
                time.sleep(PAUSE_SECONDS)
            else:
                return

    def _try(self, where: str, act: Callable[[], _Result], otherwise: _Result) -> _Result:
        """Do a part; what fails costs the other parts nothing."""
        try:
            return act()
        except TROUBLE as error:
            self.trouble.append(f"{where}: {error}")
            return otherwise


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *(set(other) - set(one)))}
