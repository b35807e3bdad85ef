"""The flush job against real evidence, a real queue and a scripted platform (facts 2.9 to 2.26)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from jobs.delivery import MAX_ATTEMPTS, arrived, made_by_arrived
from jobs.flush import EXTRACTION_OPEN, HELD_SECONDS
from jobs.job import JobState
from jobs.outcomes import Cool
from memsyncd.evidence.event import PacketStatus
from memsyncd.platforms.platform import ExtractionState, NoAnswer, Rejected
from tests.fakes.scripted_platform import Add
from tests.jobs.delivering import Delivering, fresh

LONG = "x" * 50_000
"""One fits into a batch, two do not (facts 4.2)."""


@pytest.fixture
def delivering() -> Iterator[Delivering]:
    with fresh() as made:
        yield made


def two_batches(d: Delivering) -> str:
    d.say("user_prompt", prompt=f"first {LONG}")
    d.say("assistant_stop", text=f"second {LONG}")
    return d.ask()


def test_all_batches_are_posted_before_any_is_waited_for(delivering: Delivering) -> None:
    """Two batches: post, post, and only then questions (facts 2.18)."""
    delivering.platform.fates.extend([ExtractionState.RUNNING] * 2)
    two_batches(delivering)
    delivering.run(2.0)
    assert [name for name, _ in delivering.platform.calls[:2]] == ["add", "add"]
    assert delivering.platform.count("add") == 2
    assert delivering.packet().slots == ("evt-1", "evt-2")
    assert delivering.packet().status == PacketStatus.QUEUED
    delivering.platform.end()
    delivering.run(60.0)
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_each_slot_is_saved_as_its_answer_comes(delivering: Delivering) -> None:
    """Trouble at the second post loses nothing of the first (facts 2.19)."""
    delivering.platform.adds.extend([Add.ACCEPT, Add.BUSY_429])
    two_batches(delivering)
    delivering.run(1.0)
    assert delivering.packet().slots == ("evt-1", "")
    assert delivering.packet().attempts == 0
    delivering.run(60.0)
    assert [number for name, number in delivering.platform.calls if name == "add"] == [0, 1, 1]
    assert delivering.packet().status == PacketStatus.SUCCEEDED


@pytest.mark.parametrize("state", [ExtractionState.FAILED, ExtractionState.MISSING])
def test_a_failed_extraction_clears_its_own_slot_alone(delivering: Delivering, state: ExtractionState) -> None:
    """Only that batch is posted again (facts 2.21)."""
    delivering.platform.fates.extend([state, ExtractionState.SUCCEEDED])
    job = two_batches(delivering)
    delivering.run(3.0)
    assert delivering.packet().slots == ("", "evt-2")
    assert delivering.packet().attempts == 1
    assert delivering.packet().status == f"semantic-{state.lower()}"
    delivering.run(60.0)
    assert [number for name, number in delivering.platform.calls if name == "add"] == [0, 1, 0]
    assert delivering.packet().status == PacketStatus.SUCCEEDED
    assert delivering.packet().attempts == 1
    assert delivering.job(job).state is JobState.DONE


def test_a_failed_extraction_that_repeats_the_prompt_is_told_without_it(delivering: Delivering) -> None:
    """The reason and the errors of a job hold nobody's words (CONTRACT: Status socket)."""
    delivering.platform.fates.append(ExtractionState.FAILED)
    delivering.platform.why = lambda batch: f"the model choked on: {batch.messages[0].content}"
    delivering.exchange()
    job = delivering.ask()
    delivering.run(3.0)
    told = (delivering.packet().error, *delivering.job(job).errors, delivering.job(job).reason)
    assert any("the model choked on: [what was sent]" in str(text) for text in told)
    sent = delivering.platform.committed[0].batch.messages[0].content
    assert not any(sent in str(text) for text in told)


def test_several_failed_batches_cost_one_attempt(delivering: Delivering) -> None:
    """Both batches of a packet fail at once: both are posted again, and one attempt is used, not two."""
    delivering.platform.fates.extend([ExtractionState.FAILED, ExtractionState.FAILED])
    two_batches(delivering)
    delivering.run(90.0)
    assert [number for name, number in delivering.platform.calls if name == "add"] == [0, 1, 0, 1]
    assert (delivering.packet().status, delivering.packet().attempts) == (PacketStatus.SUCCEEDED, 1)


def test_a_dropped_event_of_a_batch_that_arrived_is_not_posted_again(delivering: Delivering) -> None:
    """The platform forgets an ended event: the batch is looked for by its metadata first, and found."""
    delivering.platform.fates.extend([ExtractionState.RUNNING])
    delivering.exchange()
    delivering.ask()
    delivering.run(2.0)
    [entry] = delivering.platform.committed
    entry.has_event, entry.state = False, ExtractionState.SUCCEEDED
    delivering.run(120.0)
    assert delivering.platform.count("add") == 1
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_running_out_of_time_keeps_every_slot_and_only_asks_again(delivering: Delivering) -> None:
    """Two that take too long: no second post, the wait begins anew (facts 2.22)."""
    delivering.platform.fates.extend([ExtractionState.RUNNING] * 2)
    two_batches(delivering)
    delivering.run(121.0)
    assert delivering.packet().status == PacketStatus.TIMEOUT
    assert delivering.packet().slots == ("evt-1", "evt-2")
    assert delivering.packet().attempts == 1
    delivering.run(30.0)
    delivering.platform.end()
    delivering.run(60.0)
    assert delivering.platform.count("add") == 2
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_after_five_attempts_it_gives_up_and_newer_evidence_flows(delivering: Delivering) -> None:
    """The sixth try is never made, the packet's events stay its own, and what came later is delivered (2.9 to 2.11)."""
    delivering.platform.adds.extend([Add.REJECT] * MAX_ATTEMPTS)
    delivering.exchange(1)
    first = delivering.ask()
    delivering.run(3_600.0)
    assert delivering.platform.count("add") == MAX_ATTEMPTS
    assert (delivering.packet().status, delivering.packet().attempts) == (PacketStatus.GAVE_UP, MAX_ATTEMPTS)
    assert delivering.flush_of(delivering.packet()).state is JobState.DEAD
    assert delivering.packet().packet_id in delivering.job(first).reason
    delivering.exchange(2)
    delivering.ask()
    delivering.run(60.0)
    assert delivering.platform.delivered() == ["question 2", "answer 2"]


def test_a_refusal_is_an_answer(delivering: Delivering) -> None:
    """The platform was tried and is there: its cooldown is over, whatever becomes of what it refused."""
    delivering.platform.adds.extend([Add.BUSY_429, Add.REJECT])
    delivering.exchange()
    delivering.ask()
    delivering.run(1.0)
    [busy] = [each for each in delivering.queue.destinations() if each.name == delivering.platform.destination]
    assert (busy.code, busy.last_success_at) == ("busy", None)
    while delivering.platform.count("add") < 2:
        delivering.run(1.0)
    [answering] = [each for each in delivering.queue.destinations() if each.name == delivering.platform.destination]
    assert (answering.until, answering.failures) == (None, 0)
    assert answering.last_success_at is not None
    assert delivering.packet().attempts == 1


def test_an_answer_without_an_event_is_a_missing_one_and_is_looked_for(delivering: Delivering) -> None:
    """It counts as an attempt, never as success, and the batch found on the platform is not sent twice (facts 2.23)."""
    delivering.platform.adds.append(Add.NO_ID)
    delivering.exchange()
    delivering.ask()
    delivering.run(1.0)
    assert (delivering.packet().status, delivering.packet().attempts) == (PacketStatus.MISSING, 1)
    delivering.run(60.0)
    assert delivering.platform.count("add") == 1
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_zero_messages_make_no_request(delivering: Delivering) -> None:
    """Evidence without dialogue closes its packet as succeeded (facts 2.17)."""
    delivering.say("session_start")
    job = delivering.ask()
    delivering.run(1.0)
    assert delivering.platform.count("add") == 0
    assert delivering.packet().status == PacketStatus.SUCCEEDED
    assert delivering.job(job).state is JobState.DONE


@pytest.mark.parametrize("failures", [4, 5, 6])
def test_a_wait_spent_with_the_destination_away_is_longer_by_that(delivering: Delivering, failures: int) -> None:
    """It was not the extraction that took so long, so no attempt is counted, whoever's probe it was that succeeded."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(2.0)
    delivering.platform.questions.extend([NoAnswer("away")] * failures)
    while delivering.platform.questions:
        delivering.run(1.0)
    delivering.run(110.0)
    assert delivering.packet().attempts == 0
    delivering.run(300.0)
    assert delivering.packet().attempts >= 1  # answered now, and still not done in its time
    assert delivering.platform.count("add") == 1


def test_a_wait_slept_through_begins_anew(delivering: Delivering) -> None:
    """The lid was closed, or no daemon ran: neither is the extraction's time (never-again 152)."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(30.0)
    delivering.hands.move(3_600.0)
    delivering.run(60.0)
    assert delivering.packet().attempts == 0
    delivering.close()
    delivering.hands.move(3_600.0)
    delivering.open()
    delivering.run(60.0)
    assert delivering.packet().attempts == 0
    delivering.run(100.0)
    assert delivering.packet().attempts == 1


@pytest.mark.parametrize(("slept", "moved"), [(8 * 3_600.0, 0.0), (0.0, 8 * 86_400.0), (0.0, -6 * 3_600.0)])
def test_a_sleep_and_a_clock_that_is_set_are_no_time_of_the_extraction(
    delivering: Delivering, slept: float, moved: float
) -> None:
    """Where waits stand still in a sleep, and whichever way the clock is set, as long is waited as without it, also
    where the flush looks before the queue was told (never-again 151, 152)."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(30.0)
    delivering.hands.sleep(slept)
    delivering.hands.wall_now += moved
    while delivering.step():
        pass
    assert delivering.packet().attempts == 0
    delivering.queue.shift_clock(moved)
    delivering.run(60.0)
    assert delivering.packet().attempts == 0
    delivering.run(60.0)
    assert delivering.packet().attempts == 1
    assert delivering.platform.count("add") == 1


def test_a_refused_question_at_the_end_of_the_wait_is_an_attempt(delivering: Delivering) -> None:
    """A platform that refuses to tell of an extraction until the end uses up the attempt, not the slot."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(2.0)
    delivering.platform.questions.extend([Rejected("refused (400)", status=400)] * 30)
    delivering.run(123.0)
    assert delivering.packet().attempts == 1
    assert delivering.packet().slots == ("evt-1",)


def test_a_held_scope_is_not_sent(delivering: Delivering) -> None:
    """A pause or an exclusion holds what is reserved already; it goes when it is over."""
    delivering.platform.adds.append(Add.BUSY_429)
    delivering.exchange()
    delivering.ask()
    delivering.run(0.0)
    delivering.held = "paused"
    delivering.run(200.0)
    assert delivering.platform.count("add") == 1
    assert delivering.flush_of(delivering.packet()).reason == "paused"
    delivering.held = None
    delivering.run(HELD_SECONDS + 5.0)
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_a_wildcard_sends_nothing_and_traps_nothing(delivering: Delivering) -> None:
    """A packet that was reserved before waits without a request and goes once the id is right (facts 2.15, 2.16)."""
    delivering.platform.adds.append(Add.BUSY_429)
    delivering.exchange()
    delivering.ask()
    delivering.run(0.0)
    delivering.user = " * "
    delivering.run(100.0)
    assert delivering.platform.count("add") == 1
    assert "wildcard-scope" in delivering.flush_of(delivering.packet()).reason
    delivering.user = "ada"
    delivering.run(HELD_SECONDS + 5.0)
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_a_locked_store_defers_and_uses_no_attempt(delivering: Delivering, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's lock on the file is waited out (never-again 43)."""
    monkeypatch.setattr("memsyncd.evidence.opening.BUSY_SECONDS", 0.01)
    delivering.restart()
    delivering.exchange()
    delivering.ask()
    with closing(sqlite3.connect(delivering.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        delivering.run(25.0)
        assert delivering.platform.count("add") == 0
        other.execute("ROLLBACK")
    delivering.run(60.0)
    assert delivering.packet().attempts == 0
    assert delivering.platform.delivered() == ["question 1", "answer 1"]


def test_a_full_store_sends_nothing_it_cannot_write_down(delivering: Delivering) -> None:
    """Without room for the intent nothing leaves; with room again all of it does (never-again 54)."""
    delivering.exchange()
    delivering.ask()
    delivering.step()
    delivering.step()  # poll or checkpoint: the packet is reserved
    with delivering.evidence._database.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        connection.execute("PRAGMA cache_size = 2")
    filler = "f" * 200_000

    def fill() -> None:
        with delivering.evidence._database.writing() as connection:
            connection.execute("CREATE TEMP TABLE IF NOT EXISTS t(a)")
            connection.execute("UPDATE events SET payload_json = payload_json || ?", (filler,))

    with pytest.raises(sqlite3.Error):
        fill()
    before = delivering.packet().attempts
    delivering.restart()
    delivering.run(60.0)
    assert delivering.packet().attempts == before == 0
    assert delivering.platform.delivered() == ["question 1", "answer 1"]


def test_a_verdict_that_comes_while_its_flush_still_runs_wakes_it(delivering: Delivering) -> None:
    """The wake-up that met the job awake is repeated; the verdict is not left until the wait is over."""
    delivering.exchange()
    delivering.ask()

    def answer_at_once(job: object) -> None:
        for entry in delivering.extractions.due() or [*delivering.extractions._open.values()]:
            woken = delivering.extractions.told(delivering.platform._told(entry.event_id))
            if woken:
                delivering.queue.wake(woken)

    delivering.before_finish = answer_at_once
    delivering.run(1.0)
    assert delivering.packet().status == PacketStatus.SUCCEEDED


def test_a_refused_key_parks_the_destination(delivering: Delivering) -> None:
    """The job waits for a person and keeps all its attempts."""
    delivering.platform.adds.append(Add.KEY)
    delivering.exchange()
    delivering.ask()
    delivering.run(0.0)
    assert any(isinstance(outcome, Cool) and outcome.parked for _, outcome in delivering.runs)
    assert delivering.packet().attempts == 0


def test_the_reason_of_a_waiting_flush_says_what_it_waits_for(delivering: Delivering) -> None:
    """Status and `flush --wait` tell an open extraction from trouble by the job's reason."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(5.0)
    assert delivering.flush_of(delivering.packet()).reason == EXTRACTION_OPEN


@pytest.mark.parametrize(("slot", "made"), [(arrived(3), 3), ("arrived", 0), ("arrived:x", 0), ("evt-1", None)])
def test_a_batch_that_was_over_with_its_answer_keeps_its_count(slot: str, made: int | None) -> None:
    """A platform without extraction events tells the memories at once; slots of before tell none."""
    assert made_by_arrived(slot) == made
