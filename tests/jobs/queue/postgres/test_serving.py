"""A worker takes what it can deliver and nothing else; what nobody can deliver is told."""

import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Cool, Done
from jobs.queue.postgres.serving import NO_WORKER, RUNS_SECONDS
from jobs.queue.shared_queue import Serves
from tests.jobs.queue.fleet import Fleet

ANN, BOTH, NOBODY = (Serves(frozenset(names), "api") for names in (["ann"], ["ann", "bob"], []))


def put_in(fleet: Fleet, *accounts: str, destination: str = "api") -> None:
    jobs = [NewJob(f"{name}-{destination}", "flush", {}, destination=destination, account=name) for name in accounts]
    fleet.machine("edge").enqueue(*jobs)


def taken(fleet: Fleet, serves: Serves | None, name: str = "worker") -> list[str]:
    """Return what a worker takes one after the other, until there is nothing for it."""
    queue = fleet.machine(name, serves=lambda: serves)
    found = []
    while (claim := queue.claim()) is not None:
        found.append(claim.job.id)
    return found


def test_of_other_accounts_and_destinations_nothing_is_taken(fleet: Fleet) -> None:
    """Nor put off: who has the key finds it as it was put in."""
    put_in(fleet, "ann", "bob")
    put_in(fleet, "ann", destination="elsewhere")
    assert taken(fleet, NOBODY) == []
    assert taken(fleet, ANN) == ["ann-api"]
    assert fleet.statement("SELECT DISTINCT state FROM memsyncd_jobs WHERE account = 'bob'") == [("ready",)]
    assert taken(fleet, BOTH, "other") == ["bob-api"]
    assert taken(fleet, None, "any") == ["ann-elsewhere"]


def test_the_job_that_comes_with_a_finish_is_one_it_can_deliver_too(fleet: Fleet) -> None:
    put_in(fleet, "ann", "bob")
    serves = [BOTH]
    queue = fleet.machine("worker", serves=lambda: serves[0])
    claim = queue.claim()
    assert claim is not None
    serves[0] = NOBODY
    assert queue.finish_and_claim(claim, Done())[1] is None
    serves[0] = BOTH
    claim = queue.claim()
    assert claim is not None
    assert claim.job.account == "bob"


def test_a_worker_does_not_wake_for_what_it_cannot_take(fleet: Fleet) -> None:
    """Others' jobs that lie there, and others' cooldowns that end, are no reason to look every second."""
    put_in(fleet, "ann", "bob")
    queue = fleet.machine("bobs", serves=lambda: Serves(frozenset({"bob"}), "api"))
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, Cool("api", "429", "busy", delay=100))
    assert fleet.machine("ann", serves=lambda: ANN).seconds_to_next() == 1.0
    assert fleet.machine("none", serves=lambda: NOBODY).seconds_to_next() is None
    assert queue.seconds_to_next() == pytest.approx(100, rel=0.5)


def test_only_what_it_can_deliver_counts_as_ready_for_it(fleet: Fleet) -> None:
    """`run --once` ends when that is done, whatever lies there for others."""
    put_in(fleet, "ann", "bob")
    queue = fleet.machine("worker", serves=lambda: ANN)
    assert queue.is_ready()
    assert queue.claim()
    assert not queue.is_ready()
    assert fleet.machine("any").is_ready()


def test_whose_jobs_no_worker_takes_that_runs_is_told_and_shown(fleet: Fleet) -> None:
    """After a while: not of what was just put in, nor while a worker of a version that says nothing works on them."""
    put_in(fleet, "ann", "bob")
    queue = fleet.machine("worker")
    queue.announce(ANN)
    assert queue.unserved() == []
    fleet.hands.move(RUNS_SECONDS + 1)
    queue.announce(ANN)
    (found,) = queue.unserved()
    assert (found.account, found.destination, round(found.seconds)) == ("bob", "api", RUNS_SECONDS + 1)
    shown = {job.id: job.reason for job in queue.jobs(state=JobState.READY)}
    assert shown == {"ann-api": "", "bob-api": NO_WORKER}
    job = queue.get("bob-api")
    assert job is not None
    assert job.reason == NO_WORKER
    queue.announce(BOTH)
    assert queue.unserved() == []


def test_a_worker_that_was_not_heard_of_for_a_while_serves_nobody(fleet: Fleet) -> None:
    put_in(fleet, "ann")
    queue = fleet.machine("worker")
    queue.announce(ANN)
    fleet.hands.move(RUNS_SECONDS + 1)
    assert [each.account for each in queue.unserved()] == ["ann"]
    claim = fleet.machine("of the first version").claim()
    assert claim is not None
    put_in(fleet, "ann", destination="api")
    assert queue.unserved() == []


def test_what_cools_is_no_matter_of_keys(fleet: Fleet) -> None:
    """The account's worker runs; its destination does not answer."""
    put_in(fleet, "ann")
    queue = fleet.machine("worker", serves=lambda: ANN)
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, Cool("api", "429", "busy", delay=500))
    fleet.hands.move(RUNS_SECONDS + 1)
    queue.announce(ANN)
    assert queue.unserved() == []


def test_workers_that_are_gone_for_a_day_leave_no_row(fleet: Fleet) -> None:
    fleet.machine("one").announce(ANN)
    fleet.hands.move(86_401.0)
    fleet.machine("two").announce(ANN)
    assert fleet.statement("SELECT host FROM memsyncd_workers") == [("two",)]
