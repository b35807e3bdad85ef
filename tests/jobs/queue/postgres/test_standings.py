"""How many jobs stand, in one question that brings no texts."""

from jobs.job import JobState, NewJob
from jobs.outcomes import Done, GiveUp
from jobs.queue.postgres.queue import PostgresQueue
from jobs.queue.shared_queue import Standing
from tests.jobs.queue.fleet import Fleet
from tests.jobs.queue.postgres.test_sealing import Reversed


def end(queue: PostgresQueue, outcome: Done | GiveUp) -> None:
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, outcome)


def test_of_each_that_is_there_it_is_told_how_it_stands(fleet: Fleet) -> None:
    """What was done tells what it left; of the others nothing is read that may be large."""
    queue = fleet.machine()
    queue.enqueue(*(NewJob(name, "flush", {"text": "long"}) for name in ("a", "b", "c")))
    end(queue, Done("delivered", payload={"memories": 3}))
    end(queue, GiveUp("refused"))
    assert queue.standings(["a", "b", "c", "none"]) == {
        "a": Standing(JobState.DONE, "delivered", {"memories": 3}),
        "b": Standing(JobState.DEAD, "refused", {}),
        "c": Standing(JobState.READY, "", {}),
    }
    assert queue.standings([]) == {}


def test_what_it_left_is_not_told_to_whom_has_no_key(fleet: Fleet) -> None:
    """That it is done is."""
    queue = fleet.machine(sealing=Reversed(b"one:"))
    queue.enqueue(NewJob("a", "flush", {"text": "long"}))
    end(queue, Done("delivered", payload={"memories": 3}))
    other = fleet.machine("two", sealing=Reversed(b"two:"))
    assert other.standings(["a"]) == {"a": Standing(JobState.DONE, "delivered", {})}
