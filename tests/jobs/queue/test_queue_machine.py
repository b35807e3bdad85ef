"""Any order of events: the store does what the model does, and so loses no job, does none twice, keeps every lane."""

import shutil
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from jobs.job import JobState, NewJob
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.queue.claims import Claim
from tests.jobs.queue.queue_model import Model, Row
from tests.jobs.queue.queues import FACTORIES, LEASE, World

pytestmark = pytest.mark.no_cover  # thousands of steps; the queue's own tests run every line

IDS = [f"j{n}" for n in range(16)]
LANES = ["", "s1", "s2"]
DESTINATIONS = ["", "api", "api", "local"]
OWN = "the job's own"
MAY = {
    "retry": {JobState.DEAD, JobState.CANCELLED, JobState.WAITING},
    "cancel": {JobState.READY, JobState.WAITING},
    "discard": {JobState.DEAD},
}
Held = tuple[Claim, Row, int]
"""A claim, its row in the model, and the how-manieth run of that it is."""

ids = st.sampled_from(IDS)
cools = st.builds(
    Cool,
    st.sampled_from([OWN, OWN, OWN, "local"]),
    st.just("503"),
    st.sampled_from(["busy", "offline", "key-refused"]),
    delay=st.sampled_from([None, 0.0, 200.0]),
    parked=st.booleans(),
)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    cools,
    cools,
    st.builds(Done, wake_lane=st.booleans(), ends=st.one_of(st.just(""), ids)),
    st.builds(
        Snooze, st.sampled_from([0.0, 5.0, 500.0]), st.just("not yet"), wake=st.lists(ids, max_size=2, unique=True)
    ),
    st.builds(Retry, st.just("422"), st.sampled_from([None, 1.0])),
    st.builds(GiveUp, st.just("413"), wake_lane=st.booleans()),
)


def of(row: Row, outcome: Outcome) -> Outcome:
    """Return the outcome with a job's own destination filled in."""
    if isinstance(outcome, Cool) and outcome.destination == OWN:
        return replace(outcome, destination=row.destination)
    return outcome


new_jobs = st.tuples(
    ids,
    st.sampled_from(LANES),
    st.sampled_from(DESTINATIONS),
    st.integers(-1, 1),
    st.sampled_from([0.0, 0.0, 0.0, 5.0]),
)


class QueueMachine(RuleBasedStateMachine):
    """The store and the model side by side; claims are kept, also those that were lost."""

    claims = Bundle("claims")
    store = "sqlite"

    @initialize(new=st.lists(new_jobs, min_size=5, max_size=10))
    def start(self, new: list[tuple[str, str, str, int, float]]) -> None:
        self.directory = tempfile.mkdtemp(dir="/tmp")
        self.stack = ExitStack()
        self.stack.callback(shutil.rmtree, self.directory)
        self.world: World = self.stack.enter_context(FACTORIES[self.store](Path(self.directory)))
        self.model = Model(LEASE, self.world.hands.wall_now)
        self.done: Counter[str] = Counter()
        self.enqueue(new)

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()

    @rule(new=st.lists(new_jobs, min_size=1, max_size=4))
    def enqueue(self, new: list[tuple[str, str, str, int, float]]) -> None:
        jobs = [
            NewJob(job_id, "flush", lane=lane, destination=destination, priority=priority, delay=delay)
            for job_id, lane, destination, priority, delay in new
        ]
        assert self.world.queue.enqueue(*jobs) == sum(self.model.enqueue(*each) for each in new)

    @rule(target=claims)
    def claim(self) -> object:
        return self._claimed(self.world.queue.claim())

    @rule(runs=st.lists(st.tuples(outcomes, st.booleans(), st.sampled_from([0.0, 1000.0])), min_size=2, max_size=8))
    def work(self, runs: list[tuple[Outcome, bool, float]]) -> None:
        for outcome, answered, seconds in runs:
            self._move(seconds)
            held = self._claimed(self.world.queue.claim())
            if isinstance(held, tuple):
                self._finish(held, outcome, answered)

    @rule(
        runs=st.lists(st.tuples(outcomes, st.booleans()), min_size=2, max_size=5),
        released=st.sampled_from(DESTINATIONS),
    )
    def work_together(self, runs: list[tuple[Outcome, bool]], released: str) -> None:
        """Several run at once; in their midst a person or a new key releases a destination."""
        held = [self._claimed(self.world.queue.claim()) for _ in runs]
        for number, (each, (outcome, answered)) in enumerate(zip(held, runs, strict=True)):
            if isinstance(each, tuple):
                self._finish(each, outcome, answered)
            if number == len(runs) // 2:
                self.release(released)

    def _claimed(self, claim: Claim | None) -> Any:
        row = self.model.claim()
        assert (claim and claim.job.id) == (row and row.id)
        if claim is None or row is None:
            return multiple()
        assert (claim.job.attempts, claim.job.crashes) == (row.attempts, row.crashes)
        return (claim, row, row.runs)

    @rule(held=consumes(claims), outcome=outcomes, answered=st.booleans())
    def finish_twice(self, held: Held, outcome: Outcome, answered: bool) -> None:
        self._finish(held, outcome, answered)
        assert self.world.queue.finish(held[0], Done()) is None

    def _finish(self, held: Held, outcome: Outcome, answered: bool) -> None:
        claim, row, run = held
        outcome = of(row, outcome)
        job = self.world.queue.finish(claim, outcome, answered=answered)
        self._finished(job is not None, row, run, outcome, answered)

    @rule(target=claims, held=consumes(claims), outcome=outcomes, answered=st.booleans())
    def finish_and_claim(self, held: Held, outcome: Outcome, answered: bool) -> object:
        claim, row, run = held
        outcome = of(row, outcome)
        job, following = self.world.queue.finish_and_claim(claim, outcome, answered=answered)
        self._finished(job is not None, row, run, outcome, answered)
        return self._claimed(following)

    def _finished(self, counted: bool, row: Row, run: int, outcome: Outcome, answered: bool) -> None:
        assert counted == (row.state is JobState.CLAIMED and row.runs == run)
        if counted:
            before = self._ended()
            self.model.finish(row, outcome, answered=answered)
            self.done.update(self._ended() - before)

    def _ended(self) -> set[str]:
        return {row.id for row in self.model.rows.values() if row.state is JobState.DONE}

    @rule(held=consumes(claims))
    def unclaim(self, held: Held) -> None:
        claim, row, run = held
        holds = row.state is JobState.CLAIMED and row.runs == run
        assert self.world.queue.unclaim(claim) == holds
        if holds:
            row.state = JobState.READY
            self.model.end_probe(row)

    @rule(held=claims)
    def abandon(self, held: Held) -> None:
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
        self.model.lived = 0.0
        assert self.world.queue.void_claims() == self.model.void()

    @rule(seconds=st.sampled_from([1.0, LEASE, 1000.0, 1000.0]))
    def time_passes(self, seconds: float) -> None:
        self._move(seconds)

    def _move(self, seconds: float) -> None:
        self.world.hands.move(seconds)
        self.model.now += seconds
        self.model.lived += seconds

    @rule(seconds=st.sampled_from([-86400.0, 86400.0]))
    def clock_jumps(self, seconds: float) -> None:
        self.world.hands.wall_now += seconds
        self.world.queue.shift_clock(seconds)
        self.model.shift(seconds)

    @rule(job_ids=st.lists(ids, max_size=3, unique=True), lane=st.sampled_from(LANES))
    def wake(self, job_ids: list[str], lane: str) -> None:
        assert self.world.queue.wake(*job_ids) == self.model.wake(lambda row: row.id in job_ids)
        assert self.world.queue.wake_lane(lane) == self.model.wake(lambda row: bool(lane) and row.lane == lane)

    @rule(destination=st.sampled_from(DESTINATIONS))
    def release_one(self, destination: str) -> None:
        self.release(destination)

    def release(self, destination: str) -> None:
        assert self.world.queue.release(destination) == self.model.release(destination)

    @rule(job_id=ids, verb=st.sampled_from(["retry", "cancel", "discard"]))
    def a_person_decides(self, job_id: str, verb: str) -> None:
        row = self.model.rows.get(job_id)
        may = row is not None and self.model.shown(row) in MAY[verb]
        done = self.world.queue.cancel(job_id, "no") if verb == "cancel" else getattr(self.world.queue, verb)(job_id)
        assert done == may
        if row is None or not may:
            return
        if verb == "retry":
            row.state, row.attempts, row.crashes, row.cools = JobState.READY, 0, 0, 0
        else:
            row.state = JobState.CANCELLED

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
    max_examples=60,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestQueueMachine = QueueMachine.TestCase
