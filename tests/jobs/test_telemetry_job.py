"""The telemetry job: a real queue and real spools, a fake endpoint on loopback, a clock moved by hand."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Cool, Done, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from jobs.telemetry import REFUSED, TELEMETRY, Reporting, stand, telemetry, telemetry_job
from memsyncd.counters import Counters
from memsyncd.platforms.transport import HttpSettings
from memsyncd.telemetry.drain import Drain
from memsyncd.telemetry.posthog import PostHog
from tests.clocks import HandClock
from tests.fakes import mem0_behaviours as behave
from tests.fakes.posthog import PROJECT_KEY, FakePostHog
from tests.jobs.queue.queues import LEASE, Middle
from tests.memsyncd.telemetry.spooling import SENDER, lines, uuid_of

INTERVAL = 300.0


class Reporter:
    """A queue with the one job, two spools, and an endpoint."""

    def __init__(self, directory: Path, fake: FakePostHog) -> None:
        self.fake = fake
        self.hands = HandClock()
        self.spools = [directory / "one", directory / "two"]
        for spool in self.spools:
            spool.mkdir()
        self.counters = Counters()
        self.queue = SqliteQueue(
            directory / "queue.sqlite3",
            clock=self.hands.clock(),
            policy=Policy(),
            counters=Counters(),
            random=Middle(),
            lease=LEASE,
        )
        self.endpoint = PostHog(fake.url, PROJECT_KEY, HttpSettings(), self.hands.clock())
        self.held: str | None = None
        self.stopping = threading.Event()
        self.reporting = Reporting(
            endpoint=self.endpoint,
            drain=Drain(clock=self.hands.clock(), counters=self.counters),
            spools=lambda: self.spools,
            sender=lambda: SENDER,
            interval_seconds=INTERVAL,
            hold=lambda: self.held,
        )
        self.stand(self.endpoint.destination)

    def stand(self, destination: str | None) -> None:
        stand(self.queue, destination)

    def record(self, numbers: range, spool: int = 0) -> None:
        with (self.spools[spool] / "telemetry.jsonl").open("ab") as file:
            file.write(lines(numbers))

    def step(self) -> Outcome | None:
        """Run the job if it may run now."""
        claim = self.queue.claim()
        if claim is None:
            return None
        context = JobContext(claim.job, self.stopping)
        outcome = telemetry(context, self.reporting)
        self.queue.finish(claim, outcome, answered=context.has_answered)
        return outcome

    def ids(self) -> list[str]:
        return [event["uuid"] for event in self.fake.events()]

    def files(self) -> list[str]:
        return sorted(path.name for spool in self.spools for path in spool.iterdir())

    def close(self) -> None:
        self.endpoint.close()
        self.queue.close()


@pytest.fixture
def fake() -> Iterator[FakePostHog]:
    with FakePostHog() as running:
        yield running


@contextmanager
def reporting_from(directory: Path, fake: FakePostHog) -> Iterator[Reporter]:
    made = Reporter(directory, fake)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def reporter(tmp_path: Path, fake: FakePostHog) -> Iterator[Reporter]:
    with reporting_from(tmp_path, fake) as made:
        yield made


def test_everything_else_goes_first(reporter: Reporter) -> None:
    """What is to be delivered does not stand behind it in the queue."""
    reporter.queue.enqueue(NewJob(id="flush", kind="flush"))
    claims = [reporter.queue.claim(), reporter.queue.claim()]
    assert [claim.job.kind for claim in claims if claim] == ["flush", TELEMETRY]


def test_every_spool_is_drained_and_the_job_sleeps(reporter: Reporter) -> None:
    """All that is served, each event once; then again after the interval."""
    reporter.record(range(120))
    reporter.record(range(120, 130), spool=1)
    assert reporter.step() == Snooze(INTERVAL, "130 events sent")
    assert reporter.ids() == [uuid_of(number) for number in range(130)]
    assert reporter.step() is None
    reporter.hands.move(INTERVAL)
    assert reporter.step() == Snooze(INTERVAL, "")


def test_with_nothing_spooled_nothing_is_opened(reporter: Reporter) -> None:
    """A run without events makes no connection (facts 12.21)."""
    reporter.step()
    assert reporter.fake.connections == 0


def test_an_endpoint_that_is_down_cools_and_the_claim_keeps_its_attempts(reporter: Reporter) -> None:
    """One probe after each cooldown, nothing lost, and all of it goes once the endpoint is back."""
    reporter.record(range(3))
    reporter.fake.refuse_connections()
    for _ in range(10):
        outcome = reporter.step()
        assert isinstance(outcome, Cool)
        assert outcome.code == "offline"
        reporter.hands.move(70.0)
    assert len(reporter.files()) == 1
    assert reporter.files()[0].endswith("-a0.sending")
    reporter.fake.accept_connections()
    for _ in range(3):  # the attempts in names have a cooldown of their own
        reporter.hands.move(120.0)
        reporter.step()
    assert reporter.fake.deliveries().total() == 3


def test_a_wait_that_is_asked_for_is_kept(reporter: Reporter) -> None:
    """429 with Retry-After cools the endpoint for as long, and no other spool is tried meanwhile."""
    reporter.record(range(3))
    reporter.record(range(3, 6), spool=1)
    reporter.fake.script(behave.busy(429, "40"))
    outcome = reporter.step()
    assert isinstance(outcome, Cool)
    assert (outcome.code, outcome.delay) == ("busy", 40.0)
    reporter.hands.move(39.0)
    assert reporter.step() is None
    assert len(reporter.fake.requests()) == 1
    reporter.hands.move(6.0)
    reporter.step()
    assert sorted(reporter.ids()) == sorted(uuid_of(number) for number in range(6))


def test_a_refused_key_parks_the_endpoint(reporter: Reporter) -> None:
    """Under a code of its own: nothing of it turns health red. Events wait."""
    reporter.fake.keys.clear()
    reporter.record(range(3))
    outcome = reporter.step()
    assert isinstance(outcome, Cool)
    assert (outcome.code, outcome.parked) == (REFUSED, True)
    assert reporter.files() != []


def test_a_refused_batch_holds_nothing_up(reporter: Reporter) -> None:
    """A 4xx is final for its batch; the rest goes in the same run and the endpoint does not cool."""
    reporter.fake.script(behave.reject(400))
    reporter.record(range(250))
    assert reporter.step() == Snooze(INTERVAL, "150 events sent")
    assert reporter.counters.snapshot()["telemetry_rejected"] == 100
    (left,) = reporter.files()
    assert left.endswith(".rejected")


def test_an_answer_that_never_came_is_asked_for_again_with_the_same_ids(reporter: Reporter) -> None:
    """It may have arrived: the endpoint tells the repeat by its ids and times."""
    reporter.record(range(2))
    reporter.fake.script(behave.commit_and_cut())
    assert isinstance(reporter.step(), Cool)
    reporter.hands.move(10.0)
    reporter.step()
    first, second = reporter.fake.events()[:2], reporter.fake.events()[2:]
    assert first == second


def test_a_spool_nobody_takes_does_not_hold_up_the_others(reporter: Reporter) -> None:
    """After a failure another spool comes first, and the bad batch has its own attempts (DESIGN, promise 4)."""
    reporter.record(range(1))
    reporter.record(range(1, 2), spool=1)
    bad = behave.answer(500)
    reporter.fake.script(bad)
    reporter.step()
    for _ in range(5):
        reporter.hands.move(1000.0)
        reporter.fake.script(behave.NORMAL, bad)
        reporter.record(range(2, 3), spool=1)
        reporter.step()
    assert set(reporter.ids()) == {uuid_of(1), uuid_of(2)}
    assert reporter.counters.snapshot()["telemetry_expired"] == 1


def test_more_than_three_parked_claims_go_on_at_once(reporter: Reporter) -> None:
    """Three a run, and no wait between the runs (facts 12.18)."""
    for number in range(7):
        path = reporter.spools[0] / f"telemetry-9-0000000{number}-a0.sending"
        path.write_bytes(lines(range(number, number + 1)))
        os.utime(path, (reporter.hands.wall_now - 500 + number,) * 2)
    assert reporter.step() == Snooze(0.0, "3 events sent")
    assert reporter.step() == Snooze(0.0, "3 events sent")
    assert reporter.step() == Snooze(INTERVAL, "1 events sent")


def test_a_held_run_sends_nothing(reporter: Reporter) -> None:
    """A consent withdrawn counts before the next batch."""
    reporter.record(range(150))
    reporter.held = "telemetry was switched off"
    assert reporter.step() == Snooze(INTERVAL, "telemetry was switched off")
    assert reporter.fake.connections == 0
    reporter.held = None
    reporter.hands.move(INTERVAL)

    def withdraw(_: object) -> None:
        reporter.held = "telemetry was switched off"

    reporter.fake.on_request = withdraw
    assert reporter.step() == Snooze(INTERVAL, "telemetry was switched off")
    assert len(reporter.ids()) == 100


def test_a_stop_is_heard_between_batches(reporter: Reporter) -> None:
    """The run ends soon, and what is left can go at the next start."""
    reporter.record(range(150))
    reporter.fake.on_request = lambda _: reporter.stopping.set()
    assert reporter.step() == Snooze(0.0, "the daemon is stopping")
    reporter.stopping.clear()
    assert reporter.step() == Snooze(INTERVAL, "50 events sent")


def test_a_call_in_the_air_is_cancelled_by_a_stop(reporter: Reporter) -> None:
    """An endpoint that hangs holds up no stop, and costs no attempt."""
    reporter.record(range(1))
    reporter.fake.always(behave.hang())
    reporter.fake.on_request = lambda _: reporter.endpoint.cancel()
    assert reporter.step() == Snooze(0.0, "the daemon is stopping")
    assert reporter.files()[0].endswith("-a0.sending")


def test_trouble_with_the_disk_is_told_and_tried_soon(reporter: Reporter) -> None:
    """One spool that cannot be read is said in a sentence; the other goes."""
    reporter.spools[0].rmdir()
    reporter.spools[0].write_text("no directory")
    reporter.record(range(1), spool=1)
    outcome = reporter.step()
    assert isinstance(outcome, Snooze)
    assert outcome.delay == 60.0
    assert "cannot be read" in outcome.why
    assert len(reporter.ids()) == 1


def test_the_job_of_another_endpoint_ends(reporter: Reporter) -> None:
    """What was queued under earlier settings sends nothing anywhere."""
    reporter.record(range(1))
    other = telemetry_job("telemetry:https://elsewhere.example.org")
    context = JobContext(replace(reporter.queue.claim().job, destination=other.destination), threading.Event())  # type: ignore[union-attr]
    assert telemetry(context, reporter.reporting) == Done("telemetry goes elsewhere")
    assert reporter.fake.connections == 0


def test_there_is_one_job_whatever_was_before(reporter: Reporter) -> None:
    """Other endpoints' jobs are gone, one's own lives again: done, cancelled or dead."""
    here, there = reporter.endpoint.destination, "telemetry:https://elsewhere.example.org"

    def active() -> list[str]:
        reporter.hands.move(INTERVAL)
        return [job.id for state in (JobState.READY, JobState.WAITING) for job in reporter.queue.jobs(state=state)]

    reporter.queue.enqueue(NewJob("flush", "flush"))
    for destination in (here, there, here, None, here, here):
        reporter.stand(destination)
        assert active() == [each for each in (destination, "flush") if each] or set(active()) == {destination, "flush"}
    claim = reporter.queue.claim()
    while claim is not None and claim.job.kind != TELEMETRY:
        claim = reporter.queue.claim()
    assert claim is not None
    reporter.queue.finish(claim, Done())
    reporter.stand(here)
    assert here in active()


def test_a_start_asks_an_endpoint_anew_that_refused_the_key(reporter: Reporter) -> None:
    """The key may have been changed, which takes a start."""
    reporter.fake.keys.clear()
    reporter.record(range(1))
    reporter.step()
    assert reporter.step() is None
    reporter.fake.keys.add(PROJECT_KEY)
    reporter.stand(reporter.endpoint.destination)
    reporter.step()
    assert len(reporter.ids()) == 1
