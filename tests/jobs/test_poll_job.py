"""The poll job: what it asks, how often, and whom it wakes."""

from collections.abc import Iterator

import pytest

from jobs.job import JobState, NewJob
from jobs.poll import IDLE_SECONDS, SINGLE_QUESTIONS, poll_job
from memsyncd.platforms.platform import Batch, Busy, Extraction, ExtractionState, NoAnswer, Rejected
from tests.fakes.scripted_platform import Committed
from tests.jobs.delivering import Delivering, fresh

OTHERS = Batch("", 0, (), "ada", "a", "", "s", {})


@pytest.fixture
def delivering() -> Iterator[Delivering]:
    with fresh() as made:
        yield made


def open_extractions(d: Delivering, count: int) -> None:
    for number in range(count):
        d.platform.committed.append(Committed(f"e{number}", OTHERS, ExtractionState.RUNNING))
        d.extractions.register(f"e{number}", f"job-{number}")


def test_with_nothing_open_it_sleeps_long(delivering: Delivering) -> None:
    """No question and no wake-up while there is nothing to ask."""
    delivering.run(IDLE_SECONDS - 1.0)
    assert delivering.platform.calls == []
    assert [name for name, _ in delivering.runs] == [poll_job("scripted").id]


def test_a_few_are_asked_one_by_one(delivering: Delivering) -> None:
    """Up to eight due events cost a question each and no listing."""
    open_extractions(delivering, SINGLE_QUESTIONS)
    delivering.run(1.1)
    assert delivering.platform.count("extraction") == SINGLE_QUESTIONS
    assert delivering.platform.count("extractions") == 0


def test_a_thousand_cost_one_pass_over_the_listing(delivering: Delivering) -> None:
    """One listing answers them all, and nobody is asked by itself."""
    open_extractions(delivering, 1_000)
    delivering.run(1.1)
    assert delivering.platform.count("extractions") == 1
    assert delivering.platform.count("extraction") == 0
    assert delivering.extractions.counts()[0] == 1_000


def test_what_the_listing_lacks_is_asked_by_itself(delivering: Delivering) -> None:
    """An event too old for the listing, or unknown to the platform, is told by a single question."""
    open_extractions(delivering, 12)
    delivering.platform.committed = delivering.platform.committed[2:]
    delivering.run(1.1)
    assert delivering.platform.count("extractions") == 1
    assert delivering.platform.count("extraction") == 2
    assert delivering.extractions.verdict("e0") is not None  # the platform knows nothing of it: missing
    assert delivering.extractions.counts()[0] == 10


def test_a_server_without_a_listing_is_asked_one_by_one(delivering: Delivering) -> None:
    """A refused listing is no failure; all are asked, a few a round."""
    delivering.platform.lists = False
    open_extractions(delivering, 30)
    delivering.run(1.5)
    assert delivering.platform.count("extraction") == 30
    assert all(entry.interval > 1.0 for entry in delivering.extractions._open.values())


def test_a_refused_question_leaves_the_extraction_open(delivering: Delivering) -> None:
    """It says nothing of the extraction, and the next question comes later (never-again 107)."""
    open_extractions(delivering, 1)
    delivering.platform.questions.append(Rejected("refused (400)", status=400))
    delivering.run(1.1)
    assert delivering.extractions.verdict("e0") is None
    assert delivering.extractions.counts()[0] == 1
    delivering.platform.end()
    delivering.run(2.0)
    verdict = delivering.extractions.verdict("e0")
    assert verdict is not None and verdict.state is ExtractionState.SUCCEEDED


def test_questions_become_rarer(delivering: Delivering) -> None:
    """Two minutes of waiting cost about a dozen questions, not a hundred and twenty."""
    open_extractions(delivering, 1)
    delivering.run(120.0)
    assert 8 <= delivering.platform.count("extraction") <= 13


def test_a_verdict_wakes_its_job(delivering: Delivering) -> None:
    """The sleeping flush goes on within moments of the question that brought its verdict."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    job = delivering.ask()
    delivering.run(10.0)
    delivering.platform.end()
    delivering.run(7.0)
    assert delivering.job(job).state is JobState.DONE


def test_a_failure_cools_the_destination_and_asks_again(delivering: Delivering) -> None:
    """No connection while asking: one probe at a time, nothing forgotten, no attempt used."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(0.5)
    delivering.platform.questions.extend([NoAnswer("away")] * 3)
    delivering.run(50.0)
    delivering.platform.end()
    delivering.run(60.0)
    assert delivering.platform.delivered() == ["question 1", "answer 1"]
    assert delivering.packet().attempts == 0


def test_an_extraction_opened_while_the_asker_still_runs_is_asked_in_time(delivering: Delivering) -> None:
    """The wake-up that met the asker awake is repeated; else the question would wait for an hour's sleep."""
    fired: list[object] = []

    def open_one(job: object) -> None:
        if not fired:
            fired.append(job)
            open_extractions(delivering, 1)

    delivering.before_finish = open_one
    delivering.run(2.0)
    assert delivering.platform.count("extraction") == 1


def test_extractions_are_asked_for_again_after_a_restart(delivering: Delivering) -> None:
    """What was open is in the packet's row: the new process asks, and posts nothing again."""
    delivering.platform.fates.append(ExtractionState.RUNNING)
    delivering.exchange()
    delivering.ask()
    delivering.run(5.0)
    delivering.restart()
    delivering.platform.end()
    delivering.run(5.0)
    assert delivering.platform.count("add") == 1
    assert delivering.live_jobs() == []


def test_one_event_that_alone_fails_delays_no_neighbour(delivering: Delivering) -> None:
    """A question that makes the platform fail goes behind the others, which are asked and confirmed meanwhile."""
    open_extractions(delivering, 3)
    for entry in delivering.platform.committed[1:]:
        entry.state = ExtractionState.SUCCEEDED

    healthy = delivering.platform.extraction

    def extraction(event_id: str) -> Extraction:
        if event_id == "e0":
            raise Busy("busy (500)", status=500)
        answer: Extraction = healthy(event_id)
        return answer

    delivering.platform.extraction = extraction
    delivering.run(70.0)
    assert delivering.extractions.verdict("e1") is not None
    assert delivering.extractions.verdict("e2") is not None
    assert delivering.extractions.counts()[0] == 1


def test_the_poll_job_is_one_for_a_destination() -> None:
    """However often it is asked for."""
    assert poll_job("mem0") == NewJob(id="poll:mem0", kind="poll", destination="mem0")
