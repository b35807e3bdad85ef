"""The contract of every queue, part one: enqueueing, claiming, leases and crashes."""

import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Done, GiveUp, Retry, Snooze
from jobs.queue.policy import SUSPECTED, TRIAL_FIRST, TRIAL_LONGEST, TRIAL_SPREAD
from tests.jobs.queue.queues import LEASE, World


def test_an_id_is_stored_once_whatever_became_of_it(world: World) -> None:
    """Enqueueing the same id again is a no-op while it is ready, claimed and done."""
    assert world.enqueue("a", "b", "a") == 2
    assert world.enqueue("a", payload={"new": 1}) == 0
    world.run("a", Done("sent"))
    assert world.enqueue("a", "c") == 1
    assert (world.job("a").state, world.job("a").payload) == (JobState.DONE, {})


def test_a_job_comes_back_as_it_was_given(world: World) -> None:
    """Every field of a job survives the store, text of any script included."""
    payload = {"text": "naïve 日本 \ud800", "n": [1, 2.5, None, True], "deep": {"x": {}}}
    world.queue.enqueue(NewJob("a", "flush", payload, "lane", "api", 7, 0.0, "why"))
    job = world.job("a")
    assert (job.kind, job.payload, job.lane, job.destination, job.priority) == ("flush", payload, "lane", "api", 7)
    assert (job.state, job.attempts, job.crashes, job.errors, job.not_before) == (JobState.READY, 0, 0, (), None)
    assert job.created_at == job.updated_at == world.hands.wall_now
    assert world.claim("a").job.payload == payload


def test_what_is_no_json_is_refused_whole(world: World) -> None:
    """One unstorable payload stores none of the call's jobs."""
    with pytest.raises(TypeError):
        world.queue.enqueue(NewJob("a", "flush"), NewJob("b", "flush", {"x": object()}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        world.enqueue("c", payload={"x": float("nan")})
    assert world.queue.jobs() == []


def test_priority_goes_first_then_first_come(world: World) -> None:
    """Higher priority first; among equals the order of enqueueing."""
    world.enqueue("a", "b")
    world.enqueue("c", "d", priority=1)
    world.enqueue("e", priority=-1)
    for expected in ("c", "d", "a", "b", "e"):
        world.claim(expected)
    world.nothing()


def test_a_lane_runs_one_job_at_a_time_in_order(world: World) -> None:
    """While a job of a lane is claimed no other of it is; jobs without a lane are not bound to each other."""
    world.enqueue("a", "b", lane="s1")
    world.enqueue("c", lane="s2")
    world.enqueue("d", "e")
    first = world.claim("a")
    for expected in ("c", "d", "e"):
        world.claim(expected)
    world.nothing()
    assert world.queue.finish(first, Done())
    world.claim("b")


def test_a_higher_priority_overtakes_within_its_lane(world: World) -> None:
    """The lane's first is the one of highest priority, also if it came last."""
    world.enqueue("a", "b", lane="s1")
    world.enqueue("c", lane="s1", priority=2)
    for expected in ("c", "a", "b"):
        world.run(expected, Done())


def test_a_put_off_job_does_not_hold_its_lane(world: World) -> None:
    """A snoozing job leaves its lane to the next, and takes its turn before later ones when it is due."""
    world.enqueue("a", "b", "c", lane="s1")
    world.run("a", Snooze(5, "not yet"))
    world.run("b", Done())
    world.hands.move(5)
    world.claim("a")
    world.nothing()


def test_a_delayed_job_waits_for_its_time_and_says_why(world: World) -> None:
    """A job with a delay waits, with its reason, and is claimable from the tenth of a second it is due."""
    world.enqueue("a", delay=2.5, reason="delay_seconds")
    job = world.job("a")
    assert (job.state, job.reason, job.not_before) == (JobState.WAITING, "delay_seconds", world.hands.wall_now + 2.5)
    assert world.queue.seconds_to_next() == pytest.approx(2.5)
    world.hands.move(2.4)
    world.nothing()
    world.hands.move(0.1)
    world.claim("a")
    assert world.queue.seconds_to_next() is None


def test_many_that_fall_due_at_once_are_all_taken(world: World) -> None:
    """More due jobs than one claim makes ready are still all claimed, none twice."""
    world.queue.enqueue(*(NewJob(str(n), "flush", delay=1.0) for n in range(250)))
    world.hands.move(1)
    taken = set()
    while (claim := world.queue.claim()) is not None:
        taken.add(claim.job.id)
    assert taken == {str(n) for n in range(250)}


def test_finishing_and_taking_the_next_is_one_step(world: World) -> None:
    """The next job comes with the finish; it may be of the same lane."""
    world.enqueue("a", "b", lane="s1")
    job, claim = world.queue.finish_and_claim(world.claim("a"), Done())
    assert job is not None
    assert job.state is JobState.DONE
    assert claim is not None
    assert claim.job.id == "b"
    assert world.queue.finish_and_claim(claim, Done())[1] is None


def test_a_living_workers_claim_is_renewed_and_not_stolen(world: World) -> None:
    """After a sleep longer than the lease the same process keeps its own claims: nothing crashed."""
    world.enqueue("a")
    claim = world.claim("a")
    world.hands.move(10 * LEASE)
    world.nothing()
    assert world.queue.finish(claim, Done()) is not None
    assert world.job("a").crashes == 0


def test_renewing_keeps_a_claim_from_another_process(world: World) -> None:
    """A claim renewed in time is not given to anybody; one that is not renewed is, as a crash."""
    world.enqueue("a")
    mine = world.queue
    claim = world.claim("a")
    other = world.reopen()
    for _ in range(5):
        world.hands.move(LEASE - 1)
        assert mine.renew() == 1
        assert other.claim() is None
    world.hands.move(LEASE)
    stolen = other.claim()
    assert stolen is not None
    assert stolen.job.crashes == 1
    assert mine.finish(claim, Done()) is None
    assert world.counters.snapshot()["claims_lost"] == 1
    assert other.finish(stolen, Done()) is not None


def test_a_claim_whose_worker_is_gone_comes_back_as_a_crash(world: World) -> None:
    """Abandoned, it is nobody's until its lease is over, and then claimable again, with the crash on its record."""
    world.enqueue("a", "b", lane="s1")
    world.queue.abandon(world.claim("a"))
    world.hands.move(LEASE - 0.1)
    world.nothing()
    world.hands.move(0.1)
    job = world.claim("a").job
    assert (job.crashes, [each.why for each in job.errors]) == (1, ["crashed the worker"])
    assert world.counters.snapshot()["claims_expired"] == 1


def test_a_finish_counts_once(world: World) -> None:
    """The second finish of one claim changes nothing, whatever it says."""
    world.enqueue("a")
    claim = world.claim("a")
    assert world.queue.finish(claim, Done("first")) is not None
    assert world.queue.finish(claim, GiveUp("second")) is None
    assert (world.job("a").state, world.job("a").reason) == (JobState.DONE, "first")
    assert world.counters.snapshot()["claims_lost"] == 1


def test_a_later_claim_of_the_same_job_is_another_claim(world: World) -> None:
    """Who lost a job cannot finish the run of the one who has it now."""
    world.enqueue("a")
    old = world.claim("a")
    assert world.queue.unclaim(old) == 1
    new = world.claim("a")
    assert world.queue.finish(old, GiveUp("late")) is None
    assert world.queue.finish(new, Done()) is not None


def test_a_claim_given_back_counts_as_nothing(world: World) -> None:
    """After unclaim the job is ready as before, first in its lane, without attempt, crash or error."""
    world.enqueue("a", "b", lane="s1")
    assert world.queue.unclaim(world.claim("a")) == 1
    job = world.job("a")
    assert (job.state, job.attempts, job.crashes, job.errors) == (JobState.READY, 0, 0, ())
    world.claim("a")
    world.nothing()


def test_claims_of_an_earlier_run_are_void_at_start(world: World) -> None:
    """A new process gives all claims back at once, each as a crash, and the old ones finish nothing."""
    world.enqueue("a", "b", lane="s1")
    world.enqueue("c")
    before = world.queue
    old = world.claim("a")
    world.claim("c")
    world.reopen()
    assert world.queue.void_claims() == 2
    assert world.queue.void_claims() == 0
    assert before.finish(old, Done()) is None
    assert (world.job("a").crashes, world.job("c").crashes) == (1, 1)
    world.claim("a")
    world.claim("c")
    world.nothing()


def test_three_crashes_are_a_dead_letter(world: World) -> None:
    """A job that takes its worker down thrice is dead, is told of, and lets its lane go on."""
    world.enqueue("a", "b", lane="s1")
    told = []
    world.queue.on_settled = lambda job, _: told.append(job)
    for _ in range(3):
        world.queue.abandon(world.claim("a"))
        world.hands.move(LEASE)
    world.claim("b")
    job = world.job("a")
    assert (job.state, job.reason, job.crashes, job.attempts) == (JobState.DEAD, "crashed the worker", 3, 0)
    assert [each.why for each in job.errors] == ["crashed the worker"] * 3
    assert told == [job]


def test_ten_restarts_in_a_row_are_a_dead_letter(world: World) -> None:
    """A daemon killed three times at one job tries it again; a job that takes it down every time is given up."""
    world.enqueue("a")
    for _ in range(10):
        assert world.job("a").state is JobState.READY
        world.hands.move(TRIAL_LONGEST * (1 + TRIAL_SPREAD))
        world.claim("a")
        world.reopen()
        world.queue.void_claims()
    job = world.job("a")
    assert (job.state, job.reason, job.crashes) == (JobState.DEAD, "crashed the worker", 10)


def killed_with_it_in_hand(world: World, times: int) -> None:
    for _ in range(times):
        world.claim("a")
        world.reopen()
        world.queue.void_claims()


def test_a_job_in_hand_at_three_deaths_lets_others_go_first(world: World) -> None:
    """It waits until the daemon has lived for a while without it, with the reason; then it runs like any other."""
    world.enqueue("a", "b")
    killed_with_it_in_hand(world, 3)
    world.claim("b")
    world.nothing()
    job = world.job("a")
    assert (job.state, job.reason, job.crashes, job.attempts) == (JobState.WAITING, SUSPECTED, 3, 0)
    assert TRIAL_FIRST <= (world.queue.seconds_to_next() or 0.0) <= TRIAL_FIRST * (1 + TRIAL_SPREAD)
    world.hands.move(TRIAL_FIRST * (1 + TRIAL_SPREAD))
    assert world.run("a", Done()).state is JobState.DONE


def test_a_daemon_that_dies_of_something_else_gives_up_nothing(world: World) -> None:
    """Killed again and again before it has lived for a while, it does not blame what is first in its queue."""
    world.enqueue("a")
    killed_with_it_in_hand(world, 3)
    for _ in range(20):
        world.nothing()
        world.hands.move(TRIAL_FIRST - 1.0)
        world.nothing()
        world.reopen()
        world.queue.void_claims()
    assert (world.job("a").state, world.job("a").crashes) == (JobState.WAITING, 3)
    world.hands.move(TRIAL_FIRST * (1 + TRIAL_SPREAD))
    world.claim("a")


def test_an_ended_run_forgets_the_crashes_before_it(world: World) -> None:
    """What a job lived through long ago does not count against it."""
    world.enqueue("a")
    for _ in range(2):
        world.queue.abandon(world.claim("a"))
        world.hands.move(LEASE)
    assert world.run("a", Snooze(0.0, "not yet")).crashes == 0


def test_a_crash_costs_no_attempt_and_an_attempt_no_crash(world: World) -> None:
    """The two are counted apart."""
    world.enqueue("a")
    world.queue.abandon(world.claim("a"))
    world.hands.move(LEASE)
    claim = world.claim("a")
    assert (claim.job.attempts, claim.job.crashes) == (0, 1)
    job = world.queue.finish(claim, Retry("422"))
    assert job is not None
    assert (job.attempts, job.crashes) == (1, 0)


def test_a_job_set_aside_is_dead_and_told(world: World) -> None:
    """A claimed job can be given up without a run; its lane goes on."""
    world.enqueue("a", "b", lane="s1")
    told = []
    world.queue.on_settled = lambda job, _: told.append(job)
    job = world.queue.set_aside(world.claim("a"), "no handler")
    assert job is not None
    assert (job.state, job.reason) == (JobState.DEAD, "no handler")
    assert told == [job]
    world.claim("b")
