"""Several machines on one queue: whose claims are whose, lanes and brakes across all, turns of the accounts."""

import threading
from collections import Counter
from collections.abc import Sequence

import psycopg
import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Cool, Done, GiveUp, Snooze
from jobs.queue.claims import Claim
from jobs.queue.policy import COOLDOWN_SPREAD
from jobs.queue.postgres.queue import PostgresQueue
from tests.jobs.queue.fleet import LEASE, Fleet


def claimed(queue: PostgresQueue) -> Claim:
    """Claim, and expect something."""
    claim = queue.claim()
    assert claim is not None
    return claim


def job_of(queue: PostgresQueue) -> str:
    """Claim, and return the job's id; empty where there was none."""
    claim = queue.claim()
    return "" if claim is None else claim.job.id


def test_only_ones_own_claims_of_an_earlier_run_are_void(fleet: Fleet) -> None:
    """A machine that starts anew gives back what it had itself; what another works at stays that one's."""
    one, two = fleet.machine("one"), fleet.machine("two")
    one.enqueue(NewJob("a", "flush"), NewJob("b", "flush"))
    of_one, of_two = claimed(one), claimed(two)
    again = fleet.machine("one")
    assert again.void_claims() == 1
    assert one.finish(of_one, Done()) is None
    assert two.finish(of_two, Done()) is not None
    assert job_of(again) == of_one.job.id


def test_claims_run_out_by_the_databases_clock(fleet: Fleet) -> None:
    """A machine whose own clock is a day ahead takes nobody's claim away, and loses none of its own."""
    one, fast = fleet.machine("one"), fleet.machine("fast", clock=fleet.hands.clock())
    one.enqueue(NewJob("a", "flush"))
    taken = claimed(one)
    fleet.hands.monotonic_now += 86_400  # of the machines; the database's stands still
    assert fast.claim() is None
    assert fast.seconds_to_next() == pytest.approx(LEASE)
    fleet.hands.move(LEASE)
    stolen = claimed(fast)
    assert (stolen.job.id, stolen.job.crashes) == ("a", 1)
    assert one.finish(taken, Done()) is None


def test_a_lane_runs_one_job_at_a_time_across_machines(fleet: Fleet) -> None:
    """While one machine works at a session no other does."""
    one, two = fleet.machine("one"), fleet.machine("two")
    one.enqueue(NewJob("a", "flush", lane="s1"), NewJob("b", "flush", lane="s1"), NewJob("c", "flush", lane="s2"))
    first = claimed(one)
    assert job_of(two) == "c"
    assert two.claim() is None
    one.finish(first, Done())
    assert job_of(two) == "b"


def test_many_workers_at_once_take_each_job_once(fleet: Fleet) -> None:
    """Eight threads of four machines, lanes among them: none twice, none left, no lane two at a time."""
    machines = [fleet.machine(f"m{n}") for n in range(4)]
    machines[0].enqueue(*(NewJob(f"j{n}", "flush", lane=f"s{n % 7}" if n % 2 else "") for n in range(200)))
    lock = threading.Lock()
    taken: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    clashes: list[str] = []

    def work(queue: PostgresQueue) -> None:
        claim = queue.claim()
        while claim is not None:
            with lock:
                taken[claim.job.id] += 1
                inside[claim.job.lane] += bool(claim.job.lane)
                if inside[claim.job.lane] > 1:
                    clashes.append(claim.job.id)
            with lock:
                inside[claim.job.lane] -= bool(claim.job.lane)
            _, claim = queue.finish_and_claim(claim, Done())

    threads = [threading.Thread(target=work, args=(machines[n % 4],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while (claim := machines[0].claim()) is not None:  # what a lane freed after the last look of all
        taken[claim.job.id] += 1
        machines[0].finish(claim, Done())
    assert clashes == []
    assert taken == Counter({f"j{n}": 1 for n in range(200)})
    assert machines[0].counts().done == 200


def test_what_is_kept_gives_the_claim_a_lease_from_then(fleet: Fleet) -> None:
    """That a request leaves is written down in the last second of a claim, and then the database is out of reach: nobody
    else looks for the request while it is in the air."""
    one, two = fleet.machine("one"), fleet.machine("two")
    one.enqueue(NewJob("a", "flush"))
    claim = claimed(one)
    fleet.hands.move(LEASE - 1)
    assert one.keep(claim, {"posted_at": 1.0})
    fleet.hands.move(LEASE - 1)
    assert two.claim() is None
    fleet.hands.move(2)
    assert job_of(two) == "a"


def cool(queue: PostgresQueue, claim: Claim, seconds: float) -> None:
    """Finish as one that was told to come back later."""
    queue.finish(claim, Cool("api", "429", "busy", delay=seconds))


def test_a_429_at_one_machine_is_heeded_by_all(fleet: Fleet) -> None:
    """No machine asks before its time, then one of all goes as the probe, and its answer frees the others' jobs."""
    one, two = fleet.machine("one"), fleet.machine("two")
    one.enqueue(*(NewJob(f"j{n}", "flush", destination="api") for n in range(4)))
    cool(one, claimed(one), 100)
    assert two.claim() is None
    assert [each.code for each in two.destinations()] == ["busy"]
    fleet.hands.move(110)
    probe = claimed(two)
    assert one.claim() is None
    two.finish(probe, Done(), answered=True)
    assert job_of(one)
    assert job_of(two)


def test_two_machines_that_look_at_once_send_one_probe(fleet: Fleet) -> None:
    """However the two meet, one goes."""
    machines = [fleet.machine(f"m{n}") for n in range(4)]
    machines[0].enqueue(*(NewJob(f"j{n}", "flush", destination="api") for n in range(8)))
    for _ in range(10):
        cool(machines[0], claimed(machines[0]), 100)
        fleet.hands.move(110)
        barrier = threading.Barrier(4)
        found: list[tuple[PostgresQueue, Claim]] = []

        def look(queue: PostgresQueue, at: threading.Barrier, into: list[tuple[PostgresQueue, Claim]]) -> None:
            at.wait()
            claim = queue.claim()
            if claim is not None:
                into.append((queue, claim))

        threads = [threading.Thread(target=look, args=(queue, barrier, found)) for queue in machines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ((queue, claim),) = found
        queue.finish(claim, Snooze(0, "again"), answered=True)


def test_what_another_transaction_has_in_its_hands_is_looked_at_again_soon(fleet: Fleet) -> None:
    """A job or a probe that could not be had because its row was locked is not left to the next long look."""
    queue = fleet.machine()
    queue.enqueue(NewJob("a", "flush", destination="api"))
    for table in ("memsyncd_jobs", "memsyncd_destinations"):
        with psycopg.connect(fleet.url) as other:
            other.execute(f"SELECT FROM {table} FOR UPDATE")
            assert queue.claim() is None
            assert queue.seconds_to_next() == pytest.approx(1.0)
        cool(queue, claimed(queue), 100)
        fleet.hands.move(110)
    claimed(queue)


def test_a_brake_is_one_accounts(fleet: Fleet) -> None:
    """A limit that one account has met holds no other's work, at whichever machine."""
    one, two = fleet.machine("one", account="ann"), fleet.machine("two", account="bob")
    one.enqueue(NewJob("a1", "flush", destination="api"), NewJob("a2", "flush", destination="api"))
    two.enqueue(NewJob("b1", "flush", destination="api"))
    cool(two, claimed(two), 100)  # ann's, for her name comes first
    assert job_of(one) == "b1"
    assert one.claim() is None
    (cooling,) = one.destinations()
    assert (cooling.name, cooling.account) == ("api", "ann")
    assert two.release("api") == 0
    assert two.release("api", account="ann") == 2


def test_accounts_take_turns(fleet: Fleet) -> None:
    """Who has a hundred jobs waiting gets no more of the workers than who has three."""
    queue = fleet.machine("worker")
    fleet.machine("a", account="ann").enqueue(*(NewJob(f"ann{n}", "flush", priority=n % 3) for n in range(100)))
    fleet.machine("b", account="bob").enqueue(*(NewJob(f"bob{n}", "flush") for n in range(3)))
    fleet.machine("c", account="cho").enqueue(*(NewJob(f"cho{n}", "flush") for n in range(3)))
    served = [claimed(queue).job.account for _ in range(12)]
    assert served == ["ann", "bob", "cho"] * 3 + ["ann"] * 3


def test_jobs_that_come_with_an_outcome_are_the_accounts_and_hosts_of_the_job_that_ran(fleet: Fleet) -> None:
    """A worker that serves many enqueues for whom it works."""
    worker = fleet.machine("worker", account="nobody")
    fleet.machine("edge", account="ann").enqueue(NewJob("a", "flush"))
    worker.finish(claimed(worker), Snooze(60, "sent", enqueue=[NewJob("poll", "poll")]))
    worker.enqueue(NewJob("named", "flush", account="bob"))
    accounts = {job.id: (job.account, job.host) for job in worker.jobs()}
    assert accounts == {"a": ("ann", "edge"), "poll": ("ann", "edge"), "named": ("bob", "worker")}


def listed(jobs: Sequence[object]) -> set[str]:
    return {job.id for job in jobs}  # type: ignore[attr-defined]


def test_dead_letters_are_for_all_to_see(fleet: Fleet) -> None:
    """Every machine lists those of all or of one, and may try one again."""
    one, two = fleet.machine("one"), fleet.machine("two")
    one.enqueue(NewJob("a", "flush"))
    two.enqueue(NewJob("b", "flush"))
    for _ in range(2):
        one.finish(claimed(one), GiveUp("422"))
    assert listed(two.jobs(state=JobState.DEAD)) == {"a", "b"}
    assert listed(two.jobs(state=JobState.DEAD, host="one")) == {"a"}
    assert [job.host for job in one.jobs(host="two")] == ["two"]
    assert two.retry("a")
    assert job_of(two) == "a"


def test_the_databases_clock_that_was_set_moves_every_wait_once(fleet: Fleet) -> None:
    """Each machine notices, one moves the times along; a sleep or a wrong clock of a machine's own moves nothing."""
    one, two = fleet.machine("one"), fleet.machine("two")
    one.enqueue(NewJob("a", "flush", delay=100), NewJob("b", "flush", destination="api"))
    cool(one, claimed(one), 200)
    fleet.hands.wall_now -= 86_400
    one.shift_clock(0.0)
    two.shift_clock(0.0)
    assert one.seconds_to_next() == pytest.approx(100)
    fleet.hands.sleep(50)
    two.shift_clock(50.0)
    two.shift_clock(-3000.0)
    assert one.seconds_to_next() == pytest.approx(50)
    fleet.hands.wall_now += 7200
    two.shift_clock(0.0)
    one.shift_clock(0.0)
    assert one.seconds_to_next() == pytest.approx(50)
    (cooling,) = one.destinations()
    assert cooling.until is not None
    assert 150 <= cooling.until - fleet.hands.wall_now <= 150 + 200 * COOLDOWN_SPREAD


def test_a_machine_that_stands_still_takes_nothing_from_others(fleet: Fleet) -> None:
    """Neither by a claim nor with the end of a run; what it would have taken is another's at once."""
    paused, other = fleet.machine("one"), fleet.machine("two")
    paused.enqueue(*(NewJob(each, "work") for each in "abc"))
    under_way = paused.claim()
    assert under_way is not None
    paused.may_claim = lambda: False
    assert paused.claim() is None
    assert paused.finish_and_claim(under_way, Done())[1] is None
    assert other.claim() is not None
    paused.may_claim = lambda: True
    assert paused.claim() is not None
