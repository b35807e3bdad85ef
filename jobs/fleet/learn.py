"""An edge's standing job: what became of the packets that the shared queue has taken."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from jobs.failures import after_store_error
from jobs.fleet import ends
from jobs.fleet.ends import End, Jobs
from jobs.job import ACTIVE, JobState, NewJob
from jobs.outcomes import Ended, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.errors import QueueError
from jobs.queue.shared_queue import SharedQueue
from memsyncd.clock import Clock, from_rfc3339
from memsyncd.evidence.errors import EvidenceError
from memsyncd.evidence.event import Packet, PacketStatus
from memsyncd.evidence.store import EvidenceStore

LEARN = "learn"

LEARN_SECONDS = 5.0
"""Between two looks while packets are in the shared queue."""

LONGEST_SECONDS = 60.0
"""The longest pause between two looks: it grows to this where nothing ends, so that a thousand edges of a backlog are
no load."""

GIVEN_UP_SECONDS = 300.0
"""Between two looks at packets that were given up: somebody may have had a dead letter tried again."""

GIVEN_UP_LOOKED_AT = 200
"""Of a spool, the newest."""

GIVEN_UP_DAYS = 90
"""As long as dead letters are kept unless a worker is told otherwise."""

IDLE_SECONDS = 3600.0
"""The sleep when nothing is out; a packet that goes there wakes the job."""

AT_ONCE = 500
"""Packets in one question."""

QUESTIONS = 4
"""For each spool in one look; with more packets out, the next look goes on behind them."""

YOUNG_SECONDS = 20 * 3600.0
"""Nothing is pruned within a day of its end. What is gone sooner was lost: the database is an older copy."""


@dataclass(frozen=True)
class Learner:
    """`stores` gives the spools' names with their stores; `queue` is the shared one, and raises QueueUnavailable while
    it cannot be reached; `edge` is this machine's own name there. `on_end` hears of each packet's end, `on_lost` of one
    whose jobs the database has lost."""

    stores: Callable[[], Iterable[tuple[str, EvidenceStore]]]
    queue: Callable[[], SharedQueue]
    edge: str
    on_end: Callable[[Packet, End], None]
    on_lost: Callable[[EvidenceStore, Packet], None]
    clock: Clock


def learn_job() -> NewJob:
    """Return the one job of its kind."""
    return NewJob(id=LEARN, kind=LEARN)


def learn(context: JobContext, learner: Learner) -> Outcome:
    """Close the packets whose delivery has ended, and open those again that are tried again."""
    try:
        look = _Look(context, learner)
        for spool, store in learner.stores():
            look.at_given_up(spool, store)
            look.at_shared(spool, store)
    except (EvidenceError, QueueError) as error:
        return after_store_error(error)
    return look.outcome()


def packets_dead(learner: Learner) -> int:
    """Return how many of the packets given up lately have a dead letter in the shared queue still, that nobody had
    tried again or discarded. Raises QueueUnavailable; a store that cannot be read is passed over."""
    found = 0
    for spool, store in learner.stores():
        with suppress(EvidenceError):
            if packets := _given_up(store, learner.clock.wall()):
                jobs = ends.jobs_of(learner.queue(), learner.edge, spool, packets, most=0)
                found += sum(any(job.state is JobState.DEAD for job in each.values()) for each in jobs.values())
    return found


def _given_up(store: EvidenceStore, now: float) -> Sequence[Packet]:
    """Return the newest packets given up, of which there may be dead letters."""
    since = now - GIVEN_UP_DAYS * 86_400.0
    newest = store.given_up_packets(GIVEN_UP_LOOKED_AT)
    return [packet for packet in newest if (from_rfc3339(packet.updated_at) or 0.0) > since]


@dataclass
class _Look:
    """One look at all that is out. `out` packets are on their way still, `moved` ones ended or are tried again; there
    are `given_up` ones that may be, and `elsewhere` are those that were put into another queue, which this machine had
    before. `behind` is, by the spool, the first event of the last packet that it came to."""

    context: JobContext
    learner: Learner
    out: int = 0
    moved: int = 0
    given_up: int = 0
    elsewhere: int = 0
    behind: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._now, known = self.learner.clock.wall(), self.context.job.payload
        self._queue = self.learner.queue()
        is_other = known.get("queue", self._queue.identity) != self._queue.identity
        self._since = self._now if is_other else float(known.get("since", 0.0))
        self._looked_at = float(known.get("given_up_at", 0.0))
        self._is_due = abs(self._now - self._looked_at) >= GIVEN_UP_SECONDS

    def at_shared(self, spool: str, store: EvidenceStore) -> None:
        """Close what has ended."""
        after = int(self.context.job.payload.get("behind", {}).get(spool, 0))
        for _ in range(QUESTIONS):
            packets = store.shared_packets(AT_ONCE, after=after)
            jobs = self._jobs(spool, packets)
            for packet in packets:
                self._see(store, packet, jobs[packet.packet_id])
            if len(packets) < AT_ONCE:
                return
            if self.context.stopping.is_set():
                raise Ended(Snooze(0.0, "the daemon is stopping"))
            after = packets[-1].event_start
        self.behind[spool] = after

    def at_given_up(self, spool: str, store: EvidenceStore) -> None:
        """Take those as on their way again that are, or were delivered since: somebody had dead letters tried again."""
        if not self._is_due:
            self.given_up += 1  # for all it knows
            return
        self._looked_at = self._now
        packets = _given_up(store, self._now)
        jobs = self._jobs(spool, packets, most=0)
        for packet in packets:
            states = {job.state for job in jobs[packet.packet_id].values()}
            if states & ACTIVE or states == {JobState.DONE}:
                store.close_packet(packet.packet_id, PacketStatus.SHARED)
                self.moved += 1
            self.given_up += bool(states)

    def outcome(self) -> Outcome:
        """Return when to look again."""
        if self.behind or self.moved:
            return self._again(LEARN_SECONDS)
        if self.out:
            paused = float(self.context.job.payload.get("seconds", LEARN_SECONDS))
            return self._again(min(paused * 1.5, LONGEST_SECONDS))
        which = {"queue": self._queue.identity, "since": self._since}
        if self.elsewhere:
            return Snooze(GIVEN_UP_SECONDS, f"{self.elsewhere:,} packets are in another shared queue", which)
        if self.given_up:
            return Snooze(GIVEN_UP_SECONDS, "nothing is in the shared queue but what was given up", which)
        return Snooze(IDLE_SECONDS, "nothing is in the shared queue", which)

    def _again(self, seconds: float) -> Outcome:
        payload = {
            "seconds": seconds,
            "behind": self.behind,
            "given_up_at": self._looked_at,
            "queue": self._queue.identity,
            "since": self._since,
        }
        return Snooze(seconds, "packets are in the shared queue", payload)

    def _jobs(self, spool: str, packets: Sequence[Packet], **options: int) -> Mapping[str, Jobs]:
        if not packets:
            return {}
        return ends.jobs_of(self._queue, self.learner.edge, spool, packets, **options)

    def _see(self, store: EvidenceStore, packet: Packet, jobs: Jobs) -> None:
        put_in_at = from_rfc3339(packet.updated_at) or 0.0
        if not jobs and put_in_at < self._since:
            self.elsewhere += 1
            return
        if not jobs and self._now - put_in_at < YOUNG_SECONDS:
            self.learner.on_lost(store, packet)
            return
        end = ends.end(jobs)
        if end is None:
            self.out += 1
            return
        store.close_packet(packet.packet_id, end.status, error=end.error)
        self.learner.on_end(packet, end)
        self.moved += 1
