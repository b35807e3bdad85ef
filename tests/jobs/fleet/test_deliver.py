"""A worker delivers a batch of the shared queue: once, whatever becomes of workers, answers and extractions."""

from collections.abc import Callable, Iterator

import pytest

from jobs.fleet.deliver import NEWER
from jobs.fleet.shared_batch import FORMAT, Progress, batch_of, payload
from jobs.job import JobState, NewJob
from jobs.outcomes import Cool
from memsyncd.platforms.platform import ExtractionState
from tests.fakes.scripted_platform import Add
from tests.jobs.fleet.sharing import Sharing, sharing


@pytest.fixture
def fleet() -> Iterator[Sharing]:
    """Give an edge that has put one batch in."""
    with sharing() as made:
        made.edge.exchange()
        made.edge.ask()
        made.edge.run()
        yield made


def committed(fleet: Sharing) -> int:
    return len(fleet.platform.committed)


def test_a_batch_comes_back_as_it_went_in(fleet: Sharing) -> None:
    (job,) = fleet.jobs()
    batch = batch_of(job.payload)
    assert (batch.user_id, batch.app_id, batch.run_id) == ("ada", "team-tool", "s")
    assert batch.metadata["memsyncd_packet"] == batch.packet_id
    fleet.work(30.0)
    assert fleet.platform.committed[0].batch == batch


@pytest.mark.parametrize(
    "unheard", [Add.COMMIT_UNHEARD, Add.COMMIT_502, Add.LOST, Add.BUSY_503, Add.BUSY_429, Add.OFFLINE, Add.NO_ID]
)
def test_it_is_on_the_platform_once_whatever_became_of_the_answer(fleet: Sharing, unheard: Add) -> None:
    """What may have arrived is looked for, what cannot have is sent again; no attempt is used but for a missing id."""
    fleet.platform.adds.append(unheard)
    fleet.work(3_000.0)
    assert committed(fleet) == 1
    (job,) = fleet.jobs()
    assert job.state is JobState.DONE
    assert job.attempts == (unheard is Add.NO_ID)


@pytest.mark.parametrize("moment", ["on_call", "on_commit"])
def test_a_worker_that_dies_in_the_request_is_followed_by_one_that_looks_first(fleet: Sharing, moment: str) -> None:
    """Before the platform has it, or after: the next worker finds that a request had left, and looks."""

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    setattr(fleet.platform, moment, dies)
    fleet.work_once(dies=KeyboardInterrupt)
    setattr(fleet.platform, moment, lambda *_: None)
    fleet.edge.hands.move(61.0)
    fleet.work(300.0)
    assert committed(fleet) == 1
    (job,) = fleet.jobs()
    assert job.state is JobState.DONE


def test_a_claim_that_was_lost_sends_nothing(fleet: Sharing) -> None:
    """A worker that stood still past its lease finds, before its request leaves, that another has the batch."""
    stalled = fleet.claim()
    fleet.shared.abandon(stalled)
    fleet.edge.hands.move(61.0)
    assert fleet.work_once()
    assert committed(fleet) == 1
    assert not fleet.shared.keep(stalled, dict(stalled.job.payload))


def test_an_extraction_is_asked_for_at_growing_intervals(fleet: Sharing) -> None:
    fleet.platform.fates.append(ExtractionState.RUNNING)
    fleet.work(60.0)
    assert 4 <= fleet.platform.count("extraction") <= 8
    fleet.platform.end()
    fleet.work(30.0)
    assert fleet.jobs()[0].state is JobState.DONE


@pytest.mark.parametrize("state", [ExtractionState.FAILED, ExtractionState.MISSING])
def test_an_extraction_that_failed_is_one_attempt(fleet: Sharing, state: ExtractionState) -> None:
    fleet.platform.fates.append(state)
    fleet.work(300.0)
    (job,) = fleet.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_an_extraction_that_repeats_the_prompt_is_told_without_it(fleet: Sharing) -> None:
    """The shared queue's rows are read on other machines too (CONTRACT: Status socket)."""
    fleet.platform.fates.append(ExtractionState.FAILED)
    fleet.platform.why = lambda batch: f"the model choked on: {batch.messages[0].content}"
    fleet.work(300.0)
    (job,) = fleet.jobs()
    assert "the model choked on: [what was sent]" in str(job.errors)
    assert fleet.platform.committed[0].batch.messages[0].content not in str(job.errors)


def test_an_extraction_that_takes_too_long_is_asked_for_again_and_never_posted_again(fleet: Sharing) -> None:
    fleet.platform.fates.append(ExtractionState.RUNNING)
    fleet.work(200.0)
    (job,) = fleet.jobs()
    assert job.attempts == 1
    fleet.platform.end()
    fleet.work(300.0)
    assert fleet.platform.count("add") == 1
    assert fleet.jobs()[0].state is JobState.DONE


def test_after_five_refusals_it_is_a_dead_letter_kept_whole(fleet: Sharing) -> None:
    fleet.platform.adds.extend([Add.REJECT] * 9)
    fleet.work(30_000.0)
    (job,) = fleet.jobs()
    assert (job.state, job.reason) == (JobState.DEAD, "refused (400)")
    assert batch_of(job.payload).messages
    assert fleet.platform.count("add") == 5
    [answering] = [each for each in fleet.shared.destinations() if each.name == fleet.platform.destination]
    assert answering.last_success_at is not None  # a refusal is an answer


def test_a_platform_that_slows_us_down_brakes_all_of_its_batches(fleet: Sharing) -> None:
    fleet.edge.exchange(session="t")
    fleet.edge.ask("t")
    fleet.edge.run()
    fleet.platform.adds.append(Add.BUSY_429)
    assert fleet.work_once()
    assert isinstance(fleet.runs[-1][1], Cool)
    assert fleet.work_once() == ""
    fleet.work(120.0)
    assert committed(fleet) == 2


@pytest.mark.parametrize(
    "prepare",
    [
        lambda fleet: setattr(fleet, "known_accounts", set()),
        lambda fleet: setattr(fleet, "held", "paused"),
    ],
)
def test_what_this_worker_cannot_deliver_is_left_to_others(fleet: Sharing, prepare: Callable[[Sharing], None]) -> None:
    prepare(fleet)
    assert fleet.work_once()
    (job,) = fleet.jobs()
    assert (job.state, job.attempts, committed(fleet)) == (JobState.WAITING, 0, 0)


def test_a_batch_for_another_platform_is_left_to_its_own_workers(fleet: Sharing) -> None:
    whole = payload(batch_of(fleet.jobs()[0].payload), Progress())
    fleet.work(30.0)
    fleet.shared.enqueue(NewJob("foreign", "deliver", payload=whole, destination="mem0 https://mem0.example"))
    assert fleet.work_once() == "foreign"
    job = fleet.shared.get("foreign")
    assert job is not None
    assert (job.state, committed(fleet)) == (JobState.WAITING, 1)


def test_a_payload_of_another_shape_is_a_dead_letter(fleet: Sharing) -> None:
    whole = payload(batch_of(fleet.jobs()[0].payload), Progress())
    odd_ones = ({}, {"batch": {"messages": 3}}, {"batch": 3}, whole | {"progress": [1]}, whole | {"format": "x"})
    for number, odd in enumerate(odd_ones):
        fleet.shared.enqueue(NewJob(f"odd-{number}", "deliver", payload=odd))
    fleet.work(30.0)
    states = {job.id: job.state for job in fleet.jobs() if job.id.startswith("odd")}
    assert set(states.values()) == {JobState.DEAD}
    assert len(states) == len(odd_ones)
    assert committed(fleet) == 1


def test_what_a_newer_version_added_is_passed_over_and_kept(fleet: Sharing) -> None:
    """At every depth; another worker, of the version that added it, may be the one to go on with it."""
    (job,) = fleet.jobs()
    whole = payload(batch_of(job.payload), Progress())
    messages = [message | {"spoken_at": "noon"} for message in whole["batch"]["messages"]]
    newer = {
        **whole,
        "urgent": True,
        "batch": whole["batch"] | {"messages": messages, "tone": "warm"},
        "progress": whole["progress"] | {"seen_by": "north"},
    }
    fleet.shared.cancel(job.id, "its place is taken")
    fleet.shared.enqueue(NewJob("newer", "deliver", payload=newer, destination=job.destination))
    fleet.platform.adds.append(Add.LOST)
    assert fleet.work_once() == "newer"
    kept = fleet.shared.get("newer")
    assert kept is not None
    assert kept.payload["progress"]["posted_at"]
    assert kept.payload["progress"]["seen_by"] == "north"
    assert (kept.payload["urgent"], kept.payload["batch"]) == (True, newer["batch"])
    fleet.work(300.0)
    assert committed(fleet) == 1
    assert fleet.jobs()[0].state is JobState.DONE


def test_a_batch_of_a_higher_format_is_left_whole_to_a_worker_that_knows_it(fleet: Sharing) -> None:
    """It costs no attempt, says what it waits for, and the worker tells of it."""
    whole = {"format": FORMAT + 1, "batch": "in another form"}
    fleet.work(30.0)
    fleet.shared.enqueue(NewJob("newer", "deliver", payload=whole))
    for _ in range(8):
        assert fleet.work_once() == "newer"
        fleet.edge.hands.move(31.0)
    job = fleet.shared.get("newer")
    assert job is not None
    assert (job.attempts, job.payload, job.reason) == (0, whole, NEWER.format(FORMAT + 1))
    assert fleet.newer == 8


@pytest.mark.parametrize("trouble", [Add.LOST, Add.COMMIT_UNHEARD, Add.REJECT, Add.NO_ID])
def test_no_batch_overtakes_an_earlier_one_of_its_session(trouble: Add) -> None:
    """While the earlier one is about to be looked for or tried again it waits, and the later ones with it; of another
    session everything goes on."""
    with sharing() as fleet:
        for turn in range(2):
            fleet.edge.exchange(turn)
            fleet.edge.ask()
            fleet.edge.run()
            fleet.edge.hands.move(1.0)
        fleet.edge.exchange(session="t")
        fleet.edge.ask("t")
        fleet.edge.run()
        fleet.platform.adds.append(trouble)
        fleet.work(600.0)
        assert all(job.state is JobState.DONE for job in fleet.jobs())
        said = [each.batch.messages[0].content for each in fleet.platform.committed if each.batch.run_id == "s"]
        assert said == ["question 0", "question 1"]
        assert len(fleet.platform.committed) == 3


def test_an_extraction_holds_up_no_later_batch(fleet: Sharing) -> None:
    """The platform has the earlier one: that is all the order asks for."""
    fleet.platform.fates.append(ExtractionState.RUNNING)
    fleet.edge.exchange(2)
    fleet.edge.ask()
    fleet.edge.run()
    fleet.work(10.0)
    assert committed(fleet) == 2
