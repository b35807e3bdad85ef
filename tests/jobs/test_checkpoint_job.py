"""The checkpoint job: which evidence it puts into packets, what it waits for, and how it ends (facts 2.3, 2.27 to 2.29)."""

from collections.abc import Iterator

import pytest

from jobs.delivery import MAX_ATTEMPTS, checkpoint_job
from jobs.flush import flush
from jobs.job import JobState
from jobs.outcomes import Retry
from jobs.recovery import retry_by_person
from memsyncd.evidence.event import PacketStatus
from memsyncd.hooks.record import UNKNOWN_SESSION
from memsyncd.platforms.platform import ExtractionState
from tests.fakes.scripted_platform import Add
from tests.jobs.delivering import Delivering, fresh


@pytest.fixture
def delivering() -> Iterator[Delivering]:
    with fresh() as made:
        yield made


@pytest.mark.parametrize("reason", ["session-end", "pre-compact", "idle", "manual", "checkpoint"])
def test_a_forced_reason_takes_everything(delivering: Delivering, reason: str) -> None:
    """Also an unanswered prompt at the end (facts 3.7)."""
    delivering.exchange(1)
    delivering.say("user_prompt", prompt="and then?")
    job = delivering.ask(reason=reason)
    delivering.run(60.0)
    assert delivering.job(job).state is JobState.DONE
    assert delivering.platform.delivered() == ["question 1", "answer 1", "and then?"]


def test_a_periodic_one_takes_a_block_that_is_due_and_leaves_the_rest(delivering: Delivering) -> None:
    """Seven exchanges: a packet of five, the other two wait for a threshold or an end (facts 3.5, 2.27)."""
    for number in range(1, 8):
        delivering.exchange(number)
    delivering.ask(reason="periodic")
    delivering.run(60.0)
    assert len(delivering.platform.delivered()) == 10
    assert delivering.evidence.counts()["unflushed"] == 4


def test_a_periodic_one_below_its_thresholds_does_nothing(delivering: Delivering) -> None:
    """Four exchanges are not due (facts 3.4)."""
    for number in range(1, 5):
        delivering.exchange(number)
    job = delivering.ask(reason="periodic")
    delivering.run(60.0)
    assert delivering.packets() == []
    assert "nothing" in delivering.job(job).reason


def test_an_end_sends_block_after_block(delivering: Delivering) -> None:
    """Twelve exchanges leave in three packets, one after the other, by one request (facts 2.27, 3.7)."""
    for number in range(1, 13):
        delivering.exchange(number)
    job = delivering.ask()
    delivering.run(200.0)
    assert [packet.event_end - packet.event_start + 1 for packet in delivering.packets()] == [10, 10, 4]
    assert delivering.platform.delivered() == [text for n in range(1, 13) for text in (f"question {n}", f"answer {n}")]
    assert len(delivering.job(job).payload["packets"]) == 3


def test_evidence_of_a_resumed_session_is_not_swallowed(delivering: Delivering) -> None:
    """What begins with a session start after the request belongs to the next run of the session (facts 2.28)."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange(1)
    delivering.ask(until=2)
    delivering.run(5.0)
    delivering.say("session_start")
    delivering.exchange(2)
    delivering.platform.end()
    delivering.run(60.0)
    assert delivering.platform.delivered() == ["question 1", "answer 1"]
    assert delivering.evidence.counts()["unflushed"] == 3


def test_a_resumption_before_the_request_is_part_of_it(delivering: Delivering) -> None:
    """With `until` everything recorded up to the request goes, also past a session start in between."""
    for number in range(1, 6):
        delivering.exchange(number)
    delivering.say("session_start")
    delivering.exchange(6)
    last = delivering.evidence.last_event("s")
    assert last is not None
    delivering.ask(until=last.id)
    delivering.run(120.0)
    assert len(delivering.platform.delivered()) == 12
    assert delivering.evidence.counts()["unflushed"] == 0


def test_a_request_during_a_flight_waits_and_continues(delivering: Delivering) -> None:
    """A compaction's packet under way, one more answer, a session end: two packets, nothing left (facts 2.29)."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange(1)
    delivering.ask(reason="pre-compact")
    delivering.run(5.0)
    delivering.exchange(2)
    end = delivering.ask()
    delivering.run(5.0)
    assert len(delivering.packets()) == 1
    delivering.platform.end()
    delivering.run(60.0)
    assert [packet.status for packet in delivering.packets()] == [PacketStatus.SUCCEEDED] * 2
    assert delivering.job(end).state is JobState.DONE


def test_an_end_promotes_an_open_periodic_packet(delivering: Delivering) -> None:
    """A packet that timed out is resumed with its id, and the new request sees it through (facts 2.4, 2.8)."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    for number in range(1, 6):
        delivering.exchange(number)
    delivering.ask(reason="periodic")
    delivering.run(122.0)
    assert delivering.packet().status == PacketStatus.TIMEOUT
    delivering.exchange(6)
    delivering.ask()
    delivering.platform.end()
    delivering.run(120.0)
    assert delivering.platform.count("add") == 2
    assert len(delivering.platform.delivered()) == 12


@pytest.mark.parametrize("session", ["", UNKNOWN_SESSION])
def test_without_a_session_id_nothing_is_sent(delivering: Delivering, session: str) -> None:
    """The placeholder's evidence is never uploaded; the request ends with its reason (facts 2.14)."""
    delivering.exchange(1, UNKNOWN_SESSION)
    job = delivering.ask(session)
    delivering.run(10.0)
    assert delivering.job(job).state is JobState.DEAD
    assert "no-session-id" in delivering.job(job).reason
    assert delivering.platform.calls == []


def test_a_wildcard_user_reserves_nothing(delivering: Delivering) -> None:
    """The refusal comes before the reservation, so no packet is trapped (facts 2.15, 2.16)."""
    delivering.user = "*"
    delivering.exchange(1)
    job = delivering.ask()
    delivering.run(10.0)
    assert "wildcard-scope" in delivering.job(job).reason
    assert delivering.packets() == []
    delivering.user = "ada"
    delivering.ask()
    delivering.run(10.0)
    assert delivering.platform.delivered() == ["question 1", "answer 1"]


def test_an_unserved_spool_is_waited_for(delivering: Delivering) -> None:
    """A spool on a disk that is not mounted costs its jobs no attempt."""
    job = checkpoint_job("elsewhere", "s", key="k", reason="manual")
    delivering.queue.enqueue(job)
    delivering.run(200.0)
    assert delivering.job(job.id).state is JobState.WAITING
    assert delivering.job(job.id).attempts == 0


def given_up(delivering: Delivering) -> str:
    delivering.platform.adds.extend([Add.REJECT] * MAX_ATTEMPTS)
    delivering.exchange(1)
    job = delivering.ask()
    delivering.run(3_600.0)
    assert delivering.job(job).state is JobState.DEAD
    return job


@pytest.mark.parametrize("order", ["checkpoint", "flush", "checkpoint first", "flush first"])
def test_a_person_retries_in_any_order(delivering: Delivering, order: str) -> None:
    """Retrying the request takes its packets along; retrying both, whichever first, delivers once."""
    job = given_up(delivering)
    packet = delivering.flush_of(delivering.packet()).id
    both = [packet, job] if order.startswith("flush") else [job, packet]
    for name in both if "first" in order else both[:1]:
        retry_by_person(delivering.queue, name)
    delivering.run(60.0)
    assert delivering.platform.delivered() == ["question 1", "answer 1"]
    assert delivering.packet().status == PacketStatus.SUCCEEDED
    if order == "flush":
        retry_by_person(delivering.queue, job)
        delivering.run(10.0)
    assert delivering.job(job).state is JobState.DONE
    assert delivering.platform.count("add") == MAX_ATTEMPTS + 1


def test_a_retry_that_fails_again_is_given_up_again(delivering: Delivering) -> None:
    """Five tries more, and the request ends as a dead letter a second time."""
    job = given_up(delivering)
    delivering.platform.adds.extend([Add.REJECT] * MAX_ATTEMPTS)
    retry_by_person(delivering.queue, job)
    delivering.run(7_200.0)
    assert delivering.job(job).state is JobState.DEAD
    assert delivering.platform.count("add") == 2 * MAX_ATTEMPTS


def test_a_flush_that_always_breaks_does_not_hold_up_what_is_newer(delivering: Delivering) -> None:
    """A fault of ours, or a crash of the worker each time, gives the packet up as five refusals do (facts 2.11)."""
    delivering.exchange(1)
    poisoned = delivering.ask()

    def broken(context: object, delivery: object) -> Retry:
        return Retry("KeyError: 'a fault of ours'")

    delivering.handlers = {**delivering.handlers, "flush": broken}
    delivering.run(4_000.0)
    delivering.handlers = {**delivering.handlers, "flush": flush}
    assert delivering.job(poisoned).state is JobState.DEAD
    assert delivering.packet().status == PacketStatus.GAVE_UP
    delivering.exchange(2)
    delivering.ask()
    delivering.run(60.0)
    assert delivering.platform.delivered() == ["question 2", "answer 2"]


def test_what_a_person_discarded_is_not_sent_after_all(delivering: Delivering) -> None:
    """A discarded packet stays discarded when the session is flushed again."""
    given_up(delivering)
    assert delivering.queue.discard(delivering.flush_of(delivering.packet()).id)
    delivering.exchange(2)
    delivering.ask()
    delivering.run(60.0)
    assert delivering.platform.delivered() == ["question 2", "answer 2"]


def test_the_last_delivery_ends_the_checkpoint_without_another_run(delivering: Delivering) -> None:
    """One packet, nothing left after it: the flush's end is the checkpoint's too."""
    delivering.exchange(1)
    job = delivering.ask()
    delivering.run(60.0)
    assert delivering.job(job).state is JobState.DONE
    assert delivering.job(job).reason == delivering.flush_of(delivering.packet()).reason
    assert [ran for ran, _ in delivering.runs].count(job) == 1


def test_what_came_during_the_flight_keeps_the_checkpoint_going(delivering: Delivering) -> None:
    """Evidence recorded while its packet was under way is looked at by the checkpoint itself."""
    delivering.exchange(1)
    job = delivering.ask()
    delivering.run(0.5)
    delivering.exchange(2)
    delivering.run(60.0)
    assert delivering.job(job).state is JobState.DONE
    assert [ran for ran, _ in delivering.runs].count(job) > 1
