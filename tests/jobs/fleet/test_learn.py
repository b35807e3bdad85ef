"""An edge learns of every end, soon, and of what became of a dead letter that somebody had tried again."""

from collections.abc import Iterator

import pytest

from jobs.fleet import learn
from jobs.fleet.learn import GIVEN_UP_SECONDS, IDLE_SECONDS, LEARN, LONGEST_SECONDS, packets_dead
from jobs.job import Job, JobState
from jobs.outcomes import Done
from jobs.queue.claims import Claim
from memsyncd.evidence.event import PacketStatus
from tests.fakes.scripted_platform import Add
from tests.jobs.fleet.sharing import Sharing, sharing

SESSIONS = 7


@pytest.fixture
def fleet() -> Iterator[Sharing]:
    with sharing() as made:
        yield made


def put_in(fleet: Sharing, sessions: int) -> None:
    """Have an edge put in one packet of each of so many sessions, one after the other."""
    for number in range(sessions):
        fleet.edge.exchange(session=f"s{number}")
        fleet.edge.ask(f"s{number}")
        fleet.edge.run()


def statuses(fleet: Sharing) -> list[str]:
    return [fleet.edge.packet(number).status for number in range(SESSIONS)]


def end_last(fleet: Sharing) -> list[Claim]:
    """Have the newest batch delivered, and return the claims of all the others, which are at work still."""
    claims = [fleet.claim() for _ in range(SESSIONS)]
    fleet.shared.finish(claims.pop(), Done("delivered", payload={"memories": 1}))
    fleet.edge.hands.move(LONGEST_SECONDS)
    return claims


def test_one_question_tells_of_all_that_is_out(fleet: Sharing) -> None:
    put_in(fleet, SESSIONS)
    fleet.edge.queue.wake(LEARN)
    fleet.shared.asked = 0
    assert fleet.edge.step() == LEARN
    assert fleet.shared.asked == 1


def test_an_end_is_learned_though_many_older_packets_have_none(fleet: Sharing) -> None:
    put_in(fleet, SESSIONS)
    end_last(fleet)
    fleet.edge.run()
    assert statuses(fleet) == [*[PacketStatus.SHARED] * (SESSIONS - 1), PacketStatus.SUCCEEDED]


def test_with_more_out_than_one_look_comes_to_the_next_goes_on_behind_them(
    fleet: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look is bounded, none waits longer for it, and then it begins with the oldest again."""
    monkeypatch.setattr(learn, "AT_ONCE", 2)
    monkeypatch.setattr(learn, "QUESTIONS", 1)
    put_in(fleet, SESSIONS)
    claims = end_last(fleet)
    fleet.shared.asked = 0
    fleet.edge.queue.wake(LEARN)
    fleet.edge.run(3 * learn.LEARN_SECONDS + 1.0)
    assert fleet.edge.packet(SESSIONS - 1).status == PacketStatus.SUCCEEDED
    assert fleet.shared.asked == 4
    fleet.shared.unclaim(*claims)
    fleet.work(120.0)
    assert set(statuses(fleet)) == {PacketStatus.SUCCEEDED}


def dead(fleet: Sharing) -> Job:
    """Have a batch refused until it is a dead letter that its edge knows of."""
    fleet.platform.adds.extend([Add.REJECT] * 5)
    put_in(fleet, 1)
    fleet.work(30_000.0)
    assert fleet.edge.packet().status == PacketStatus.GAVE_UP
    (job,) = fleet.shared.jobs(state=JobState.DEAD)
    return job


def test_a_dead_letter_that_was_tried_again_elsewhere_is_learned_of(fleet: Sharing) -> None:
    """Whoever looks after the fleet had it tried again; the edge says what became of it."""
    job = dead(fleet)
    assert fleet.shared.retry(job.id)
    fleet.work(GIVEN_UP_SECONDS + 60.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert [end.status for _, end in fleet.ends] == [PacketStatus.GAVE_UP, PacketStatus.SUCCEEDED]
    assert len(fleet.platform.committed) == 1


def test_one_that_is_tried_again_in_vain_is_given_up_again(fleet: Sharing) -> None:
    job = dead(fleet)
    fleet.platform.adds.extend([Add.REJECT] * 5)
    assert fleet.shared.retry(job.id)
    fleet.work(30_000.0)
    assert fleet.edge.packet().status == PacketStatus.GAVE_UP


def test_one_that_was_discarded_stays_given_up(fleet: Sharing) -> None:
    job = dead(fleet)
    assert fleet.shared.discard(job.id)
    fleet.work(GIVEN_UP_SECONDS + 60.0)
    assert fleet.edge.packet().status == PacketStatus.GAVE_UP


def test_dead_letters_of_its_own_are_counted_until_somebody_sees_to_them(fleet: Sharing) -> None:
    """Those of others are not, nor what was given up and is there no more."""
    assert packets_dead(fleet.learner) == 0
    fleet.shared.asked = 0
    assert packets_dead(fleet.learner) == 0
    assert fleet.shared.asked == 0  # nothing was given up: nothing to ask for
    job = dead(fleet)
    assert packets_dead(fleet.learner) == 1
    assert fleet.shared.discard(job.id)
    assert packets_dead(fleet.learner) == 0
    assert fleet.edge.packet().status == PacketStatus.GAVE_UP


def test_what_was_given_up_is_looked_at_seldom_and_what_is_gone_no_more(fleet: Sharing) -> None:
    job = dead(fleet)
    fleet.work(GIVEN_UP_SECONDS)
    fleet.shared.asked = 0
    fleet.work(4 * GIVEN_UP_SECONDS)
    assert 3 <= fleet.shared.asked <= 5
    fleet.shared.erase(job.lane)
    fleet.work(2 * GIVEN_UP_SECONDS)
    fleet.shared.asked = 0
    fleet.work(IDLE_SECONDS)
    assert fleet.shared.asked <= 1


def test_what_lies_in_another_queue_is_neither_lost_nor_over(fleet: Sharing) -> None:
    """`queue.url` names another one now: nothing is put in twice, nothing taken for delivered, however long it is so; with
    the first one again its end is learned."""
    put_in(fleet, 1)
    fleet.edge.run(LONGEST_SECONDS)
    first, first_identity = fleet.shared, fleet.shared.identity
    fleet.shared = fleet.opened("other.sqlite3")
    fleet.shared.identity = "two"
    fleet.edge.queue.wake(LEARN)
    fleet.edge.run(3 * 86_400.0)
    assert fleet.edge.packet().status == PacketStatus.SHARED
    assert fleet.jobs() == []
    fleet.shared.close()
    fleet.shared = first
    assert fleet.shared.identity == first_identity
    fleet.edge.queue.wake(LEARN)
    fleet.work(60.0)
    assert fleet.edge.packet().status == PacketStatus.SUCCEEDED
    assert len(fleet.platform.committed) == 1
