"""The contract of every queue, part three: a destination cools as a whole, is probed by one job, and is released."""

import pytest

from jobs.job import JobState
from jobs.outcomes import Cool, Done, GiveUp, Retry, Snooze
from jobs.queue.contract import Destination
from tests.jobs.queue.queues import LEASE, World

BUSY = Cool("api", "status 503", "busy")
WAIT = 63.0
"""The first wait of a busy destination, with chance in the middle."""


def destination(world: World) -> Destination:
    (found,) = (each for each in world.queue.destinations() if each.name == "api")
    return found


def cooled(world: World, *ids: str) -> None:
    """Enqueue jobs of one destination; the first finds it busy."""
    world.enqueue(*ids, destination="api")
    world.run(ids[0], BUSY)


def test_one_failure_holds_the_whole_destination(world: World) -> None:
    """All its jobs wait and say why, no attempt is used, and jobs for elsewhere go on."""
    cooled(world, "a", "b")
    world.enqueue("c", destination="api")
    world.enqueue("elsewhere", destination="local")
    world.enqueue("nowhere")
    for job_id in ("a", "b", "c"):
        job = world.job(job_id)
        assert (job.state, job.attempts, job.errors) == (JobState.WAITING, 0, ())
        assert (job.reason, job.not_before) == ("held: status 503", world.hands.wall_now + WAIT)
    counts = world.queue.counts()
    assert (counts.ready, counts.waiting) == (2, 3)
    world.claim("elsewhere")
    world.claim("nowhere")
    world.nothing()


def test_held_jobs_are_listed_as_waiting(world: World) -> None:
    """The filter by state goes by what is shown, and a held job's age is not that of a ready one."""
    cooled(world, "a", "b")
    world.hands.move(30)
    assert {job.id for job in world.queue.jobs(state=JobState.WAITING)} == {"a", "b"}
    assert world.queue.jobs(state=JobState.READY) == []
    assert world.queue.counts().oldest_ready_seconds == 0.0


def test_one_job_goes_as_the_probe(world: World) -> None:
    """When the wait is over one job goes, and no second one until its run has ended."""
    cooled(world, "a", "b", "c")
    assert world.queue.seconds_to_next() == pytest.approx(WAIT)
    world.hands.move(WAIT - 1)
    world.nothing()
    world.hands.move(1)
    world.claim("b")
    world.nothing()
    assert world.job("c").state is JobState.WAITING


def test_a_probe_that_is_answered_releases_all(world: World) -> None:
    """The others are ready at once, failures are forgotten, and the time of the success is kept."""
    cooled(world, "a", "b", "c")
    world.hands.move(WAIT)
    world.run("b", Done(), answered=True)
    assert destination(world) == Destination(
        "api", None, "", "", 0, parked=False, since=None, last_success_at=world.hands.wall_now
    )
    assert world.job("a").state is JobState.READY
    world.claim("c")
    world.claim("a")


def test_an_answer_counts_whatever_the_outcome(world: World) -> None:
    """A probe refused as an item, or put off after an answer, still shows that the destination is back."""
    for outcome in (GiveUp("422"), Retry("404"), Snooze(5, "extraction open")):
        number = len(world.queue.jobs())
        cooled(world, f"a{number}", f"b{number}")
        world.hands.move(WAIT)
        world.run(f"b{number}", outcome, answered=True)
        assert destination(world).until is None
        world.run(f"a{number}", Done())
        world.hands.move(-WAIT)


def test_a_probe_that_fails_waits_longer(world: World) -> None:
    """Each failure in a row doubles the wait up to the ceiling; the trouble began with the first."""
    cooled(world, "a")
    since = world.hands.wall_now
    for failures, wait in enumerate((126, 252, 504, 900, 900), 2):
        world.hands.move(destination(world).until - world.hands.wall_now)  # type: ignore[operator]
        world.run("a", BUSY)
        found = destination(world)
        assert (found.failures, found.since) == (failures, since)
        assert found.until == pytest.approx(world.hands.wall_now + wait)


def test_probes_take_turns(world: World) -> None:
    """An item that alone makes its destination fail is not its probe for ever."""
    cooled(world, "a", "b", "c")
    for expected in ("b", "c", "a", "b"):
        world.hands.move(900)
        world.run(expected, BUSY)


def test_a_job_that_failed_its_destination_goes_behind_its_neighbours_only_so_long(world: World) -> None:
    """After a run that ended otherwise it takes its place again."""
    cooled(world, "a", "b")
    world.queue.release("api")
    world.run("b", Snooze(0, "again"))
    world.run("b", Snooze(0, "again"))
    world.queue.cancel("b", "away")
    world.run("a", Snooze(0, "again"))
    world.enqueue("c", destination="api")
    world.claim("a")


@pytest.mark.parametrize("outcome", [Done(), Snooze(1000, "not yet"), Retry("a fault of ours"), GiveUp("no")])
def test_a_probe_that_says_nothing_of_its_destination_passes_the_turn_on(world: World, outcome: Done) -> None:
    """If it ends without having asked, the next job is the probe at once, and the rest stay held."""
    cooled(world, "a", "b", "c")
    world.hands.move(WAIT)
    world.run("b", outcome)
    world.claim("c")
    world.nothing()


def test_a_probe_that_crashes_strands_nobody(world: World) -> None:
    """Void, expired or given back, the probe's turn passes on."""
    cooled(world, "a", "b", "c")
    world.hands.move(WAIT)
    world.queue.unclaim(world.claim("b"))
    world.queue.abandon(world.claim("b"))
    world.nothing()
    world.hands.move(LEASE)
    world.claim("b")
    world.reopen()
    world.queue.void_claims()
    world.claim("b")
    world.nothing()


def test_a_probe_that_is_set_aside_passes_the_turn_on(world: World) -> None:
    """A probe of a kind that nobody handles does not strand the rest."""
    cooled(world, "a", "b")
    world.hands.move(WAIT)
    world.queue.set_aside(world.claim("b"), "no handler")
    world.claim("a")


def test_a_job_that_comes_late_is_the_probe(world: World) -> None:
    """With nobody waiting, the first job enqueued after the wait goes at once."""
    cooled(world, "a")
    world.queue.cancel("a", "no")
    world.hands.move(10 * WAIT)
    world.enqueue("b", "c", destination="api")
    world.claim("b")
    world.nothing()


def test_jobs_that_fail_together_are_one_failure(world: World) -> None:
    """Four workers that meet the same outage make the destination wait once, not eight times as long."""
    world.enqueue("a", "b", "c", "d", destination="api")
    claims = [world.claim(each) for each in ("a", "b", "c", "d")]
    for claim in claims:
        world.queue.finish(claim, BUSY)
    assert (destination(world).failures, destination(world).until) == (1, world.hands.wall_now + WAIT)
    assert world.counters.snapshot()["destinations_cooled"] == 1


def test_a_longer_retry_after_of_a_straggler_is_heeded(world: World) -> None:
    """Of two answers that ask to wait, the longer counts."""
    world.enqueue("a", "b", destination="api")
    first, second = world.claim("a"), world.claim("b")
    world.queue.finish(first, Cool("api", "429", "busy", delay=10))
    world.queue.finish(second, Cool("api", "429", "busy", delay=600))
    assert destination(world).until == world.hands.wall_now + 600


def test_an_answer_from_before_the_cooldown_does_not_end_it(world: World) -> None:
    """A slow run that began earlier and succeeds is no reason to ignore "come back in ten minutes"."""
    world.enqueue("a", "b", destination="api")
    slow, fast = world.claim("a"), world.claim("b")
    world.queue.finish(fast, Cool("api", "429", "busy", delay=600))
    world.queue.finish(slow, Done(), answered=True)
    found = destination(world)
    assert (found.until, found.last_success_at) == (pytest.approx(world.hands.wall_now + 630), world.hands.wall_now)


def test_a_failure_after_an_answer_in_the_same_run_is_the_first_again(world: World) -> None:
    """The probe's first request went through, its second met a 429: failures count from one."""
    cooled(world, "a")
    world.hands.move(WAIT)
    world.run("a", BUSY)
    world.hands.move(2 * WAIT)
    world.run("a", BUSY, answered=True)
    found = destination(world)
    assert (found.failures, found.until) == (1, world.hands.wall_now + WAIT)
    assert found.last_success_at == found.since == world.hands.wall_now


def test_release_ends_a_cooldown_at_once(world: World) -> None:
    """A changed key frees every held job now; releasing again, or what does not cool, frees none."""
    world.enqueue("a", "b", destination="api")
    world.run("a", Cool("api", "status 401", "key-refused", parked=True))
    found = destination(world)
    assert (found.parked, found.code, found.until) == (True, "key-refused", world.hands.wall_now + 900)
    assert world.queue.release("api") == 2
    assert world.queue.release("api") == world.queue.release("unknown") == 0
    world.claim("b")
    world.claim("a")


def test_a_refusal_of_the_old_key_does_not_park_the_new_one(world: World) -> None:
    """A run that began before the release says nothing about the destination as it is now; the job just runs again."""
    world.enqueue("a", "b", destination="api")
    old = world.claim("a")
    world.run("b", Cool("api", "status 401", "key-refused", parked=True))
    world.queue.release("api")
    world.queue.finish(old, Cool("api", "status 401", "key-refused", parked=True))
    assert world.queue.destinations() == []
    world.claim("a")
    world.claim("b")


def test_a_probe_with_the_old_key_does_not_park_the_new_one(world: World) -> None:
    """The key changes while the probe is out with the old one: its refusal comes too late to count."""
    world.enqueue("a", "b", destination="api")
    refused = Cool("api", "status 401", "key-refused", parked=True)
    world.run("a", refused)
    world.hands.move(900)
    probe = world.claim("b")
    world.queue.release("api")
    world.queue.finish(probe, refused)
    assert world.queue.destinations() == []
    world.claim("a")


def test_a_held_lane_does_not_hold_its_other_destinations(world: World) -> None:
    """A session's flush is held by a cooling platform; the same session's local work goes on, one at a time."""
    world.enqueue("flush", lane="s1", destination="api")
    world.run("flush", BUSY)
    world.enqueue("checkpoint-1", "checkpoint-2", lane="s1")
    claim = world.claim("checkpoint-1")
    world.nothing()
    world.hands.move(WAIT)
    world.nothing()
    world.queue.finish(claim, Done())
    probe = world.claim("flush")
    world.nothing()
    world.queue.finish(probe, Done(), answered=True)
    world.claim("checkpoint-2")


def test_a_lane_keeps_its_order_through_an_outage(world: World) -> None:
    """The packet that met the outage is still the first of its session afterwards."""
    world.enqueue("a", "b", lane="s1", destination="api")
    world.run("a", BUSY)
    world.hands.move(WAIT)
    world.run("a", Done(), answered=True)
    world.claim("b")


def test_cooling_another_destination_puts_the_job_off(world: World) -> None:
    """A job that finds somebody else's destination failing waits as long as that does, and does not run in a loop."""
    world.enqueue("a", destination="local")
    job = world.run("a", BUSY)
    assert (job.state, job.not_before) == (JobState.WAITING, world.hands.wall_now + WAIT)
    world.nothing()
    world.hands.move(WAIT)
    world.claim("a")


def test_waking_does_not_free_what_is_held(world: World) -> None:
    """Woken jobs of a cooling destination drop their own wait but stay held, and are not counted as woken."""
    cooled(world, "a", "b")
    world.enqueue("c", destination="api", delay=1000, lane="s1")
    assert world.queue.wake("a", "c") == 0
    assert world.queue.wake_kind("flush") == 0
    assert world.job("c").not_before == world.hands.wall_now + WAIT
    world.nothing()


def test_a_held_job_can_be_retried_and_cancelled(world: World) -> None:
    """A person's retry clears its attempts and leaves it held; a cancel takes it out."""
    world.enqueue("a", "b", destination="api")
    world.run("a", Retry("422"))
    world.run("b", BUSY)
    world.queue.wake("a")
    assert world.queue.retry("a")
    assert (world.job("a").state, world.job("a").attempts) == (JobState.WAITING, 0)
    assert world.queue.cancel("b", "no")
    assert world.queue.release("api") == 1


def test_a_snooze_longer_than_the_cooldown_keeps_its_own_time(world: World) -> None:
    """Being released does not make a job ready that put itself off for longer."""
    world.enqueue("a", "b", destination="api")
    world.run("a", Snooze(1000, "extraction open"))
    world.run("b", BUSY)
    world.queue.release("api")
    assert world.job("a").reason == "extraction open"
    world.claim("b")
    world.nothing()


def test_a_clock_jump_moves_cooldowns(world: World) -> None:
    """Set back a day, a destination is still probed after its minute."""
    cooled(world, "a")
    world.hands.wall_now -= 86400
    world.queue.shift_clock(-86400)
    world.hands.move(WAIT)
    world.claim("a")


def test_cooling_outlives_a_restart(world: World) -> None:
    """A daemon started anew does not ask a destination that is to be left alone."""
    cooled(world, "a", "b")
    world.reopen()
    world.queue.void_claims()
    world.nothing()
    assert destination(world).failures == 1
