"""The contract of every queue, part two: outcomes, waking, and what a person can do to a job."""

import pytest

from jobs.job import JobState
from jobs.outcomes import Done, GiveUp, Retry, Snooze
from tests.jobs.queue.queues import LEASE, World


def test_done_keeps_its_summary(world: World) -> None:
    """A finished job says in a word what came of it."""
    world.enqueue("a")
    job = world.run("a", Done("delivered"))
    assert (job.state, job.reason, job.attempts, job.errors) == (JobState.DONE, "delivered", 0, ())


def test_snoozing_is_no_failure(world: World) -> None:
    """A snooze waits with its reason, replaces the payload if it brings one, and uses no attempt."""
    world.enqueue("a", payload={"n": 1})
    job = world.run("a", Snooze(10, "extraction open", {"n": 2}))
    assert (job.state, job.reason, job.attempts, job.errors) == (JobState.WAITING, "extraction open", 0, ())
    assert (job.not_before, job.payload) == (world.hands.wall_now + 10, {"n": 2})
    world.hands.move(10)
    assert world.run("a", Snooze(1, "still")).payload == {"n": 2}


def test_an_outcome_that_cannot_be_stored_leaves_the_claim(world: World) -> None:
    """A snooze whose payload is no JSON is refused; the claim holds and can be finished otherwise."""
    world.enqueue("a")
    claim = world.claim("a")
    with pytest.raises(TypeError):
        world.queue.finish(claim, Snooze(1, "why", {"x": object()}))
    assert world.job("a").state is JobState.CLAIMED
    assert world.queue.finish(claim, Done()) is not None


def test_an_unstorable_outcome_does_not_cost_the_next_job(world: World) -> None:
    """What was claimed together with a refused finish is given back."""
    world.enqueue("a", "b")
    with pytest.raises(TypeError):
        world.queue.finish_and_claim(world.claim("a"), Snooze(1, "why", {"x": object()}))
    assert world.job("b").state is JobState.READY
    assert world.job("a").state is JobState.CLAIMED


def test_retries_wait_longer_and_the_fifth_failure_is_the_last(world: World) -> None:
    """Each failed attempt is kept with its time; the fifth makes a dead letter with its reason."""
    world.enqueue("a")
    for attempt, wait in enumerate((5, 10, 20, 40), 1):
        job = world.run("a", Retry(f"status 42{attempt}"))
        assert (job.state, job.attempts, job.reason) == (JobState.WAITING, attempt, f"status 42{attempt}")
        assert job.not_before == pytest.approx(world.hands.wall_now + wait)
        world.nothing()
        world.hands.move(wait)
    job = world.run("a", Retry("status 425"))
    assert (job.state, job.attempts, job.reason) == (JobState.DEAD, 5, "status 425")
    assert [error.why for error in job.errors] == [f"status 42{n}" for n in range(1, 6)]
    assert job.errors[-1].at == "2027-01-15T08:01:15.000Z"
    assert world.counters.snapshot()["jobs_dead"] == 1
    world.hands.move(10**6)
    world.nothing()


def test_only_the_last_errors_are_kept(world: World) -> None:
    """However often a person retries, a row stays small: five errors, each bounded."""
    world.enqueue("a")
    for number in range(8):
        world.run("a", GiveUp(f"{number} " + "x" * 1000))
        assert world.queue.retry("a")
    errors = world.job("a").errors
    assert [error.why[:2] for error in errors] == ["3 ", "4 ", "5 ", "6 ", "7 "]
    assert all(len(error.why) == 500 for error in errors)


def test_giving_up_is_a_dead_letter_kept_whole(world: World) -> None:
    """A dead letter has its payload, its reason and its place in the list."""
    world.enqueue("a", payload={"packet": "p1"})
    world.run("a", GiveUp("413: too large"))
    assert world.queue.jobs(state=JobState.DEAD) == [world.job("a")]
    assert (world.job("a").reason, world.job("a").payload) == ("413: too large", {"packet": "p1"})


@pytest.mark.parametrize("outcome", [Done(wake_lane=True), GiveUp("no", wake_lane=True)])
def test_an_end_may_wake_its_lane(world: World, outcome: Done | GiveUp) -> None:
    """The lane's waiting jobs look again at once, in the same step; other lanes' and laneless ones do not."""
    world.enqueue("a", lane="s1")
    world.enqueue("b", lane="s1", delay=100)
    world.enqueue("c", lane="s2", delay=100)
    world.enqueue("d", delay=100)
    world.run("a", outcome)
    world.claim("b")
    world.nothing()


def test_a_laneless_end_wakes_nobody(world: World) -> None:
    """The empty lane is no lane."""
    world.enqueue("a")
    world.enqueue("b", delay=100)
    world.run("a", Done(wake_lane=True))
    world.nothing()
    assert world.queue.wake_lane("") == 0


def test_waking_makes_waiting_jobs_ready_and_counts_them(world: World) -> None:
    """By id, by lane, by kind; a job that does not wait is not woken, an unknown one neither."""
    world.enqueue("a", "b", lane="s1", delay=100)
    world.enqueue("c", kind="poll", delay=100)
    world.enqueue("d")
    assert world.queue.wake("a", "d", "unknown") == 1
    assert world.queue.wake() == 0
    assert world.queue.wake_lane("s1") == 1
    assert world.queue.wake_kind("poll") == 1
    assert world.queue.wake_kind("flush") == 0
    assert {world.claim(each).job.id for each in ("a", "c", "d")} == {"a", "c", "d"}


def test_waking_more_than_one_step_wakes_all(world: World) -> None:
    """A thousand open polls are woken by one call."""
    world.enqueue(*(f"j{n}" for n in range(1200)), delay=100)
    assert world.queue.wake_kind("flush") == 1200
    assert world.queue.counts().ready == 1200
    world.enqueue(*(f"k{n}" for n in range(1200)), delay=100)
    assert world.queue.wake(*(f"k{n}" for n in range(1200))) == 1200


def test_retry_gives_a_clean_slate(world: World) -> None:
    """A dead job is ready again with no attempts and crashes; its errors stay on record."""
    world.enqueue("a")
    world.run("a", Retry("422"))
    for _ in range(3):
        world.queue.wake("a")
        world.queue.abandon(world.claim("a"))
        world.hands.move(LEASE)
    world.nothing()
    assert world.job("a").state is JobState.DEAD
    assert world.queue.retry("a")
    job = world.job("a")
    assert (job.state, job.attempts, job.crashes, job.reason) == (JobState.READY, 0, 0, "")
    assert len(job.errors) == 4
    world.claim("a")


def test_retry_is_for_what_does_not_run_by_itself(world: World) -> None:
    """Cancelled and waiting jobs are taken up; ready, claimed, done and unknown ones are not."""
    world.enqueue("done", "claimed", "ready", "cancelled")
    world.enqueue("waiting", delay=100)
    world.run("done", Done())
    world.claim("claimed")
    world.queue.cancel("cancelled", "not wanted")
    assert {each: world.queue.retry(each) for each in ("done", "claimed", "ready", "cancelled", "waiting", "unknown")} == {
        "done": False, "claimed": False, "ready": False, "cancelled": True, "waiting": True, "unknown": False,
    }  # fmt: skip


def test_cancelling_is_for_what_has_not_begun(world: World) -> None:
    """Ready and waiting jobs are cancelled with a reason, and leave their lane to the next; others are not."""
    world.enqueue("a", "b", lane="s1")
    world.enqueue("c", delay=100)
    assert world.queue.cancel("a", "forgotten")
    assert world.queue.cancel("c", "forgotten")
    assert (world.job("a").state, world.job("a").reason) == (JobState.CANCELLED, "forgotten")
    claim = world.claim("b")
    assert not world.queue.cancel("b", "too late")
    world.queue.finish(claim, Done())
    assert not any(world.queue.cancel(each, "too late") for each in ("a", "b", "unknown"))
    world.hands.move(1000)
    world.nothing()


def test_only_a_dead_letter_can_be_discarded(world: World) -> None:
    """Discarding keeps the row and what it died of, as cancelled; nothing else is touched."""
    world.enqueue("dead", "ready")
    world.run("dead", GiveUp("422"))
    assert world.queue.discard("dead")
    assert (world.job("dead").state, world.job("dead").reason) == (JobState.CANCELLED, "422")
    assert not any(world.queue.discard(each) for each in ("dead", "ready", "unknown"))


def test_lists_show_the_newest_change_first(world: World) -> None:
    """Filters by state, kind and lane apply together; the limit cuts the oldest."""
    for number, (kind, lane) in enumerate([("flush", "s1"), ("poll", "s1"), ("flush", "s2"), ("flush", "s1")]):
        world.enqueue(f"j{number}", kind=kind, lane=lane)
        world.hands.move(1)
    world.run("j0", Done())

    def listed(**filters: object) -> list[str]:
        return [job.id for job in world.queue.jobs(**filters)]  # type: ignore[arg-type]

    assert listed() == ["j0", "j3", "j2", "j1"]
    assert listed(limit=2) == ["j0", "j3"]
    assert listed(state=JobState.READY) == ["j3", "j2", "j1"]
    assert listed(kind="flush", lane="s1") == ["j0", "j3"]
    assert listed(kind="flush", lane="s1", state=JobState.DONE) == ["j0"]
    assert listed(lane="unknown") == []


def test_counts_follow_every_change(world: World) -> None:
    """Each state is counted, and the oldest ready job's age."""
    world.enqueue("a", "b", "c", "d")
    world.hands.move(3)
    world.enqueue("e")
    world.enqueue("f", delay=100)
    world.run("a", Done())
    world.run("b", GiveUp("422"))
    world.queue.cancel("c", "no")
    world.hands.move(4)
    counts = world.queue.counts()
    assert (counts.ready, counts.waiting, counts.claimed) == (2, 1, 0)
    assert (counts.done, counts.dead, counts.cancelled) == (1, 1, 1)
    assert counts.oldest_ready_seconds == pytest.approx(7)
    world.claim("d")
    assert world.queue.counts().oldest_ready_seconds == pytest.approx(4)
    world.claim("e")
    assert world.queue.counts().oldest_ready_seconds == 0.0
    assert world.queue.counts().claimed == 2


def test_pruning_deletes_what_is_over_and_old(world: World) -> None:
    """Done and cancelled jobs go; dead letters and work stay, however old; a pruned id is new again."""
    world.enqueue("done", "cancelled", "dead", "ready")
    world.run("done", Done())
    world.queue.cancel("cancelled", "no")
    world.run("dead", GiveUp("422"))
    world.hands.move(100)
    world.enqueue("late", priority=1)
    world.run("late", Done())
    assert world.queue.prune(finished_before=world.hands.wall_now - 50) == 2
    assert {job.id for job in world.queue.jobs()} == {"dead", "ready", "late"}
    assert world.queue.counts().done == 1
    assert world.enqueue("done") == 1


def test_a_clock_jump_moves_every_wait(world: World) -> None:
    """After the wall clock jumped and the times were shifted, waits last as long as they would have; leases too."""
    world.enqueue("a", delay=10)
    world.enqueue("b")
    world.queue.abandon(world.claim("b"))
    world.hands.wall_now -= 86400
    world.queue.shift_clock(-86400)
    assert world.queue.seconds_to_next() == pytest.approx(10)
    world.hands.move(10)
    world.claim("a")
    world.nothing()
    world.hands.move(50)
    assert world.claim("b").job.crashes == 1


def test_a_clock_jump_does_not_age_what_is_ready(world: World) -> None:
    """A job ready for two seconds is not shown as stuck for a day because the clock was set."""
    world.enqueue("a")
    world.hands.move(2)
    world.hands.wall_now += 86400
    world.queue.shift_clock(86400)
    assert world.queue.counts().oldest_ready_seconds == pytest.approx(2)


def test_everything_survives_a_reopening(world: World) -> None:
    """A process that opens the store later finds every job as it was left."""
    world.enqueue("a", "b", lane="s1", payload={"n": 1})
    world.run("a", Retry("422"))
    before = {job.id: job for job in world.queue.jobs()}
    world.reopen()
    assert {job.id: job for job in world.queue.jobs()} == before


def test_a_snooze_wakes_the_jobs_it_names(world: World) -> None:
    """Those that wait are ready in the same transaction; others, and ids nobody knows, stay as they are."""
    world.enqueue("a", "b", "c")
    world.run("a", Snooze(60, "its extraction is open"))
    world.run("b", Done())
    world.run("c", Snooze(9, "extractions are open", wake=("a", "b", "nobody")))
    assert [world.job(name).state for name in ("a", "b", "c")] == [JobState.READY, JobState.DONE, JobState.WAITING]
    world.claim("a")


def test_one_that_is_done_ends_the_job_it_worked_for(world: World) -> None:
    """The waiting job of the lane is done too, with the same reason, and told of once."""
    world.enqueue("whole", "part", "other", lane="s1")
    told = []
    world.queue.on_settled = lambda job, outcome: told.append((job, outcome))
    world.run("whole", Snooze(900, "its packet is being delivered"))
    world.run("part", Done("delivered", wake_lane=True, ends="whole"))
    job = world.job("whole")
    assert (job.state, job.reason, job.not_before) == (JobState.DONE, "delivered", None)
    assert told == [(job, Done("delivered"))]
    world.claim("other")


def test_only_a_waiting_job_of_the_lane_is_ended(world: World) -> None:
    """One that is ready (a person retried it), dead or of another lane is left alone."""
    world.enqueue("elsewhere", lane="s2")
    world.run("elsewhere", Snooze(60, "asleep"))
    world.enqueue("part", "ready", lane="s1")
    world.run("part", Done("x", ends="elsewhere"))
    assert world.job("elsewhere").state is JobState.WAITING
    world.enqueue("again", lane="s1", priority=1)
    world.run("again", Done("x", ends="ready"))
    assert world.job("ready").state is JobState.READY


def test_what_came_of_a_job_may_take_the_place_of_what_it_was_made_of(world: World) -> None:
    """A finished job keeps the payload that its end brings."""
    world.enqueue("a", payload={"messages": ["much"]})
    assert world.run("a", Done("delivered", payload={"memories": 2})).payload == {"memories": 2}
    assert world.job("a").payload == {"memories": 2}


def test_a_payload_kept_in_the_midst_of_a_run_outlives_the_run(world: World) -> None:
    """What was written down before a request left is there after the worker died, and after an end that brings none."""
    world.enqueue("a", payload={"posted": False})
    claim = world.claim("a")
    assert world.queue.keep(claim, {"posted": True})
    world.reopen()
    world.hands.move(LEASE + 1)
    again = world.claim("a")
    assert (again.job.payload, again.job.crashes) == ({"posted": True}, 1)
    assert world.queue.keep(again, {"posted": True, "tries": 2})
    world.queue.finish(again, Retry("422"))
    assert world.job("a").payload == {"posted": True, "tries": 2}


def test_nothing_is_kept_by_a_claim_that_was_lost(world: World) -> None:
    """Another has the job by now: its payload is his."""
    world.enqueue("a", payload={"n": 1})
    claim = world.claim("a")
    world.hands.move(LEASE + 1)
    world.reopen()
    other = world.claim("a")
    assert not world.queue.keep(claim, {"n": 2})
    assert world.queue.keep(other, {"n": 3})
    with pytest.raises(TypeError):
        world.queue.keep(other, {"n": object()})
    assert world.job("a").payload == {"n": 3}
