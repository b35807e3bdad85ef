"""Everything at once from several machines: no deadlock, no error, and what is left is in order."""

import random
import threading
from collections.abc import Callable

from jobs.job import JobState, NewJob
from jobs.outcomes import Cool, Done, GiveUp, Outcome, Retry, Snooze
from jobs.queue.policy import Policy
from jobs.queue.postgres.queue import PostgresQueue
from tests.jobs.queue.fleet import Fleet

THREADS = 6
STEPS = 150
IDS = [f"j{n}" for n in range(60)]
LANES = ["", "s1", "s2", "s3", "s4", "s5"]
DESTINATIONS = ["", "api", "local"]

# A job that is a head and should not be, or the other way round: by the definition, without an index or a lane's lock.
_OUT_OF_PLACE = """
    SELECT count(*) FROM memsyncd_jobs AS j WHERE j.head <> (
        j.state = 'ready' AND (
            j.lane IS NULL OR (
                NOT EXISTS (SELECT FROM memsyncd_jobs AS c WHERE c.lane = j.lane AND c.state = 'claimed')
                AND NOT EXISTS (
                    SELECT FROM memsyncd_jobs AS b WHERE b.lane = j.lane AND b.state = 'ready'
                    AND b.destination = j.destination AND b.account = j.account
                    AND (b.priority, -b.seq) > (j.priority, -j.seq)
                )
            )
        )
    )
"""


def outcome(chance: random.Random) -> Outcome:
    """Return any outcome."""
    some = chance.sample(IDS, 3)
    return chance.choice(
        [
            Done(wake_lane=True, ends=some[0]),
            Done(),
            Snooze(chance.choice([0.0, 0.02, 60.0]), "not yet", wake=some),
            Snooze(0.01, "not yet", enqueue=[new(chance), new(chance)]),
            Retry("422", 0.01),
            Cool("api", "503", "busy", delay=0.01),
            Cool("local", "503", "busy", delay=0.01),
            GiveUp("413", wake_lane=True),
        ]
    )


def new(chance: random.Random) -> NewJob:
    """Return any job."""
    return NewJob(
        chance.choice(IDS),
        "flush",
        lane=chance.choice(LANES),
        destination=chance.choice(DESTINATIONS),
        priority=chance.randrange(-1, 2),
        delay=chance.choice([0.0, 0.0, 0.01]),
        account=chance.choice(["", "ann"]),
    )


def act(queue: PostgresQueue, chance: random.Random) -> None:
    """Do anything a machine does."""
    some = chance.sample(IDS, 4)
    others: list[Callable[[], object]] = [
        lambda: queue.enqueue(*(new(chance) for _ in range(4))),
        lambda: queue.wake(*some),
        lambda: queue.wake_lane(chance.choice(LANES)),
        lambda: queue.wake_kind("flush"),
        lambda: queue.release("api", account=chance.choice(["", "ann"])),
        lambda: queue.retry(some[0]),
        lambda: queue.reopen(some[0]),
        lambda: queue.cancel(some[0], "no"),
        lambda: queue.discard(some[0]),
        lambda: queue.hasten(some[0], 0.01),
        lambda: queue.erase(chance.choice(LANES)),
        lambda: queue.prune(finished_before=2e12, dead_before=2e12),
        queue.renew,
        lambda: queue.shift_clock(1.0),
    ]
    if chance.random() < 0.4:
        chance.choice(others)()
        return
    claim = queue.claim()
    while claim is not None and chance.random() < 0.9:
        if chance.random() < 0.1:
            queue.unclaim(claim)
            return
        _, claim = queue.finish_and_claim(claim, outcome(chance), answered=chance.random() < 0.5)
    if claim is not None:
        queue.finish(claim, outcome(chance))


def test_nothing_gets_into_disorder(fleet: Fleet) -> None:
    """Three machines' threads do all there is to do to a few jobs and lanes; the seats of all lanes are right at the
    end, every claim is given back, and the server has met no deadlock."""
    fleet.statement(
        "CREATE OR REPLACE FUNCTION memsyncd_now() RETURNS float8 LANGUAGE sql STABLE"
        " AS $$ SELECT extract(epoch FROM statement_timestamp())::float8 $$"
    )
    deadlocks = fleet.statement("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    machines = [fleet.machine(f"m{n}", policy=Policy(max_cooldown=0.05)) for n in range(3)]
    seed = random.randrange(1_000_000)
    errors: list[BaseException] = []

    def storm(number: int) -> None:
        chance = random.Random(seed + number)
        try:
            for _ in range(STEPS):
                act(machines[number % 3], chance)
        except BaseException as error:  # noqa: BLE001  (any is a failure of the test)
            errors.append(error)

    threads = [threading.Thread(target=storm, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [], seed
    assert fleet.statement(_OUT_OF_PLACE) == [(0,)], seed
    assert machines[0].jobs(state=JobState.CLAIMED) == [], seed
    fleet.statement("SELECT pg_stat_force_next_flush()")
    assert fleet.statement("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == deadlocks, (
        seed
    )
