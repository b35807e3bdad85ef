"""What one operation does when the server refuses it."""

import psycopg
import pytest

from jobs.job import NewJob
from jobs.outcomes import Done, Snooze
from jobs.queue.errors import QueueUnavailable
from jobs.queue.postgres import names
from jobs.queue.postgres.transaction import Transaction
from tests.jobs.queue.fleet import Fleet


def refusing(transaction: Transaction, state: str) -> None:
    """Have the server refuse with that SQLSTATE."""
    transaction.send(f"DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$")


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_conflict_is_tried_again_at_once(fleet: Fleet, state: str) -> None:
    """A deadlock or a failed serialization undid all of it: it is begun anew, and nobody hears of it."""
    queue, tries = fleet.machine(), iter(range(10))

    def act(transaction: Transaction) -> int:
        number = next(tries)
        transaction.counted["acts"] += 1
        if number < 2:
            refusing(transaction, state)
        return number

    assert queue._writer.run(act) == 2
    assert fleet.counters.snapshot()["acts"] == 1


def test_a_conflict_without_end_is_told(fleet: Fleet) -> None:
    """After a few tries the caller decides when to come again."""
    queue, tries = fleet.machine(), []

    def act(transaction: Transaction) -> None:
        tries.append(1)
        refusing(transaction, "40001")

    with pytest.raises(QueueUnavailable, match=r"refused \(40001\)"):
        queue._writer.run(act)
    assert len(tries) == 4


@pytest.mark.parametrize("state", ["53100", "55P03", "57014", "XX000"])
def test_a_server_that_will_not_is_told_at_once(fleet: Fleet, state: str) -> None:
    """Disk full, locked for too long, cancelled, damaged: nothing happened, and the connection is as good as before."""
    queue = fleet.machine()
    with pytest.raises(QueueUnavailable, match=state):
        queue._writer.run(lambda transaction: refusing(transaction, state))
    assert queue.enqueue(NewJob("a", "flush")) == 1


def test_a_fault_of_ours_is_raised_as_it_is(fleet: Fleet) -> None:
    """A statement that is wrong is no outage."""
    queue = fleet.machine()
    with pytest.raises(psycopg.errors.SyntaxError):
        queue._writer.run(lambda transaction: transaction.send("SELEC"))
    with pytest.raises(psycopg.errors.SyntaxError):
        queue._reader.rows("SELEC")
    assert queue.enqueue(NewJob("a", "flush")) == 1


def test_an_end_stands_though_no_next_job_can_be_taken(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finish was committed; that the claim after it failed is met again by the next claim."""
    queue = fleet.machine()
    queue.enqueue(NewJob("a", "flush"), NewJob("b", "flush", delay=5))
    claim = queue.claim()
    assert claim is not None
    fleet.hands.move(5)  # b is due, so it cannot be taken in the same commit

    def gone() -> None:
        raise QueueUnavailable("the server is gone")

    monkeypatch.setattr(queue._working, "claim", gone)
    job, following = queue.finish_and_claim(claim, Done())
    assert job is not None
    assert following is None
    assert queue.renew() == 0


def test_an_end_tells_the_payload_that_was_kept(fleet: Fleet) -> None:
    """The payload does not travel with an end; the job is told all the same as it stands."""
    queue = fleet.machine()
    queue.enqueue(NewJob("a", "flush", {"n": 1}))
    claim = queue.claim()
    assert claim is not None
    assert queue.keep(claim, {"n": 2})
    job = queue.finish(claim, Snooze(1, "later"))
    assert job is not None
    assert job.payload == {"n": 2}
    assert job == queue.get("a")


def test_an_id_that_only_looks_like_a_key_is_an_id() -> None:
    """What is no hexadecimal is hashed as any other."""
    odd = "#" + "z" * 32
    assert names.key(odd, b"") != names.key("#" + "0" * 32, b"") == bytes(16)
    assert len(names.key(odd, b"")) == names.DIGEST_BYTES
