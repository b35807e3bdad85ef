"""Any order of events: the store does what the model does, and so loses no job, does none twice, keeps every lane."""

import shutil
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from jobs.claims import Claim
from jobs.job import JobState
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from tests.jobs.queue_model import Model, Row
from tests.jobs.queues import FACTORIES, LEASE, World

IDS = [f"j{n}" for n in range(12)]
LANES = ["", "s1", "s2"]
DESTINATIONS = ["", "api", "local"]
OVER = {JobState.DONE, JobState.CANCELLED}

ids = st.sampled_from(IDS)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Done, wake_lane=st.booleans()),
    st.builds(Snooze, st.sampled_from([0.0, 5.0, 500.0]), st.just("not yet")),
    st.builds(Retry, st.just("422"), st.sampled_from([None, 1.0])),
    st.builds(GiveUp, st.just("413"), wake_lane=st.booleans()),
    st.builds(
        Cool,
        st.sampled_from(["api", "local"]),
        st.just("503"),
        st.sampled_from(["busy", "offline", "key-refused"]),
        delay=st.sampled_from([None, 0.0, 200.0]),
        parked=st.booleans(),
    ),
)


class QueueMachine(RuleBasedStateMachine):
    """The store and the model side by side; claims are kept, also those that were lost."""

    claims = Bundle("claims")
    store = "sqlite"

    @initialize()
    def start(self) -> None:
        self.directory = tempfile.mkdtemp(dir="/tmp")
        self.stack = ExitStack()
        self.stack.callback(shutil.rmtree, self.directory)
        self.world: World = self.stack.enter_context(FACTORIES[self.store](Path(self.directory)))
        self.model = Model(LEASE, self.world.hands.wall_now)
        self.done: Counter[str] = Counter()

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()

    @rule(
        job_id=ids, lane=st.sampled_from(LANES), destination=st.sampled_from(DESTINATIONS),
        priority=st.integers(-1, 1), delay=st.sampled_from([0.0, 0.0, 5.0, 500.0]),
    )  # fmt: skip
    def enqueue(self, job_id: str, lane: str, destination: str, priority: int, delay: float) -> None:
        stored = self.world.enqueue(job_id, lane=lane, destination=destination, priority=priority, delay=delay)
        assert stored == self.model.enqueue(job_id, lane, destination, priority, delay)

    @rule(target=claims)
    def claim(self) -> object:
        return self._claimed(self.world.queue.claim())

    def _claimed(self, claim: Claim | None) -> object:
        row = self.model.claim()
        assert (claim and claim.job.id) == (row and row.id)
        if claim is None or row is None:
            return multiple()
        assert (claim.job.attempts, claim.job.crashes) == (row.attempts, row.crashes)
        return (claim, row, row.runs)

    @rule(held=claims, outcome=outcomes, answered=st.booleans())
    def finish(self, held: tuple[Claim, Row, int], outcome: Outcome, answered: bool) -> None:
        claim, row, run = held
        job = self.world.queue.finish(claim, outcome, answered=answered)
        self._finished(job is not None, row, run, outcome, answered)

    @rule(target=claims, held=consumes(claims), outcome=outcomes, answered=st.booleans())
    def finish_and_claim(self, held: tuple[Claim, Row, int], outcome: Outcome, answered: bool) -> object:
        claim, row, run = held
        job, following = self.world.queue.finish_and_claim(claim, outcome, answered=answered)
        self._finished(job is not None, row, run, outcome, answered)
        return self._claimed(following)

    def _finished(self, counted: bool, row: Row, run: int, outcome: Outcome, answered: bool) -> None:
        assert counted == (row.state is JobState.CLAIMED and row.runs == run)
        if counted:
            self.model.finish(row, outcome, answered=answered)
            self.done[row.id] += isinstance(outcome, Done)

    @rule(held=claims)
    def unclaim(self, held: tuple[Claim, Row, int]) -> None:
        claim, row, run = held
        holds = row.state is JobState.CLAIMED and row.runs == run
        assert self.world.queue.unclaim(claim) == holds
        if holds:
            row.state = JobState.READY
            self.model.end_probe(row)

    @rule(held=claims)
    def abandon(self, held: tuple[Claim, Row, int]) -> None:
        claim, row, run = held
        self.world.queue.abandon(claim)
        if row.runs == run:
            row.living = False

    @rule()
    def renew(self) -> None:
        claimed = [row for row in self.model.rows.values() if row.state is JobState.CLAIMED and row.living]
        assert self.world.queue.renew() == len(claimed)
        for row in claimed:
            row.expires = self.model.now + LEASE

    @rule()
    def crash(self) -> None:
        self.world.reopen()
        assert self.world.queue.void_claims() == self.model.void()

    @rule(seconds=st.sampled_from([1.0, 30.0, LEASE, 1000.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.hands.move(seconds)
        self.model.now += seconds

    @rule(seconds=st.sampled_from([-86400.0, 86400.0]))
    def clock_jumps(self, seconds: float) -> None:
        self.world.hands.wall_now += seconds
        self.world.queue.shift_clock(seconds)
        self.model.shift(seconds)

    @rule(job_ids=st.lists(ids, max_size=3, unique=True))
    def wake(self, job_ids: list[str]) -> None:
        assert self.world.queue.wake(*job_ids) == self.model.wake(lambda row: row.id in job_ids)

    @rule(lane=st.sampled_from(LANES))
    def wake_lane(self, lane: str) -> None:
        assert self.world.queue.wake_lane(lane) == self.model.wake(lambda row: bool(lane) and row.lane == lane)

    @rule(destination=st.sampled_from(DESTINATIONS))
    def release(self, destination: str) -> None:
        assert self.world.queue.release(destination) == self.model.release(destination)

    @rule(job_id=ids)
    def retry(self, job_id: str) -> None:
        row = self.model.rows.get(job_id)
        may = row is not None and self.model.shown(row) in {JobState.DEAD, JobState.CANCELLED, JobState.WAITING}
        assert self.world.queue.retry(job_id) == may
        if row is not None and may:
            row.state, row.attempts, row.crashes, row.cools = JobState.READY, 0, 0, 0

    @rule(job_id=ids)
    def cancel(self, job_id: str) -> None:
        row = self.model.rows.get(job_id)
        may = row is not None and row.state in {JobState.READY, JobState.WAITING}
        assert self.world.queue.cancel(job_id, "no") == may
        if row is not None and may:
            row.state = JobState.CANCELLED

    @rule(job_id=ids)
    def discard(self, job_id: str) -> None:
        row = self.model.rows.get(job_id)
        may = row is not None and row.state is JobState.DEAD
        assert self.world.queue.discard(job_id) == may
        if row is not None and may:
            row.state = JobState.CANCELLED

    @rule()
    def prune(self) -> None:
        over = [job_id for job_id, row in self.model.rows.items() if row.state in OVER]
        assert self.world.queue.prune(finished_before=self.world.hands.wall_now - 10**9) == 0
        assert {job.id for job in self.world.queue.jobs() if job.state in OVER} == set(over)

    @invariant()
    def the_store_is_as_the_model(self) -> None:
        if not hasattr(self, "world"):
            return
        jobs = {job.id: job for job in self.world.queue.jobs()}
        assert {
            job.id: (job.state, job.attempts, job.crashes) for job in jobs.values()
        } == {row.id: (self.model.shown(row), row.attempts, row.crashes) for row in self.model.rows.values()}  # fmt: skip
        assert {each.name: each for each in self.world.queue.destinations()} == {
            name: place.is_now
            for name, place in self.model.places.items()
            if place.is_now.until is not None or place.is_now.last_success_at is not None
        }

    @invariant()
    def no_lane_runs_two(self) -> None:
        if hasattr(self, "world"):
            lanes = Counter(job.lane for job in self.world.queue.jobs(state=JobState.CLAIMED) if job.lane)
            assert all(count == 1 for count in lanes.values())

    @invariant()
    def none_is_done_twice(self) -> None:
        if hasattr(self, "world"):
            assert all(count == 1 for count in self.done.values() if count)

    @invariant()
    def every_number_adds_up(self) -> None:
        if hasattr(self, "world"):
            counts = self.world.queue.counts()
            total = counts.ready + counts.waiting + counts.claimed + counts.done + counts.dead + counts.cancelled
            assert total == len(self.model.rows)


QueueMachine.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestQueueMachine = QueueMachine.TestCase
